import type { CriteriaLanguage, GroupPlan, Scope } from 'fhir-ops/evaluate'
import { patientConditions, type MeasureCounts, type SubjectFailure } from 'fhir-ops/internal/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import { AMOUNT, checkOptions, having, inputShape, NUMBER, type InputShape } from 'fhir-ops/internal/input'
import { populationRecords, populationSize, type Population, type SubjectRecords } from '../data/population.js'
import { readSubject, storedRecords } from '../data/records.js'
import { createEvaluation } from '../libraries/evaluate.js'
import { clauseCounter } from '../explain/coverage.js'
import { elmDefinitions } from '../explain/elm-libraries.js'
import { explainMeasure } from '../explain/explain-measure.js'
import { compiledCriterion } from './criterion.js'
import { groupTotal, type GroupTotal, type SubjectResult } from './groups.js'
import { referenceOf } from './items.js'
import { CQL_LANGUAGES, FHIRPATH_LANGUAGE } from './languages.js'
import { loadedLibraries, prepare, type CqlLanguageOptions, type Prepared } from './prepare.js'
import { libraryRequirements, measureRequirements } from '../requirements/requirements.js'
import { compileGroup, subjectResult, type CompiledGroup } from './subject-result.js'
import { supplementTotal, type SupplementTotal } from './supplements.js'

const SHAPE: InputShape = inputShape<CqlLanguageOptions>({
  translator: having('a translator', ['translate']),
  offset: NUMBER,
  maxSteps: AMOUNT,
})

const NAMES = [...CQL_LANGUAGES, FHIRPATH_LANGUAGE]
const MAX_STEPS = 1_000_000
/** How many subjects that cannot be evaluated are named. */
const MAX_FAILURES = 20

/**
 * Criteria in CQL, for `evaluateMeasure` and `evaluateMeasureOperation`: names of definitions of the Measure's library, expressions,
 * and FHIRPath beside them.
 *
 * A criterion gives a boolean (basis `boolean`) or a list, whose items are counted; observations are functions. Definitions and value sets
 * are all resolved before the first subject. Supplemental data, risk adjustment factors and supporting evidence are evaluated too. A subject
 * whose evaluation fails makes a report of status `error`.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 * @see https://hl7.org/fhir/us/cqfmeasures/measure-conformance.html
 */
export function cqlLanguage(options: CqlLanguageOptions = {}): CriteriaLanguage {
  checkOptions('cqlLanguage', SHAPE, options)
  return {
    names: NAMES,
    valueNames: NAMES,
    supplements: true,
    evaluator: (ctx, scope) => async (groups) => {
      const maxSteps = options.maxSteps ?? MAX_STEPS
      const plain = await prepare(ctx, { scope, groups }, options)
      const counter = scope.coverage === true ? clauseCounter() : undefined
      const prepared = counter === undefined ? plain : plain.traced(counter.trace)
      const work = compiledMeasure(groups, scope, prepared)
      await prepared.terminology.load()
      const isExplained = ctx.explain !== undefined && scope.individual === true
      const look: Watched['after'] = async (own, results) => {
        counter?.endSubject()
        if (isExplained) await explainMeasure(ctx, { scope, groups, prepared, own, results, maxSteps })
      }
      const counts = await countsOf(ctx, work, { maxSteps, after: isExplained || counter !== undefined ? look : undefined })
      return counter === undefined ? counts : { ...counts, coverage: counter.coverage(elmDefinitions(loadedLibraries(prepared))) }
    },
    requirements: (ctx, scope) => (groups) => measureRequirements(ctx, { scope, groups }, options),
    libraryRequirements: (ctx, resource, definitions) => libraryRequirements(ctx, { resource, definitions }, options),
  }
}

/** Everything of a Measure, ready to add up subjects. */
interface MeasureWork {
  readonly scope: Scope
  readonly groups: readonly { readonly compiled: CompiledGroup; readonly total: GroupTotal; readonly initial: readonly number[] }[]
  readonly supplements: readonly SupplementTotal[]
  readonly prepared: Prepared
}

function compiledMeasure(groups: readonly GroupPlan[], scope: Scope, prepared: Prepared): MeasureWork {
  return {
    scope,
    prepared,
    groups: groups.map((group) => {
      const compiled = compileGroup(group, prepared)
      const initial = group.populations.flatMap(({ kinds }, index) => (kinds.includes('initial-population') ? [index] : []))
      return { compiled, total: groupTotal(group, compiled.memberships, scope.listed === true), initial }
    }),
    supplements: (scope.supplements ?? []).map((supplement) =>
      supplementTotal(compiledCriterion(supplement, prepared), { prepared, individual: scope.individual === true }),
    ),
  }
}

