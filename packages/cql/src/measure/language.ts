import type { Condition } from 'fhir-ops/storage'
import type { CriteriaLanguage, Scope } from 'fhir-ops/evaluate'
import {
  groupTotal,
  MAX_FAILURES,
  singleSubject,
  type MeasureCounts,
  type MeasureSums,
  type SubjectFailure,
  type SubjectResult,
} from 'fhir-ops/internal/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import { attempt, isPending } from 'fhir-ops/internal/work'
import { AMOUNT, checkOptions, having, inputShape, NUMBER, type InputShape } from 'fhir-ops/internal/input'
import { createKeptPopulations, type KeptPopulation, type KeptPopulations } from '../data/kept-population.js'
import { idsInPart, populationOf, populationRecords, populationSize, type Population, type SubjectRecords } from '../data/population.js'
import { RETRIEVED_PROFILES } from '../data/profiles.js'
import { readSubject, storedRecords } from '../data/records.js'
import { WholeNeeded, type ReadNames } from '../data/trimmed.js'
import { addCounted } from '../push-down/counted-groups.js'
import { clauseCounter } from '../explain/coverage.js'
import { elmDefinitions } from '../explain/elm-libraries.js'
import { explainMeasure } from '../explain/explain-measure.js'
import { createLibraryCompiler, prepare, type CqlLanguageOptions, type Prepared, type Preparing } from './prepare.js'
import { compiledCriterion } from './criterion.js'
import {
  addAlike,
  addContribution,
  subjectEvaluator,
  type MeasureWork,
  type TimedContribution,
  evaluatedSupplement,
} from './contribution.js'
import { createKeptSubjects, refreshOf, type KeptSubjectsOf, type Refresh } from './kept-subjects.js'
import { isOfEverybody, keptAsked, keptRecords } from './kept-records.js'
import { CQL_LANGUAGES, FHIRPATH_LANGUAGE } from './languages.js'
import { loadedLibraries } from './loaded-measure.js'
import { EXTERNAL_FUNCTIONS } from '../libraries/library-options.js'
import { libraryRequirements, measureRequirements } from '../requirements/requirements.js'
import { compileGroup } from './subject-result.js'

const SHAPE: InputShape = inputShape<CqlLanguageOptions>({
  translator: having('a translator', ['translate']),
  offset: NUMBER,
  maxSteps: AMOUNT,
  keepBytes: AMOUNT,
  functions: EXTERNAL_FUNCTIONS,
  profiles: RETRIEVED_PROFILES,
})

const NAMES = [...CQL_LANGUAGES, FHIRPATH_LANGUAGE]
const MAX_STEPS = 1_000_000

/**
 * Creates the language of criteria in CQL, for `evaluateMeasure` and `evaluateMeasureOperation`: names of definitions of the Measure's library, CQL
 * expressions, and FHIRPath.
 *
 * A criterion returns a boolean (basis `boolean`) or a list, whose items are counted; observations are functions. All definitions and value sets are
 * resolved before the first subject is evaluated. Supplemental data, risk adjustment factors and supporting evidence are also evaluated. If the evaluation
 * of a subject fails, the report has the status `error`.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 * @see https://hl7.org/fhir/us/cqfmeasures/measure-conformance.html
 */
export function cqlLanguage(options: CqlLanguageOptions = {}): CriteriaLanguage {
  checkOptions('cqlLanguage', SHAPE, options)
  const language: Language = {
    options,
    compileLibraries: createLibraryCompiler(),
    keptSubjects: createKeptSubjects(),
    populations: createKeptPopulations(options.keepBytes ?? 0),
  }
  return {
    names: NAMES,
    valueNames: NAMES,
    supplements: true,
    manifest: true,
    givenMembers: true,
    divides: true,
    evaluate: (ctx, scope) => evaluate(ctx, scope, language),
    requirements: (ctx, scope) => measureRequirements(ctx, scope, options),
    libraryRequirements: (ctx, resource, { definitions, manifest }) =>
      libraryRequirements(ctx, { resource, definitions, manifest }, options),
  }
}

