import { explained, type ExplainOption, type OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { checkInput, checkOptions, FLAG, inputShape, needed, OBJECT, oneOf, TEXT, type InputShape } from '../input/index.js'
import { compositeGroup } from './composite/composite-score.js'
import { compositionOf, type Composition } from './composite/composite-plan.js'
import { checkManifest, countedMeasures, countsOf, groupsByLanguage, type CommonScope, type Counts, type LanguageGroups } from './counts.js'
import { findMeasure, manifestOf, pinnedVersions } from './find-measure.js'
import { CRITERIA_LANGUAGES, LANGUAGES, type CriteriaLanguage, type KeptResults, type Scope } from './languages/index.js'
import { planOf, type GroupPlan } from './measure-plan.js'
import { checkedPeriod } from './period.js'
import { resultOf, type ComposedGroup, type EvaluateMeasureResult } from './result.js'
import { practitionerIdOf, subjectOf, subjectTypeOf, type Subject } from './subject.js'
import { isObject, type JsonObject } from '../json/index.js'

/** The input of `evaluateMeasure`. */
export interface EvaluateMeasureInput extends ExplainOption {
  /** `Measure/<id>`, an id, a url or `url|version`. */
  readonly measure: string
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, the first day, month or year of the period, or a dateTime. */
  readonly periodStart: string
  /** The end of the period, included as a whole. */
  readonly periodEnd: string
  /**
   * `<type>/<id>`, or an id alone for the type of the Measure's subjects: only what belongs to this subject is counted. `Group/<id>`: what belongs to its
   * members. For a Measure of patients also a practitioner or organization, or a Group of these: what belongs to their patients.
   */
  readonly subject?: string | undefined
  /** `Practitioner/<id>` or an id: only what belongs to patients of this general practitioner is counted. */
  readonly practitioner?: string | undefined
  /**
   * `subject` for the report of one subject, `population` for a summary, `subject-list` for a summary with lists of those counted. Default: `subject` when the
   * input `subject` is a single subject, otherwise `population`.
   */
  readonly reportType?: 'subject' | 'subject-list' | 'population' | undefined
  /** A Parameters resource with values for parameters of the Measure's libraries. */
  readonly parameters?: object | undefined
  /**
   * Canonical of a Library that states the versions of libraries, value sets, code systems and component Measures which the Measure leaves open, before
   * the Measure and its libraries do. For Measures whose criteria are all in CQL or FHIRPath.
   */
  readonly manifest?: string | undefined
  /** True to add `coverage` to the result: the results of each clause of the Measure's CQL over all subjects. Default false, which costs nothing. */
  readonly coverage?: boolean | undefined
  /**
   * True to count a summary or `subject-list` in spite of subjects whose evaluation fails: they count nowhere, and the result has their number and the first
   * of them. For Measures whose groups are all in one language that is not a search. Default false: nothing is counted then.
   */
  readonly continue?: boolean | undefined
}

/** What an evaluation checks its input by. */
export const EVALUATE_INPUT: InputShape = inputShape<EvaluateMeasureInput>({
  measure: needed(TEXT),
  periodStart: needed(TEXT),
  periodEnd: needed(TEXT),
  subject: TEXT,
  practitioner: TEXT,
  reportType: oneOf('subject', 'subject-list', 'population'),
  parameters: OBJECT,
  manifest: TEXT,
  coverage: FLAG,
  continue: FLAG,
  explain: FLAG,
})

/** Options of `evaluateMeasure`. */
export interface EvaluateMeasureOptions {
  /** Criteria languages in addition to those of the engine. */
  readonly languages?: readonly CriteriaLanguage[]
}

/** Shape of `EvaluateMeasureOptions`. */
export const EVALUATE_OPTIONS: InputShape = inputShape<EvaluateMeasureOptions>({ languages: LANGUAGES })

/**
 * Counts the populations of a Measure. Nothing is stored.
 *
 * @returns The counts of each population; `toMeasureReport` converts them to a MeasureReport. With `explain: true` also which Measure was chosen, and
 *   what each count consists of.
 * @throws {OperationError} `not-found`; `parameter-value`, `parameter-invalid`, `parameter-required` for the input; 422 for a Measure
 *   that cannot be evaluated, naming the place in it.
 * @see https://hl7.org/fhir/R4/measure-operation-evaluate-measure.html
 */
export function evaluateMeasure(
  ctx: OperationContext,
  input: EvaluateMeasureInput,
  options: EvaluateMeasureOptions = {},
): Promise<EvaluateMeasureResult> {
  checkOptions('evaluateMeasure', EVALUATE_OPTIONS, options)
  return evaluateOver(ctx, input, options)
}

/** Options of an evaluation, with the kept results of earlier ones. */
interface EvaluateOverOptions extends EvaluateMeasureOptions {
  /** Where results of subjects are kept, for each of `MeasureRun.groups` by index. */
  readonly keptResults?: (index: number) => KeptResults
}

/** Like `evaluateMeasure`, using kept results of subjects. */
export function evaluateOver(
  ctx: OperationContext,
  input: EvaluateMeasureInput,
  options: EvaluateOverOptions,
): Promise<EvaluateMeasureResult> {
  return explained(ctx, input, async (own) => {
    const run = await prepareRun(own, input, options)
    return await reportRun(own, run, await countsOf(own, run.groups, { scope: run.scope, keptResults: options.keptResults }))
  })
}

/** An evaluation before it begins: everything that is known before subjects are counted. */
export interface MeasureRun {
  readonly measure: JsonObject
  readonly composition: Composition | undefined
  /** What is counted, by Measure and language. */
  readonly groups: readonly LanguageGroups[]
  /** For a composite measure: the components of its composites, then its other groups. */
  readonly plans: readonly GroupPlan[]
  readonly scope: CommonScope
  readonly type: EvaluateMeasureResult['type']
}

/** Finds the Measure and everything that its evaluation needs. @throws {OperationError} as `evaluateMeasure`. */
export async function prepareRun(ctx: OperationContext, input: EvaluateMeasureInput, options: EvaluateMeasureOptions): Promise<MeasureRun> {
  checkInput(ctx, input, EVALUATE_INPUT)
  const period = checkedPeriod(input.periodStart, input.periodEnd)
  const manifest = await manifestOf(ctx, input.manifest)
  const pinned = pinnedVersions([[manifest]])
  const measure = await findMeasure(ctx, input.measure, pinned)
  const plan = planOf(measure)
  const composition = await compositionOf(ctx, measure, plan, pinned)
  const counted = countedMeasures({ measure, plan, composition }, [...CRITERIA_LANGUAGES, ...(options.languages ?? [])])
  checkManifest(manifest, counted)
  const library = plan.groups.length === 0 ? libraryLanguage(measure, options.languages) : undefined
  checkParameters(input, [...counted.flatMap(({ languages }) => languages), library])
  const { type, ...subjects } = await subjectsAsked(ctx, input, measure)
  const groups = counted.flatMap(groupsByLanguage)
  const continues = continuesWith(input, groups) && type !== 'individual'
  const scope = {
    period,
    ...subjects,
    listed: type === 'subject-list' || needsLists(composition),
    individual: type === 'individual',
    coverage: input.coverage,
    ...(continues && { continues }),
    parameters: isObject(input.parameters) ? input.parameters : undefined,
    manifest,
  }
  await library?.evaluate(ctx, { ...scope, measure, groups: [] })
  return { measure, composition, groups, plans: reportedGroups(plan.groups, composition), scope, type }
}

/**
 * Whether subjects whose evaluation fails may be left out.
 *
 * @throws {OperationError} `parameter-unsupported` if their data would still count: for searches, and for criteria in several languages.
 */
function continuesWith(input: EvaluateMeasureInput, groups: readonly LanguageGroups[]): boolean {
  if (input.continue !== true) return false
  if (groups.every(({ language }) => language.divides === true) && groups.length < 2) return true
  throw new OperationError('parameter-unsupported', "'continue' needs a Measure whose criteria are all in CQL or FHIRPath.", {
    expression: ['continue'],
  })
}

type SubjectsAsked = Pick<Scope, 'subjectType' | 'subject' | 'practitioner'> & Pick<MeasureRun, 'type'>

/** Whom the report is about, and so of what type it is. */
async function subjectsAsked(ctx: OperationContext, input: EvaluateMeasureInput, measure: JsonObject): Promise<SubjectsAsked> {
  const subject = await subjectOf(ctx, input.subject, measure)
  const subjectType = subjectTypeOf(measure)
  const type = reportTypeOf(input.reportType, subject, subjectType)
  const practitioner = input.practitioner === undefined ? undefined : await practitionerIdOf(ctx, input.practitioner, measure)
  return { subjectType, subject, practitioner, type }
}

/** Whether the score of a composite depends on who belongs to each population, and not only on how many. */
function needsLists(composition: Composition | undefined): boolean {
  return composition?.composites.some(({ method }) => method !== 'weighted') ?? false
}

function reportedGroups(own: readonly GroupPlan[], composition: Composition | undefined): readonly GroupPlan[] {
  if (composition === undefined) return own
  return [...composition.composites.flatMap(({ components }) => components.map(({ group }) => group)), ...composition.others]
}

/** The result of a run, from its counts. */
export async function reportRun(
  ctx: OperationContext,
  { measure, composition, plans, scope, type }: MeasureRun,
  counts: Counts,
): Promise<EvaluateMeasureResult> {
  const composed: ComposedGroup[] = []
  for (const composite of counts.failures.length > 0 && counts.failed === undefined ? [] : (composition?.composites ?? []))
    composed.push({ path: composite.path, group: await compositeGroup(ctx, { composite, counts, listed: type === 'subject-list' }) })
  return resultOf(ctx, { measure, plans, scope, type, counts, composed })
}

/** A Measure without groups has nothing to count, but its libraries must exist if a language supports libraries. */
function libraryLanguage(measure: JsonObject, languages: readonly CriteriaLanguage[] = []): CriteriaLanguage | undefined {
  const named = measure['library']
  return Array.isArray(named) && named.length > 0 ? languages.find(({ supplements }) => supplements === true) : undefined
}

/** Refuses parameters and coverage, which are for libraries, if no language supports libraries. */
function checkParameters({ parameters, coverage }: EvaluateMeasureInput, languages: readonly (CriteriaLanguage | undefined)[]): void {
  const asked = parameters !== undefined ? 'parameters' : coverage === true ? 'coverage' : undefined
  if (asked === undefined || languages.some((language) => language?.parameters ?? language?.supplements)) return
  const fault = asked === 'coverage' ? "whose clauses 'coverage' could list" : "that could take 'parameters'"
  throw new OperationError('parameter-unsupported', `The Measure has no library ${fault}.`, { expression: [asked] })
}

function reportTypeOf(
  asked: EvaluateMeasureInput['reportType'],
  subject: Subject | undefined,
  subjectType: string,
): EvaluateMeasureResult['type'] {
  if (asked === 'subject' && subject?.type !== subjectType) {
    const [code, fault] =
      subject === undefined
        ? (['parameter-required', "needs parameter 'subject'"] as const)
        : (['parameter-invalid', `cannot be of a ${subject.type}`] as const)
    throw new OperationError(code, `A report for one subject ${fault}.`, { expression: ['subject'] })
  }
  if (asked === 'subject-list') return asked
  return subject?.type === subjectType && asked !== 'population' ? 'individual' : 'summary'
}