interface Watched {
  readonly maxSteps: number
  /** Called with each subject and its results, which are absent where its evaluation failed; absent where nobody looks on. */
  readonly after: ((own: SubjectRecords, results: readonly SubjectResult[] | undefined) => Promise<void>) | undefined
}

async function countsOf(ctx: OperationContext, work: MeasureWork, { maxSteps, after }: Watched): Promise<MeasureCounts> {
  const { scope, groups, supplements } = work
  const failures: SubjectFailure[] = []
  const read = new Set<string>()
  const evaluateSubject = subjectEvaluator(ctx, { work, maxSteps, read })
  const pace = createPace(ctx)
  const total = ctx.onProgress === undefined ? undefined : await subjectCount(ctx, work)
  let done = 0
  for await (const subject of subjects(ctx, work)) {
    pace.check()
    await pace.step()
    ctx.onProgress?.({ done: done++, total, of: 'subjects' })
    let results: readonly SubjectResult[] | undefined
    try {
      results = await evaluateSubject(subject)
    } catch (error) {
      if (!(error instanceof OperationError) || error.code !== 'unprocessable') throw error
      failures.push({ subject: `${scope.subjectType}/${subject.id}`, message: error.message })
    }
    if (after !== undefined) await after(subject, results)
    if (failures.length === MAX_FAILURES) break
  }
  return {
    groups: groups.map(({ total }) => total.counts()),
    supplements: supplements.map((total) => total.values()),
    ...(scope.individual === true && { evaluatedResources: [...read] }),
    failures,
  }
}

/** How many subjects there are. */
async function subjectCount(ctx: OperationContext, { scope, groups }: MeasureWork): Promise<number> {
  if (groups.length === 0) return 0
  return singleSubject(scope) === undefined ? await populationSize(ctx, populationOf(scope)) : 1
}

/** The one whom the report is about; `undefined` where subjects are searched. */
function singleSubject({ subject, practitioner }: Scope): Scope['subject'] {
  return subject?.type === 'Patient' && practitioner === undefined ? subject : undefined
}

/** Who is searched. */
function populationOf(scope: Scope): Omit<Population, 'requests'> {
  const { subjectType } = scope
  return { type: subjectType, conditions: subjectType === 'Patient' ? patientConditions(scope) : [] }
}

/** Everybody whom the report is about, with records: all that retrieves may find is read with them, but for a single subject. */
async function* subjects(ctx: OperationContext, { scope, prepared, groups }: MeasureWork): AsyncGenerator<SubjectRecords, void, undefined> {
  if (groups.length === 0) return
  const subject = singleSubject(scope)
  if (subject === undefined) return yield* populationRecords(ctx, prepared, { ...populationOf(scope), requests: prepared.requests })
  const own = await readSubject(ctx, prepared, subject)
  yield { id: subject.id, subject: own, records: storedRecords(ctx, prepared)(own) }
}

/** Evaluates one subject after the other and adds it to the totals. */
function subjectEvaluator(
  ctx: OperationContext,
  { work, maxSteps, read }: { readonly work: MeasureWork; readonly maxSteps: number; readonly read: Set<string> },
): (subject: SubjectRecords) => Promise<readonly SubjectResult[]> {
  const { scope, groups, supplements, prepared } = work
  const { offset } = prepared
  return async ({ id, subject, records }) => {
    const evaluation = createEvaluation({
      subject,
      now: ctx.now(),
      offset,
      maxSteps,
      retrieve: (request) => {
        const found = records.retrieve(request)
        if (scope.individual === true) for (const resource of found) read.add(referenceOf(resource))
        return found
      },
    })
    const results = await records.evaluate(() =>
      groups.map(({ compiled }) => subjectResult(compiled, evaluation, scope.individual === true)),
    )
    for (const [index, result] of results.entries()) groups[index]?.total.add(id, result)
    if (isInitial(work, results)) for (const supplement of supplements) await records.evaluate(() => supplement.add(id, evaluation))
    return results
  }
}

/** Supplemental data is that of the initial populations; of everybody where the Measure has none. */
function isInitial({ groups }: MeasureWork, results: readonly SubjectResult[]): boolean {
  return results.some(({ members }, index) => {
    const { initial = [] } = groups[index] ?? {}
    return initial.length === 0 || initial.some((population) => (members[population]?.length ?? 0) > 0)
  })
}