/** A language: its options, and what it keeps from one evaluation to the next. */
interface Language extends Preparing {
  readonly keptSubjects: KeptSubjectsOf
  readonly populations: KeptPopulations
}

/** Evaluates with only those members of resources kept that may be read; if a result turns out to need whole resources, evaluates again with these. */
async function evaluate(ctx: OperationContext, scope: Scope, language: Language): Promise<MeasureCounts> {
  const prepared = await prepare(ctx, scope, language)
  try {
    return await evaluatePrepared(ctx, language, { scope, prepared })
  } catch (error) {
    if (!(error instanceof WholeNeeded)) throw error
    return await evaluatePrepared(ctx, language, { scope, prepared, names: 'all' })
  }
}

interface PreparedMeasure {
  readonly scope: Scope
  readonly prepared: Prepared
  /** Names of the members of resources that are kept. Default: those that may be read. */
  readonly names?: ReadNames
}

async function evaluatePrepared(ctx: OperationContext, language: Language, measure: PreparedMeasure): Promise<MeasureCounts> {
  const { scope, names } = measure
  const maxSteps = language.options.maxSteps ?? MAX_STEPS
  const counter = scope.coverage === true ? clauseCounter() : undefined
  const prepared = counter === undefined ? measure.prepared : measure.prepared.traced(counter.trace)
  const work = compiledMeasure(scope, prepared)
  await prepared.begin()
  const isExplained = ctx.explain !== undefined && scope.individual === true
  const afterSubject: MeasureEvaluation['afterSubject'] = async (own, results) => {
    counter?.endSubject()
    if (isExplained) await explainMeasure(ctx, { scope, prepared, own, results, maxSteps })
  }
  const counts = await countsOf(ctx, {
    ...work,
    ...(await subjectsToEvaluate(ctx, work, { language, names })),
    maxSteps,
    // Subjects with kept results are not evaluated, so their clauses would not be counted.
    refresh: counter === undefined ? await refreshOf(work, language.keptSubjects) : undefined,
    afterSubject: isExplained || counter !== undefined ? afterSubject : undefined,
  })
  return counter === undefined ? counts : { ...counts, coverage: counter.coverage(elmDefinitions(loadedLibraries(prepared))) }
}

function compiledMeasure(scope: Scope, prepared: Prepared): MeasureWork {
  return {
    scope,
    prepared,
    groups: scope.groups.map((group) => {
      const compiled = compileGroup(group, prepared)
      const initial = group.populations.flatMap(({ kinds }, index) => (kinds.includes('initial-population') ? [index] : []))
      return {
        compiled,
        total: groupTotal(group, compiled.memberships, { listed: scope.listed === true, convert: prepared.convert }),
        initial,
      }
    }),
    supplements: (scope.supplements ?? []).map((supplement) =>
      evaluatedSupplement(compiledCriterion(supplement, prepared), { prepared, individual: scope.individual === true }),
    ),
  }
}

/** The subjects that are left to evaluate after searches counted others. */
interface SubjectsToEvaluate {
  /** A condition that they meet; `undefined` for none. */
  readonly left: Condition | 'all' | undefined
  /** The whole population to evaluate, if it is kept. */
  readonly kept?: KeptPopulation | undefined
}

