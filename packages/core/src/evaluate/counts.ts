import type { OperationContext } from '../context/index.js'
import { mergeCoverage, type Coverage } from '../explain/index.js'
import type { JsonObject } from '../json/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { Composition } from './composite/composite-plan.js'
import {
  canSupplement,
  foreignIn,
  mixedLanguage,
  NO_COUNTS,
  type CriteriaLanguage,
  type GroupCounts,
  type KeptResults,
  type MeasureCounts,
  type Scope,
  type SubjectFailure,
  type SupplementValues,
} from './languages/index.js'
import type { Criterion, GroupPlan, MeasurePlan, Supplement } from './measure-plan.js'

/** A Measure with the groups to count: all of its own, or those that are components of a composite measure. */
interface CountedMeasure {
  readonly measure: JsonObject
  readonly plan: MeasurePlan
  /** The language of each group. */
  readonly languages: readonly (CriteriaLanguage | undefined)[]
}

/**
 * The Measures to count for a Measure: itself, and the components of its composites. All languages are determined before anything is counted.
 *
 * @throws {OperationError} `not-supported` for a group in an unknown language, and for supplemental data that no language of the groups evaluates.
 */
export function countedMeasures(
  {
    measure,
    plan,
    composition,
  }: { readonly measure: JsonObject; readonly plan: MeasurePlan; readonly composition: Composition | undefined },
  languages: readonly CriteriaLanguage[],
): readonly CountedMeasure[] {
  const plans = new Map([[measure, composition === undefined ? plan : { ...plan, groups: composition.others }]])
  for (const { measure: own, plan: all, group } of composition?.composites.flatMap(({ components }) => components) ?? [])
    plans.set(own, { ...all, groups: [...(plans.get(own)?.groups ?? []), group] })
  const mixed = mixedLanguages()
  return [...plans].map(([own, counted]) => {
    const used = counted.groups.map((group) => languageOf(group, languages, mixed))
    return { measure: own, plan: counted, languages: supplemented({ plan: counted, used, languages, mixed }) }
  })
}

/**
 * Refuses a manifest that some criteria would ignore.
 *
 * @throws {OperationError} `parameter-unsupported`
 */
export function checkManifest(manifest: JsonObject | undefined, counted: readonly CountedMeasure[]): void {
  if (manifest === undefined) return
  const languages = counted.flatMap((one) => one.languages).filter((language) => language !== undefined)
  if (languages.every((language) => language.manifest === true)) return
  throw new OperationError('parameter-unsupported', "'manifest' needs a Measure whose criteria are all in CQL or FHIRPath.", {
    expression: ['manifest'],
  })
}

interface Supplementing {
  readonly plan: MeasurePlan
  /** The language of each group. */
  readonly used: readonly (CriteriaLanguage | undefined)[]
  readonly languages: readonly CriteriaLanguage[]
  readonly mixed: MixedLanguages
}

/**
 * The language of each group of a Measure that may have supplemental data, which is that of the initial populations of all groups: if a single language does
 * not evaluate both, all groups are counted together in a mixture of their languages and of one that evaluates the data.
 *
 * @throws {OperationError} `not-supported` for supplemental data that no language evaluates.
 */
function supplemented({ plan, used, languages, mixed }: Supplementing): readonly (CriteriaLanguage | undefined)[] {
  const [first] = plan.supplements
  const own = [...new Set(used.filter((language) => language !== undefined))]
  if (first === undefined || own.length === 0 || (own.length === 1 && own[0]?.supplements === true)) return used
  const parts = new Set(plan.groups.flatMap((group) => languagesOf(group, languages)))
  const supplementing =
    [...parts].find(canSupplement) ??
    languages.find((language) => canSupplement(language) && plan.supplements.every((one) => language.names.includes(one.language)))
  if (supplementing === undefined)
    throw new OperationError(
      'not-supported',
      `${first.place} is in ${quoted(first.language)}, which is not supported for supplemental data here.`,
      {
        expression: [first.path],
      },
    )
  const all = mixed(languages.filter((language) => parts.has(language) || language === supplementing))
  return used.map((language) => (language === undefined ? undefined : all))
}

type MixedLanguages = (languages: readonly CriteriaLanguage[]) => CriteriaLanguage

/** Returns a function that makes each mixture of languages once, so that its groups are counted together. */
function mixedLanguages(): MixedLanguages {
  const known: (readonly [languages: readonly CriteriaLanguage[], mixed: CriteriaLanguage])[] = []
  return (languages) => {
    const before = known.find(([own]) => own.length === languages.length && own.every((language, index) => language === languages[index]))
    if (before !== undefined) return before[1]
    const mixed = mixedLanguage(languages)
    known.push([languages, mixed])
    return mixed
  }
}

/**
 * The language of a group: the first that supports all its criteria, else those that support each, mixed; `undefined` for a group without criteria.
 *
 * @throws {OperationError} `not-supported` naming a criterion that no language supports.
 */
