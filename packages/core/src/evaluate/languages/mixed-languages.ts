import type { OperationContext } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { mergeCoverage } from '../../explain/index.js'
import type { GroupPlan, Population, Stratifier } from '../measure-plan.js'
import { membershipsOf, type Membership } from '../membership.js'
import type { Stratum, Tally } from '../totals/sums.js'
import type { CriteriaLanguage, GroupCounts, MeasureCounts, RequirementScope, Requirements, Scope } from './language.js'

/** A language made of several, for groups whose criteria are in more than one. */
interface MixedLanguage extends CriteriaLanguage {
  readonly mixes: readonly CriteriaLanguage[]
}

/** Whether a language is made of several. */
export function isMixed(language: CriteriaLanguage): language is MixedLanguage {
  return 'mixes' in language
}

/**
 * Creates the language of groups whose criteria are in several languages. Each language lists the members of the populations in it; which populations are
 * within others, and which exclude others, is then decided over these lists.
 *
 * A scored group needs a stated basis, so that all lists are of the same members. Observations and supplemental data are refused. A stratifier divides the
 * populations that are within one of its own language; with basis `boolean`, FHIRPath and the languages that it can be mixed with divide all.
 */
export function mixedLanguage(languages: readonly CriteriaLanguage[]): MixedLanguage {
  return {
    mixes: languages,
    names: languages.flatMap(({ names }) => names),
    valueNames: languages.flatMap(({ valueNames = [] }) => valueNames),
    parameters: languages.some(({ parameters, supplements }) => parameters ?? supplements ?? false),
    evaluate: (ctx, scope) => evaluateMixed(ctx, scope, languages),
    requirements: (ctx, scope) => mixedRequirements(ctx, scope, languages),
  }
}

async function mixedRequirements(
  ctx: OperationContext,
  scope: RequirementScope,
  languages: readonly CriteriaLanguage[],
): Promise<Requirements> {
  const divided = scope.groups.map((group) => dividedGroup(group, languages))
  const found: Requirements[] = []
  for (const language of languages) {
    if (language.requirements === undefined)
      throw new OperationError('not-supported', `Criteria in ${language.names.join(', ')} do not say what data they look at.`)
    const groups = divided.map(({ partOf }) => partOf(language))
    found.push(await language.requirements(ctx, { ...scope, groups, supplements: [] }))
  }
  return {
    data: found.flatMap(({ data }) => data),
    parameters: found.flatMap(({ parameters }) => parameters),
    dependsOn: found.flatMap(({ dependsOn }) => dependsOn),
  }
}

async function evaluateMixed(ctx: OperationContext, scope: Scope, languages: readonly CriteriaLanguage[]): Promise<MeasureCounts> {
  const divided = scope.groups.map((group) => dividedGroup(group, languages))
  const listing = { ...scope, listed: true, supplements: [] }
  const counted = new Map<CriteriaLanguage, MeasureCounts>()
  for (const language of languages) {
    const groups = divided.map(({ partOf }) => partOf(language))
    counted.set(language, await language.evaluate({ ...ctx, explain: undefined }, { ...listing, groups }))
  }
  if (ctx.explain !== undefined && scope.individual === true)
    for (const language of languages)
      await language.evaluate(ctx, { ...listing, groups: divided.map(({ plainPartOf }) => plainPartOf(language)) })
  const all = [...counted.values()]
  return {
    groups: divided.map((group, at) => groupCounts(group, (language) => counted.get(language)?.groups[at], scope)),
    evaluatedResources: all.flatMap(({ evaluatedResources = [] }) => evaluatedResources),
    failures: all.flatMap(({ failures = [] }) => failures),
    coverage: mergeCoverage(all.flatMap(({ coverage }) => coverage ?? [])),
  }
}

/** A group, divided by the languages of its criteria. */
interface DividedGroup {
  readonly group: GroupPlan
  readonly memberships: readonly Membership[]
  readonly languageOf: (population: Population) => CriteriaLanguage
  readonly divisions: readonly Division[]
  /** The populations in a language, as a group without scoring, and what its stratifiers need. */
  readonly partOf: (language: CriteriaLanguage) => GroupPlan
  /** The populations in a language alone. */
  readonly plainPartOf: (language: CriteriaLanguage) => GroupPlan
}

/** A stratifier with the language that divides all populations by it. */
interface Division {
  readonly stratifier: Stratifier
  readonly language: CriteriaLanguage
  /** The population of its members, if its criterion can only select members: it is the only stratum then. */
  readonly set?: Population
  /** Otherwise, for each population of the group, a population in the language whose strata contain those of its members. */
  readonly covers: readonly Population[]
}

