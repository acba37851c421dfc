import { createPace, type OperationContext } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { mergeCoverage } from '../../explain/index.js'
import type { Criterion, GroupPlan, Population, Stratifier, Supplement } from '../measure-plan.js'
import { membershipsOf, type Membership } from '../membership.js'
import type { Tally } from '../totals/sums.js'
import {
  NO_COUNTS,
  type CriteriaLanguage,
  type GroupCounts,
  type MeasureCounts,
  type RequirementScope,
  type Requirements,
  type Scope,
} from './language.js'

/** A language made of several, for groups whose criteria are in more than one. */
interface MixedLanguage extends CriteriaLanguage {
  readonly mixes: readonly CriteriaLanguage[]
}

/**
 * Creates the language of groups whose criteria are in several languages. Each language lists the members of the populations in it; which populations are
 * within others, and which exclude others, is then decided over these lists. Strata, observations and supplemental data are evaluated last, for the members
 * that result, by one language that can take them as given.
 *
 * A scored group needs a stated basis, so that all lists are of the same members.
 */
export function mixedLanguage(languages: readonly CriteriaLanguage[]): MixedLanguage {
  return {
    mixes: languages,
    names: languages.flatMap(({ names }) => names),
    valueNames: languages.flatMap(({ valueNames = [] }) => valueNames),
    parameters: languages.some(({ parameters, supplements }) => parameters ?? supplements ?? false),
    supplements: languages.some(canSupplement),
    evaluate: (ctx, scope) => evaluateMixed(ctx, scope, languages),
    requirements: (ctx, scope) => mixedRequirements(ctx, scope, languages),
  }
}

/** Whether a language can evaluate supplemental data of populations that other languages determine. */
export function canSupplement({ supplements, givenMembers }: CriteriaLanguage): boolean {
  return supplements === true && givenMembers === true
}

async function mixedRequirements(
  ctx: OperationContext,
  scope: RequirementScope,
  languages: readonly CriteriaLanguage[],
): Promise<Requirements> {
  const { supplements = [] } = scope
  const divided = scope.groups.map((group) => dividedGroup(group, languages))
  const last = lastLanguage({ divided, supplements }, languages)
  const found: Requirements[] = []
  for (const language of languages) {
    if (language.requirements === undefined)
      throw new OperationError('not-supported', `Criteria in ${language.names.join(', ')} do not say what data they look at.`)
    const groups = divided.map((group) => {
      if (language !== last || group.whole !== undefined) return group.partOf(language)
      const { observations, valued } = group
      const part = group.partOf(language)
      return { ...part, populations: [...part.populations, ...observations], stratifiers: valued }
    })
    found.push(await language.requirements(ctx, { ...scope, groups, supplements: language === last ? supplements : [] }))
  }
  return {
    data: found.flatMap(({ data }) => data),
    parameters: found.flatMap(({ parameters }) => parameters),
    dependsOn: found.flatMap(({ dependsOn }) => dependsOn),
  }
}

async function evaluateMixed(ctx: OperationContext, scope: Scope, languages: readonly CriteriaLanguage[]): Promise<MeasureCounts> {
  const { supplements = [] } = scope
  const divided = scope.groups.map((group) => dividedGroup(group, languages))
  const last = lastLanguage({ divided, supplements }, languages)
  const listing = { ...scope, listed: true, supplements: [] }
  const own: Mutable<CountsOfLanguage> = new Map()
  for (const language of languages) {
    const groups = divided.map(({ partOf }) => partOf(language))
    own.set(language, await language.evaluate({ ...ctx, explain: undefined }, { ...listing, groups }))
  }
  if (ctx.explain !== undefined && scope.individual === true)
    for (const language of languages)
      await language.evaluate(ctx, { ...listing, groups: divided.map(({ plainPartOf }) => plainPartOf(language)) })
  const pace = createPace(ctx)
  const counted: CountedGroup[] = []
  for (const [at, group] of divided.entries()) {
    pace.check()
    await pace.step()
    counted.push(countedGroup(group, own, at))
  }
  const given = { ...scope, groups: counted.map((group) => givenGroup(group)), kept: undefined }
  const over = await last?.evaluate({ ...ctx, explain: undefined }, given)
  const all = [...own.values(), ...(over === undefined ? [] : [over])]
  const failures = all.flatMap(({ failures: some = [] }) => some)
  return {
    groups: counted.map((group, at) => groupCounts(group, failures.length > 0 ? undefined : over?.groups[at], scope)),
    supplements: over?.supplements,
    evaluatedResources: all.flatMap(({ evaluatedResources = [] }) => evaluatedResources),
    failures,
    coverage: mergeCoverage(all.flatMap(({ coverage }) => coverage ?? [])),
  }
}

