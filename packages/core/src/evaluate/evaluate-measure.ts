import { explained, type ExplainOption, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput, checkOptions, FLAG, having, inputShape, listOf, needed, OBJECT, oneOf, TEXT, type MemberKind } from '../input/index.js'
import { CRITERIA_LANGUAGES, type CriteriaLanguage, type GroupCounts, type MeasureCounts, type Scope } from './languages/index.js'
import { planOf, type Criterion, type GroupPlan, type MeasurePlan } from './measure-plan.js'
import { checkedPeriod } from './period.js'
import { canonicalOfMeasure, resultOf, type EvaluateMeasureResult } from './result.js'
import { practitionerIdOf, subjectOf, subjectTypeOf, type Subject } from './subject.js'
import { canonicalOf } from '../content/index.js'
import { isObject, type JsonObject } from '../json/index.js'

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
  /** A Parameters resource with values of parameters that the Measure's libraries declare. */
  readonly parameters?: object | undefined
}

const EVALUATE_INPUT = inputShape<EvaluateMeasureInput>({
  measure: needed(TEXT),
  periodStart: needed(TEXT),
  periodEnd: needed(TEXT),
  subject: TEXT,
  practitioner: TEXT,
  reportType: oneOf('subject', 'subject-list', 'population'),
  parameters: OBJECT,
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
  const library = plan.groups.length === 0 ? libraryLanguage(measure, options.languages) : undefined
  checkParameters(input, [...languages, library])
  const subject = input.subject === undefined ? undefined : await subjectOf(ctx, input.subject, measure)
  const type = reportTypeOf(input.reportType, subject)
  const practitioner = input.practitioner === undefined ? undefined : await practitionerIdOf(ctx, input.practitioner)
  const scope: Scope = {
    period,
    measure,
    subjectType: subjectTypeOf(measure),
    subject,
    practitioner,
    listed: type === 'subject-list',
    individual: type === 'individual',
    parameters: isObject(input.parameters) ? input.parameters : undefined,
  }
  await library?.evaluator(ctx, scope)([])
  const counts = await countsOf(ctx, { plan, languages, scope })
  return resultOf(ctx, { measure, plan, scope, type, counts })
}

/** A Measure without groups has nothing to count; its libraries must be there all the same, where a language knows libraries. */
function libraryLanguage(measure: JsonObject, languages: readonly CriteriaLanguage[] = []): CriteriaLanguage | undefined {
  const named = measure['library']
  return Array.isArray(named) && named.length > 0 ? languages.find(({ supplements }) => supplements === true) : undefined
}

/** Parameters are those of libraries, which not every language has. */
function checkParameters({ parameters }: EvaluateMeasureInput, languages: readonly (CriteriaLanguage | undefined)[]): void {
  if (parameters === undefined || languages.some((language) => language?.supplements === true)) return
  throw new OperationError('parameter-unsupported', "The Measure has no library that could take 'parameters'.", {
    expression: ['parameters'],
  })
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
function languagesOf({ groups }: MeasurePlan, languages: readonly CriteriaLanguage[]): readonly (CriteriaLanguage | undefined)[] {
  return groups.map((group) => languageOf(group, languages))
}

/** The first language that knows all criteria; what the language of the first criterion does not know is refused. */
function languageOf(group: GroupPlan, languages: readonly CriteriaLanguage[]): CriteriaLanguage | undefined {
  const fitting = languages.find((language) => foreignIn(group, language) === undefined)
  if (fitting !== undefined) return fitting
  const first = criteriaOf(group)[0]?.language
  const foreign = foreignIn(group, languages.find(({ names }) => names.some((name) => name === first)) ?? { names: [] })
  if (foreign === undefined) return undefined
  throw new OperationError('not-supported', `${foreign.place}: criteria in ${quoted(foreign.language)} are not supported here.`, {
    expression: [`${foreign.path}.criteria.language`],
  })
}

function criteriaOf({ populations, stratifiers }: GroupPlan): readonly Criterion[] {
  return [...populations, ...stratifiers.flatMap(({ criteria }) => criteria)]
}

/** The first criterion of a group that a language does not know. */
function foreignIn(
  { populations, stratifiers }: GroupPlan,
  { names, valueNames = [] }: Pick<CriteriaLanguage, 'names' | 'valueNames'>,
): Criterion | undefined {
  const isForeign = (known: readonly string[]): ((criterion: Criterion) => boolean) => {
    return ({ language }) => !known.includes(language)
  }
  const strata = stratifiers.flatMap(
    ({ criteria, byComponents }) => criteria.find(isForeign(byComponents ? valueNames : [...names, ...valueNames])) ?? [],
  )
  return populations.find(isForeign(names)) ?? strata[0]
}

interface Work {
  readonly plan: MeasurePlan
  readonly languages: readonly (CriteriaLanguage | undefined)[]
  readonly scope: Scope
}

/** The counts of each group, in its language; those of one language are counted together. */
async function countsOf(ctx: OperationContext, { plan, languages, scope }: Work): Promise<MeasureCounts> {
  const groups = new Map<number, GroupCounts>()
  let shared: Omit<MeasureCounts, 'groups'> = {}
  for (const language of new Set(languages)) {
    if (language === undefined) continue
    const indexes = plan.groups.flatMap((_, index) => (languages[index] === language ? [index] : []))
    const supplements = language.supplements === true ? plan.supplements : undefined
    const counts = await language.evaluator(ctx, { ...scope, supplements })(indexes.flatMap((index) => plan.groups[index] ?? []))
    for (const [at, index] of indexes.entries()) groups.set(index, counts.groups[at] ?? NO_COUNTS)
    shared = { ...shared, ...counts }
  }
  return { ...shared, groups: plan.groups.map((_, index) => groups.get(index) ?? NO_COUNTS) }
}

const NO_COUNTS: GroupCounts = { populations: [], strata: [] }

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