/** @throws {OperationError} as `membershipsOf`; `definition-required` for a scored group without a basis; as `divisionOf`. */
function dividedGroup(group: GroupPlan, languages: readonly CriteriaLanguage[]): DividedGroup {
  const memberships = membershipsOf(group)
  if (group.scoring !== undefined && group.populations.some(({ basis }) => basis === undefined))
    throw new OperationError('definition-required', `${group.place} has criteria in several languages, so it needs a population basis.`, {
      expression: [group.path],
    })
  const languageOf = ({ language: name }: Population): CriteriaLanguage => {
    const language = languages.find(({ names }) => names.includes(name))
    if (language === undefined) throw new TypeError(`None of the languages is ${name}.`)
    return language
  }
  const everybody = everybodyOf(group)
  const divisions = group.stratifiers.map((stratifier) => divisionOf(stratifier, { group, languages, memberships, languageOf, everybody }))
  const { scoring: _, ...unscored } = group
  const plainPartOf = (language: CriteriaLanguage): GroupPlan => ({
    ...unscored,
    populations: group.populations.filter((population) => languageOf(population) === language),
    stratifiers: [],
  })
  const partOf = (language: CriteriaLanguage): GroupPlan => {
    const own = divisions.filter((division) => division.language === language)
    const plain = plainPartOf(language)
    const needed = own.flatMap(({ set, covers }) => set ?? covers)
    return {
      ...plain,
      populations: [...new Set([...plain.populations, ...needed])],
      stratifiers: own.flatMap(({ stratifier, set }) => (set === undefined ? [stratifier] : [])),
    }
  }
  return { group, memberships, languageOf, divisions, partOf, plainPartOf }
}

/** All subjects, as a population; `undefined` for a group that does not count subjects. */
function everybodyOf({ populations, path, place }: GroupPlan): Population | undefined {
  if (populations.some(({ basis }) => basis !== 'boolean')) return undefined
  return { language: FHIRPATH, expression: 'true', basis: 'boolean', kinds: [], path, place }
}

const FHIRPATH = 'text/fhirpath'

interface Dividing extends Pick<DividedGroup, 'group' | 'languageOf' | 'memberships'> {
  readonly languages: readonly CriteriaLanguage[]
  readonly everybody: Population | undefined
}

/** @throws {OperationError} `not-supported` if no language knows the members of all populations. */
function divisionOf(stratifier: Stratifier, { group, languages, memberships, languageOf, everybody }: Dividing): Division {
  const { criteria, byComponents } = stratifier
  for (const language of languages) {
    const { names, valueNames = [] } = language
    const known = byComponents ? valueNames : [...names, ...valueNames]
    if (!criteria.every((criterion) => known.includes(criterion.language))) continue
    const [only] = criteria
    if (only !== undefined && !valueNames.includes(only.language)) return { stratifier, language, set: { ...only, kinds: [] }, covers: [] }
    const ofAll = names.includes(FHIRPATH) ? everybody : undefined
    const covers = memberships.flatMap(({ all }) => {
      const around = all.flatMap((index) => group.populations[index] ?? [])
      return around.find((population) => languageOf(population) === language) ?? ofAll ?? []
    })
    if (covers.length === memberships.length) return { stratifier, language, covers }
  }
  const { place, path, language = '' } = criteria[0] ?? { ...group, language: undefined }
  throw new OperationError(
    'not-supported',
    `${place}: criteria in ${quoted(language)} cannot divide populations in another language, unless subjects are counted (basis 'boolean').`,
    { expression: [`${path}.criteria.language`] },
  )
}

type CountsIn = (language: CriteriaLanguage) => GroupCounts | undefined

/** Counts the members that all languages list. */
function groupCounts(divided: DividedGroup, countsIn: CountsIn, { listed }: Scope): GroupCounts {
  const { group, memberships, languageOf, divisions, partOf } = divided
  const tallies = group.populations.map((population) => {
    const language = languageOf(population)
    return countsIn(language)?.populations[partOf(language).populations.indexOf(population)]
  })
  const sets = tallies.map((tally) => new Set(tally?.members))
  const members = memberships.map(({ all, none }) =>
    [...(sets[all[0] ?? -1] ?? [])].filter(
      (member) => all.every((index) => sets[index]?.has(member)) && !none.some((index) => sets[index]?.has(member)),
    ),
  )
  const tallyOf = (own: readonly string[]): Tally => ({ count: own.length, ...(listed === true && { members: own }) })
  return {
    populations: members.map((own, index) => {
      const evidence = tallies[index]?.evidence
      return { ...tallyOf(own), ...(evidence !== undefined && { evidence }) }
    }),
    strata: divisions.map((division) =>
      strataIn(division, divided, countsIn(division.language)).flatMap(({ values, covers }): readonly Stratum[] => {
        const own = members.map((all, index) => all.filter((member) => covers[index]?.has(member)))
        if (values !== undefined && own.every(({ length }) => length === 0)) return []
        return [{ ...(values !== undefined && { values }), populations: own.map(tallyOf) }]
      }),
    ),
  }
}

/** A stratum that a language found; a member of a population of the group is in it if it is in the set for that population. */
interface FoundStratum extends Pick<Stratum, 'values'> {
  readonly covers: readonly ReadonlySet<string>[]
}

function strataIn(
  { stratifier, language, set, covers }: Division,
  { group, partOf }: DividedGroup,
  counts: GroupCounts | undefined,
): readonly FoundStratum[] {
  const { populations, stratifiers } = partOf(language)
  if (set !== undefined) {
    const all = new Set(counts?.populations[populations.indexOf(set)]?.members)
    return [{ covers: group.populations.map(() => all) }]
  }
  return (counts?.strata[stratifiers.indexOf(stratifier)] ?? []).map(({ values, populations: own }) => {
    const sets = covers.map((cover) => new Set(own[populations.indexOf(cover)]?.members))
    return { ...(values !== undefined && { values }), covers: sets }
  })
}