type CountsOfLanguage = ReadonlyMap<CriteriaLanguage, MeasureCounts>
type Mutable<T> = T extends ReadonlyMap<infer Key, infer Value> ? Map<Key, Value> : never

/** A group, divided by the languages of its criteria. */
interface DividedGroup {
  readonly group: GroupPlan
  readonly memberships: readonly Membership[]
  /** The language of all its criteria, if there is one: it counts the group then, as it does without other groups. */
  readonly whole: CriteriaLanguage | undefined
  readonly languageOf: (population: Population) => CriteriaLanguage
  /** Observations, which are evaluated last. */
  readonly observations: readonly Population[]
  /** Stratifiers that are evaluated last. */
  readonly valued: readonly Stratifier[]
  /** For each stratifier, its criterion if that is in a language which only lists members: they are its only stratum. */
  readonly sets: readonly (Population | undefined)[]
  /** The populations in a language, as a group without scoring, and what lists the members of strata. */
  readonly partOf: (language: CriteriaLanguage) => GroupPlan
  /** The populations in a language alone. */
  readonly plainPartOf: (language: CriteriaLanguage) => GroupPlan
}

/** @throws {OperationError} as `membershipsOf`; `definition-required` for a scored group without a basis. */
function dividedGroup(group: GroupPlan, languages: readonly CriteriaLanguage[]): DividedGroup {
  const whole = languages.find((language) => foreignIn(group, language) === undefined)
  const memberships = membershipsOf(group, 'allowed')
  if (whole === undefined && group.scoring !== undefined && group.populations.some(({ basis }) => basis === undefined))
    throw new OperationError('definition-required', `${group.place} has criteria in several languages, so it needs a population basis.`, {
      expression: [group.path],
    })
  const languageOf = ({ language: name }: Criterion): CriteriaLanguage => {
    const language = languages.find(({ names }) => names.includes(name))
    if (language === undefined) throw new TypeError(`None of the languages is ${name}.`)
    return language
  }
  const isObserved = (_: unknown, index: number): boolean => memberships[index]?.observed === undefined
  const plain = group.populations.filter(isObserved)
  const sets = group.stratifiers.map(({ criteria: [only], byComponents }): Population | undefined => {
    const isListed = only !== undefined && !byComponents && !languages.some(({ valueNames = [] }) => valueNames.includes(only.language))
    return isListed ? { ...only, kinds: [] } : undefined
  })
  const { scoring: _, ...unscored } = group
  const ofLanguage = (language: CriteriaLanguage, populations: readonly Population[]): GroupPlan =>
    whole === language
      ? group
      : { ...unscored, populations: populations.filter((one) => whole === undefined && languageOf(one) === language), stratifiers: [] }
  return {
    group,
    memberships,
    whole,
    languageOf,
    observations: group.populations.filter((population) => !plain.includes(population)),
    valued: group.stratifiers.filter((_one, index) => sets[index] === undefined),
    sets,
    partOf: (language) => ofLanguage(language, [...plain, ...sets.flatMap((set) => set ?? [])]),
    plainPartOf: (language) => ofLanguage(language, plain),
  }
}