function languageOf(group: GroupPlan, languages: readonly CriteriaLanguage[], mixed: MixedLanguages): CriteriaLanguage | undefined {
  const used = languagesOf(group, languages)
  const [fitting] = used
  if (fitting !== undefined && foreignIn(group, fitting) === undefined) return fitting
  const foreign = foreignIn(group, mixedLanguage(used))
  if (foreign === undefined) return mixed(used)
  throw new OperationError('not-supported', `${foreign.place}: criteria in ${quoted(foreign.language)} are not supported here.`, {
    expression: [`${foreign.path}.criteria.language`],
  })
}

/** The first language that supports all criteria of a group, else those that support some. */
function languagesOf(group: GroupPlan, languages: readonly CriteriaLanguage[]): readonly CriteriaLanguage[] {
  const fitting = languages.find((language) => foreignIn(group, language) === undefined)
  if (fitting !== undefined) return [fitting]
  return languages.filter(({ names, valueNames = [] }) =>
    criteriaOf(group).some(({ language }) => names.includes(language) || valueNames.includes(language)),
  )
}

function criteriaOf({ populations, stratifiers }: GroupPlan): readonly Criterion[] {
  return [...populations, ...stratifiers.flatMap(({ criteria }) => criteria)]
}

/** The groups of a Measure that one language counts. */
export interface LanguageGroups {
  readonly measure: JsonObject
  readonly language: CriteriaLanguage
  readonly groups: readonly GroupPlan[]
  readonly supplements: readonly Supplement[]
}

/** The groups of a Measure by language, with the supplemental data for languages that evaluate it. */
export function groupsByLanguage({ measure, plan, languages }: CountedMeasure): readonly LanguageGroups[] {
  return [...new Set(languages)].flatMap((language) => {
    if (language === undefined) return []
    const groups = plan.groups.filter((_, index) => languages[index] === language)
    return [{ measure, language, groups, supplements: language.supplements === true ? plan.supplements : [] }]
  })
}

/** The counts of all Measures and languages. */
export interface Counts {
  readonly groups: ReadonlyMap<GroupPlan, GroupCounts>
  readonly supplements: readonly CountedSupplement[]
  /** References to the resources that the evaluation of the only subject read. */
  readonly evaluatedResources: readonly string[]
  readonly failures: readonly SubjectFailure[]
  /** The number of subjects that failed and were left out; absent if failures end the report, or if there are none. */
  readonly failed: number | undefined
  /** The results of the clauses of libraries; absent unless requested. */
  readonly coverage: Coverage | undefined
}

/** Supplemental data, or a risk adjustment factor, and its values. */
export interface CountedSupplement extends SupplementValues {
  readonly supplement: Supplement
  /** The Measure that defines it. */
  readonly measure: JsonObject
}

/** What the evaluations of all groups have in common. */
export type CommonScope = Omit<Scope, 'groups' | 'measure' | 'supplements'>

/**
 * Counts groups in their languages; those of the same Measure and language together.
 *
 * @param options.keptResults Where results of subjects are kept, for each of the groups by index.
 */
export async function countsOf(
  ctx: OperationContext,
  all: readonly LanguageGroups[],
  { scope, keptResults }: { readonly scope: CommonScope; readonly keptResults?: ((index: number) => KeptResults) | undefined },
): Promise<Counts> {
  const counted: MeasureCounts[] = []
  for (const [at, { language, ...own }] of all.entries())
    counted.push(await language.evaluate(ctx, { ...scope, ...own, kept: keptResults?.(at) }))
  return mergeCounts(all, counted)
}

/** Merges the counts of all groups. @param counted In the order of `groups`. */
export function mergeCounts(groups: readonly LanguageGroups[], counted: readonly MeasureCounts[]): Counts {
  const all = groups.flatMap((one, at) => {
    const counts = counted[at]
    return counts === undefined ? [] : [{ ...one, counts }]
  })
  const failures = all.flatMap(({ counts }) => counts.failures ?? []).map((failure) => [failure.subject, failure] as const)
  return {
    groups: new Map(all.flatMap(({ groups: own, counts }) => own.map((group, at) => [group, counts.groups[at] ?? NO_COUNTS] as const))),
    supplements: all.flatMap(({ supplements, measure, counts }) =>
      supplements.flatMap((supplement, at) => {
        const values = counts.supplements?.[at]
        return values === undefined ? [] : [{ supplement, measure, ...values }]
      }),
    ),
    evaluatedResources: [...new Set(all.flatMap(({ counts }) => counts.evaluatedResources ?? []))],
    failures: [...new Map(failures).values()],
    failed: all.map(({ counts }) => counts.failed).find((failed) => failed !== undefined),
    coverage: mergeCoverage(all.flatMap(({ counts }) => counts.coverage ?? [])),
  }
}