/** Counts the subjects that searches decide, and finds the others. Evaluating everybody from kept resources is faster than reading some from the storage. */
async function subjectsToEvaluate(
  ctx: OperationContext,
  work: MeasureWork,
  { language: { options, populations }, names }: { readonly language: Language; readonly names: ReadNames | undefined },
): Promise<SubjectsToEvaluate> {
  const { scope, prepared } = work
  // Every part counts with the same searches, and only the first part reports these counts.
  const searched = (scope.part?.part ?? 1) === 1 ? work : compiledMeasure(scope, prepared)
  if ((options.keepBytes ?? 0) > 0 && isOfEverybody(scope)) {
    const left = await addCounted(ctx, searched, { onlyWhole: true })
    if (left !== 'all') return { left }
    const needed = keptAsked(scope, prepared)
    const kept = await populations.current(ctx, prepared, { ...needed, names: names ?? needed.names })
    if (kept !== undefined) return { left, kept }
  }
  return { left: await addCounted(ctx, searched) }
}

/** One evaluation of a compiled Measure: the subjects to evaluate, and what is done with each. */
interface MeasureEvaluation extends MeasureWork, SubjectsToEvaluate {
  readonly maxSteps: number
  /** The kept results; absent if there are none. */
  readonly refresh: Refresh | undefined
  /** Called with each subject and its results, which are absent if its evaluation failed. Absent unless a trace is recorded. */
  readonly afterSubject: ((own: SubjectRecords, results: readonly SubjectResult[] | undefined) => Promise<void>) | undefined
}

async function countsOf(ctx: OperationContext, evaluation: MeasureEvaluation): Promise<MeasureCounts> {
  const { scope, groups, supplements, refresh } = evaluation
  await addKept(ctx, evaluation)
  const { failures, failed, read } = await addEvaluated(ctx, evaluation)
  // After the maximum number of failures, the other subjects were not evaluated.
  if (scope.continues === true || failures.length < MAX_FAILURES) refresh?.kept.complete()
  refresh?.done()
  return {
    groups: groups.map(({ total }) => total.counts()),
    supplements: supplements.map((total) => total.values()),
    ...(scope.part !== undefined && { sums: sumsOf(evaluation) }),
    ...(scope.individual === true && { evaluatedResources: [...read] }),
    failures,
    ...(scope.continues === true && failed > 0 && { failed }),
  }
}

/** The totals of the evaluated subjects. */
function sumsOf({ groups, supplements, left }: MeasureEvaluation): MeasureSums {
  return {
    groups: groups.map(({ total }) => total.sum()),
    supplements: supplements.map((total) => total.sum()),
    searched: left === undefined ? 'all' : left === 'all' ? 'none' : JSON.stringify(left),
  }
}

/** Number of kept subjects that are added without yielding. Adding one takes about a microsecond. */
const KEPT_AT_ONCE = 256

/** Adds kept results. If only numbers are requested, subjects with the same contribution are added together. */
async function addKept(ctx: OperationContext, evaluation: MeasureEvaluation): Promise<void> {
  if (evaluation.refresh === undefined) return
  const { kept } = evaluation.refresh
  const isNumbersOnly = evaluation.scope.listed !== true && evaluation.supplements.length === 0
  if (isNumbersOnly) for (const [contribution, subjects] of kept.alike()) addAlike(evaluation, contribution, subjects)
  const pace = createPace(ctx)
  let at = 0
  for (const [id, contribution] of isNumbersOnly ? kept.others() : kept.all()) {
    addContribution(evaluation, id, contribution)
    const turn = ++at % KEPT_AT_ONCE === 0 ? pace.step() : undefined
    if (turn !== undefined) await turn
  }
}

/** What is known after subjects were evaluated, besides the totals. */
interface Evaluated {
  /** The first subjects that could not be evaluated. */
  readonly failures: SubjectFailure[]
  /** How many could not be evaluated. */
  failed: number
  /** References of the resources that the evaluation of a single subject read. */
  readonly read: Set<string>
}