/** The first criterion of a group that a language does not support. */
export function foreignIn(
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

interface Last {
  readonly divided: readonly DividedGroup[]
  readonly supplements: readonly Supplement[]
}

/**
 * The language that evaluates strata, observations and supplemental data; `undefined` if there are none.
 *
 * @throws {OperationError} `not-supported` if no language supports all of them for members that are given.
 */
function lastLanguage({ divided, supplements }: Last, languages: readonly CriteriaLanguage[]): CriteriaLanguage | undefined {
  const mixed = divided.filter(({ whole }) => whole === undefined)
  const observations = mixed.flatMap((group) => group.observations)
  const values = mixed.flatMap(({ valued }) => valued.flatMap(({ criteria }) => criteria))
  const isStratified = mixed.some(({ group }) => group.stratifiers.length > 0)
  if (observations.length === 0 && supplements.length === 0 && !isStratified) return undefined
  const able = languages.filter(({ givenMembers }) => givenMembers === true)
  const foreignTo = ({ names, valueNames = [], supplements: supplementing }: CriteriaLanguage): Criterion | undefined =>
    [...observations, ...(supplementing === true ? supplements : [])].find(({ language }) => !names.includes(language)) ??
    values.find(({ language }) => !valueNames.includes(language)) ??
    (supplementing === true ? undefined : supplements[0])
  const fitting = able.find((language) => foreignTo(language) === undefined)
  if (fitting !== undefined) return fitting
  const [first] = able
  const foreign = (first === undefined ? undefined : foreignTo(first)) ?? observations[0] ?? values[0] ?? supplements[0]
  const { place, path, language = '' } = foreign ?? { ...mixed[0]?.group, language: undefined }
  throw new OperationError(
    'not-supported',
    `${place ?? 'The group'}: criteria in ${quoted(language)} cannot be evaluated for members that criteria in another language find.`,
    { expression: [`${path ?? 'Measure.group'}.criteria.language`] },
  )
}

/** A group whose members are known. */
interface CountedGroup extends DividedGroup {
  /** The members of each population; none for observations. */
  readonly members: readonly (readonly string[])[]
  /** What the language of each population found. */
  readonly tallies: readonly (Tally | undefined)[]
  /** The members that each of `sets` lists. */
  readonly setMembers: readonly ReadonlySet<string>[]
  /** The counts of a group that one language counts. */
  readonly counts: GroupCounts | undefined
}

/** Decides the memberships over what all languages list. */
function countedGroup(divided: DividedGroup, counts: CountsOfLanguage, at: number): CountedGroup {
  const { group, memberships, whole, languageOf, sets, partOf } = divided
  if (whole !== undefined) {
    const own = counts.get(whole)?.groups[at] ?? NO_COUNTS
    const listed = group.populations.map((_, index) => own.populations[index]?.members ?? [])
    return { ...divided, members: listed, tallies: own.populations, setMembers: [], counts: own }
  }
  const tallyOf = (population: Population): Tally | undefined => {
    const language = languageOf(population)
    return counts.get(language)?.groups[at]?.populations[partOf(language).populations.indexOf(population)]
  }
  const tallies = group.populations.map((population, index) =>
    memberships[index]?.observed === undefined ? tallyOf(population) : undefined,
  )
  const found = tallies.map((tally) => new Set(tally?.members))
  const members = memberships.map(({ all, none }) =>
    [...(found[all[0] ?? -1] ?? [])].filter(
      (member) => all.every((index) => found[index]?.has(member)) && !none.some((index) => found[index]?.has(member)),
    ),
  )
  const setMembers = sets.map((set) => new Set(set === undefined ? [] : tallyOf(set)?.members))
  return { ...divided, members, tallies, setMembers, counts: undefined }
}

/** The group with its members as given. One that a language counted as a whole has only what supplemental data needs to know: its members. */
function givenGroup({ group, whole, observations, sets, members, setMembers }: CountedGroup): GroupPlan {
  const populations = group.populations.flatMap((population, index): readonly Population[] => {
    if (observations.includes(population)) return whole === undefined ? [population] : []
    const { evidence: _, basis, ...own } = population
    if (whole !== undefined) return [{ ...own, members: new Set(members[index]?.map(resourceOf)) }]
    return [{ ...own, ...(basis !== undefined && { basis }), members: new Set(members[index]) }]
  })
  if (whole !== undefined) {
    const { scoring: _, ...unscored } = group
    return { ...unscored, populations, stratifiers: [] }
  }
  const stratifiers = group.stratifiers.map((stratifier, index) => {
    if (sets[index] === undefined) return stratifier
    return { ...stratifier, criteria: stratifier.criteria.map((criterion) => ({ ...criterion, members: setMembers[index] ?? new Set() })) }
  })
  return { ...group, populations, stratifiers }
}

/** The resource of a member: itself or, for a value such as a date, the subject whose it is. */
function resourceOf(member: string): string {
  return member.split('#')[0] ?? member
}

/** The counts of a group: those of its members, and what the last language evaluated for them. */
function groupCounts(counted: CountedGroup, over: GroupCounts | undefined, { listed }: Scope): GroupCounts {
  if (counted.counts !== undefined) return counted.counts
  const { group, members, tallies, observations } = counted
  if (over !== undefined && (observations.length > 0 || group.stratifiers.length > 0)) checkMembers(counted, over)
  const { score, scoreUnit } = over ?? NO_COUNTS
  return {
    populations: members.map((own, index): Tally => {
      const observed = observations.some((population) => population === group.populations[index])
      if (observed) return over?.populations[index] ?? { count: 0 }
      const evidence = tallies[index]?.evidence
      return { count: own.length, ...(listed === true && { members: own }), ...(evidence !== undefined && { evidence }) }
    }),
    ...(score !== undefined && { score }),
    ...(scoreUnit !== undefined && { scoreUnit }),
    strata: over?.strata ?? group.stratifiers.map(() => []),
  }
}

/**
 * Checks that each member is data of exactly one subject: others would have no stratum and no observation, or several.
 *
 * @throws {OperationError} `definition-invalid`
 */
function checkMembers({ group, members, observations }: CountedGroup, { populations: found }: GroupCounts): void {
  for (const [index, population] of group.populations.entries()) {
    const [wanted, own] = [members[index]?.length ?? 0, found[index]?.count ?? 0]
    if (observations.includes(population) || wanted === own) continue
    throw new OperationError(
      'definition-invalid',
      `${population.place} has ${wanted} members, of which ${own} are data of a subject, each subject counted: its strata and observations need members that are data of exactly one.`,
      { expression: [population.path] },
    )
  }
}
