import { explained, type ExplainOption, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput, checkOptions, FLAG, having, inputShape, listOf, needed, oneOf, TEXT, type MemberKind } from '../input/index.js'
import { CRITERIA_LANGUAGES, type CriteriaLanguage, type GroupCounts, type Scope } from './languages/index.js'
import { planOf, type Criterion, type GroupPlan, type MeasurePlan } from './measure-plan.js'
import { checkedPeriod } from './period.js'
import { canonicalOfMeasure, resultOf, type EvaluateMeasureResult } from './result.js'
import { practitionerIdOf, subjectOf, subjectTypeOf, type Subject } from './subject.js'
import { canonicalOf } from '../content/index.js'
import type { JsonObject } from '../json/index.js'

/** What to evaluate. */
export interface EvaluateMeasureInput extends ExplainOption {
  /** `Measure/<id>`, an id, a url or `url|version`. */
  readonly measure: string
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`: the first day, month or year of the period. */
  readonly periodStart: string
  /** The last of the period, included as a whole. */
  readonly periodEnd: string
  /** `Patient/<id>` or an id: only what belongs to this patient is counted. `Group/<id>`: what belongs to its members. */
  readonly subject?: string | undefined
  /** `Practitioner/<id>` or an id: only what belongs to patients of this general practitioner is counted. */
  readonly practitioner?: string | undefined
  /** `subject` for the report of one subject, `population` for a summary, `subject-list` for a summary with lists of who was counted. By default the first when `subject` is a patient. */
  readonly reportType?: 'subject' | 'subject-list' | 'population' | undefined
}

const EVALUATE_INPUT = inputShape<EvaluateMeasureInput>({
  measure: needed(TEXT),
  periodStart: needed(TEXT),
  periodEnd: needed(TEXT),
  subject: TEXT,
  practitioner: TEXT,
  reportType: oneOf('subject', 'subject-list', 'population'),
  explain: FLAG,
})

/** What `languages` must be. */
export const LANGUAGES: MemberKind = listOf(having('a criteria language', ['names', 'evaluator']))

/** Options of `evaluateMeasure`. */
export interface EvaluateMeasureOptions {
  /** Criteria languages beside those that come with the engine. */
  readonly languages?: readonly CriteriaLanguage[]
}

const EVALUATE_OPTIONS = inputShape<EvaluateMeasureOptions>({ languages: LANGUAGES })

/**
 * Counts the populations of a Measure. Nothing is stored.
 *
 * @returns The counts of each population; `toMeasureReport` makes a MeasureReport of them. With `explain: true` also which Measure was chosen, and
 *   what each count is of.
 * @throws {OperationError} `not-found`; `parameter-value`, `parameter-invalid`, `parameter-required` for the input; 422 for a Measure
 *   that cannot be evaluated, naming the place in it.
 * @see https://hl7.org/fhir/R4/measure-operation-evaluate-measure.html
 */
export function evaluateMeasure(
  ctx: OperationContext,
  input: EvaluateMeasureInput,
  options: EvaluateMeasureOptions = {},
): Promise<EvaluateMeasureResult> {
  return explained(ctx, input, (own) => evaluated(own, input, options))
}

async function evaluated(
  ctx: OperationContext,
  input: EvaluateMeasureInput,
  options: EvaluateMeasureOptions,
): Promise<EvaluateMeasureResult> {
  checkInput(ctx, input, EVALUATE_INPUT)
  checkOptions('evaluateMeasure', EVALUATE_OPTIONS, options)
  const period = checkedPeriod(input.periodStart, input.periodEnd)
  const measure = await findMeasure(ctx, input.measure)
  const plan = planOf(measure)
  const languages = languagesOf(plan, [...CRITERIA_LANGUAGES, ...(options.languages ?? [])])
  const subject = input.subject === undefined ? undefined : await subjectOf(ctx, input.subject, measure)
  const type = reportTypeOf(input.reportType, subject)
  const practitioner = input.practitioner === undefined ? undefined : await practitionerIdOf(ctx, input.practitioner)
  const scope: Scope = { period, measure, subjectType: subjectTypeOf(measure), subject, practitioner, listed: type === 'subject-list' }
  const counts = await countsOf(ctx, { plan, languages, scope })
  return resultOf(ctx, { measure, plan, scope, type, counts })
}

function reportTypeOf(asked: EvaluateMeasureInput['reportType'], subject: Subject | undefined): EvaluateMeasureResult['type'] {
  if (asked === 'subject' && subject?.type !== 'Patient') {
    const [code, fault] =
      subject === undefined
        ? (['parameter-required', "needs parameter 'subject'"] as const)
        : (['parameter-invalid', 'cannot be of a Group'] as const)
    throw new OperationError(code, `A report for one subject ${fault}.`, { expression: ['subject'] })
  }
  if (asked === 'subject-list') return asked
  return subject?.type === 'Patient' && asked !== 'population' ? 'individual' : 'summary'
}

/** The language of each group. All are looked up before anything is counted. */
function languagesOf(plan: MeasurePlan, languages: readonly CriteriaLanguage[]): readonly (CriteriaLanguage | undefined)[] {
  return plan.groups.map((group) => languageOf(group, languages))
}

function languageOf({ populations, stratifiers }: GroupPlan, languages: readonly CriteriaLanguage[]): CriteriaLanguage | undefined {
  const first = [...populations, ...stratifiers.flatMap(({ criteria }) => criteria)][0]?.language
  const language = languages.find(({ names }) => names.some((name) => name === first))
  const { names = [], valueNames = [] } = language ?? {}
  checkLanguages(populations, names)
  for (const { criteria, byComponents } of stratifiers) checkLanguages(criteria, byComponents ? valueNames : [...names, ...valueNames])
  return language
}

function checkLanguages(criteria: readonly Criterion[], known: readonly string[]): void {
  const foreign = criteria.find(({ language }) => !known.includes(language))
  if (foreign === undefined) return
  throw new OperationError('not-supported', `${foreign.place}: criteria in ${quoted(foreign.language)} are not supported here.`, {
    expression: [`${foreign.path}.criteria.language`],
  })
}

interface Work {
  readonly plan: MeasurePlan
  readonly languages: readonly (CriteriaLanguage | undefined)[]
  readonly scope: Scope
}

async function countsOf(ctx: OperationContext, { plan, languages, scope }: Work): Promise<readonly GroupCounts[]> {
  const evaluators = new Map(languages.map((language) => [language, language?.evaluator(ctx, scope)]))
  const counts: GroupCounts[] = []
  for (const [index, group] of plan.groups.entries()) {
    const evaluate = evaluators.get(languages[index])
    counts.push(evaluate === undefined ? { populations: [], strata: [] } : await evaluate(group))
  }
  return counts
}

/**
 * The Measure that `Measure/<id>`, an id, a url or `url|version` names. Without a version: the newest that is not retired.
 *
 * @throws {OperationError} `not-found`; `deleted` for an id that the storage's history has.
 */
async function findMeasure(ctx: OperationContext, name: string): Promise<JsonObject> {
  const found = name.includes(':') ? await byCanonical(ctx, name) : await byId(ctx, name.replace(/^Measure\//, ''))
  if (found === undefined) throw new OperationError('not-found', `Measure ${quoted(name)} does not exist.`)
  const definition = canonicalOfMeasure(found)
  const isNewest = name.includes(':') && canonicalOf(name).version === undefined
  const why = isNewest ? 'it is the newest of its url that is not retired' : 'the request names it'
  ctx.explain?.step({
    kind: 'measure',
    outcome: 'chosen',
    reason: isNewest ? 'newest' : 'request',
    definition,
    text: `The Measure ${quoted(definition)} was used: ${why}.`,
  })
  return found
}

async function byId(ctx: OperationContext, id: string): Promise<JsonObject | undefined> {
  ctx.authorize?.('read', 'Measure', id)
  const stored = await ctx.storage.read('Measure', id)
  if (stored !== undefined) return stored.resource
  const past = await ctx.storage.history?.page({ types: ['Measure'], id, limit: 1 })
  if (past?.items.length) throw new OperationError('deleted', `Measure/${id} is deleted.`)
  return undefined
}

async function byCanonical(ctx: OperationContext, canonical: string): Promise<JsonObject | undefined> {
  ctx.authorize?.('read', 'Measure')
  const { url, version, fragment } = canonicalOf(canonical)
  if (fragment !== undefined) return undefined
  const definition = await ctx.content.resolve('Measure', url, version)
  return version === undefined && definition?.status === 'retired' ? undefined : definition?.resource
}