/** Evaluates subjects and adds them up, until the maximum number of failures is reached; if failures are left out, all. */
async function addEvaluated(ctx: OperationContext, evaluation: MeasureEvaluation): Promise<Evaluated> {
  const { scope, prepared, kept, refresh, afterSubject } = evaluation
  const done: Evaluated = { failures: [], failed: 0, read: new Set() }
  const evaluateSubject = subjectEvaluator(ctx, evaluation, { maxSteps: evaluation.maxSteps, read: done.read })
  const pace = createPace(ctx)
  const ids = (await partIds(ctx, evaluation)) ?? refresh?.ids ?? 'all'
  const total = ctx.onProgress === undefined ? undefined : await subjectCount(ctx, scope, ids)
  let evaluated = 0
  for await (const page of kept === undefined ? subjects(ctx, evaluation, ids) : [keptRecords(ctx, prepared, kept)])
    for (const subject of page) {
      pace.check()
      const turn = pace.step()
      if (turn !== undefined) await turn
      ctx.onProgress?.({ done: evaluated++, total, of: 'subjects' })
      const result = attempt(() => evaluateSubject(subject), subjectError)
      const outcome = isPending(result) ? await result : result
      addOutcome(evaluation, subject.id, outcome, done)
      if (afterSubject !== undefined) await afterSubject(subject, 'contribution' in outcome ? outcome.contribution.results : undefined)
      if (done.failed === MAX_FAILURES && scope.continues !== true) return done
    }
  return done
}

/** The error of a subject that cannot be evaluated. @throws any other error. */
function subjectError(error: unknown): OperationError {
  if (error instanceof OperationError && error.code === 'unprocessable') return error
  throw error
}

/** Adds a subject to the totals, or to those that could not be evaluated, and keeps its result. */
function addOutcome(evaluation: MeasureEvaluation, id: string, outcome: TimedContribution | OperationError, done: Evaluated): void {
  const kept = evaluation.refresh?.kept
  if ('contribution' in outcome) {
    addContribution(evaluation, id, outcome.contribution)
    kept?.keep(id, outcome)
    return
  }
  kept?.unsettled.add(id)
  done.failed += 1
  if (done.failed > MAX_FAILURES) return
  const { message, cause } = outcome
  done.failures.push({ subject: `${evaluation.scope.subjectType}/${id}`, message, ...(cause !== undefined && { cause }) })
}

/** The ids of the subjects of the evaluated part; `undefined` if all are evaluated. */
async function partIds(ctx: OperationContext, { scope, left }: MeasureEvaluation): Promise<Population['ids'] | undefined> {
  if (scope.part === undefined || scope.groups.length === 0 || left === undefined) return undefined
  return await idsInPart(ctx, { ...populationOf(scope), ...(left !== 'all' && { among: left }) }, scope.part)
}

/** Number of subjects. */
async function subjectCount(ctx: OperationContext, scope: Scope, ids: Population['ids']): Promise<number> {
  if (scope.groups.length === 0) return 0
  if (scope.part !== undefined && ids !== 'all') return ids.size
  return singleSubject(scope) === undefined ? await populationSize(ctx, populationOf(scope)) : 1
}

/** Yields the subjects of the report, page by page, with all resources that retrieves may find; for a single subject these are read when needed. */
async function* subjects(
  ctx: OperationContext,
  { scope, prepared, left }: MeasureEvaluation,
  ids: Population['ids'],
): AsyncGenerator<Iterable<SubjectRecords>, void, undefined> {
  if (scope.groups.length === 0 || left === undefined) return
  const subject = singleSubject(scope)
  if (subject !== undefined) {
    const own = await readSubject(ctx, prepared, subject)
    yield [{ id: subject.id, subject: own, records: storedRecords(ctx, prepared)(own) }]
    return
  }
  // The report of one subject lists all resources that were read, and coverage counts all results of conditions, also for resources that do not meet them.
  const requests =
    scope.individual === true || scope.coverage === true
      ? prepared.requests().map((request) => ({ ...request, narrowing: [] }))
      : prepared.requests()
  yield* populationRecords(ctx, prepared, { ...populationOf(scope), requests, ids, ...(left !== 'all' && { among: left }) })
}
