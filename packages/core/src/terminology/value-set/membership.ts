import type { CodeSystemProvider, ConceptStatus } from '../../code-system/index.js'
import { type SystemChoice, chooseVersion } from '../code-system/system-family.js'
import { conceptTexts } from '../concept-texts.js'
import { explainMember, explainPart, explainPassedOver } from '../explain/value-set-steps.js'
import type { TerminologyScope } from '../scope.js'
import { isOfVersion } from '../versions.js'
import { listedConcept, meetsFilters, type FilterTest } from './filter-tests.js'
import { namesCodesOfAnyVersion, type CodeInQuestion, type PartPlan, type Membership, type ValueSetPlan, keepsVersions } from './plan.js'
import { nameOf } from './value-set.js'
import { compareVersions } from '../../content/index.js'

/** Options of a membership question. */
export interface MembershipOptions {
  /** True: inactive codes do not count. Default false. */
  readonly activeOnly?: boolean | undefined
  /** False: abstract codes do not count. Default true. */
  readonly abstract?: boolean | undefined
  /** True: codes that an include lists count even if their code system is unknown. Default false. */
  readonly trustLists?: boolean | undefined
}

/** A question whether value sets contain a code. */
export interface MembershipQuestion {
  readonly scope: TerminologyScope
  readonly code: CodeInQuestion
  readonly options: MembershipOptions
  /** Tests filters: a result of `filterAnswers`, or `holdsAtOnce` after `preparedFilters`. */
  readonly holds: FilterTest
  /** Filled with the value sets that are searched. */
  readonly reached?: Set<ValueSetPlan> | undefined
}

/**
 * Decides whether a code is in a value set, without listing it. A value set that is imported on several paths is searched once.
 * Takes a few steps for each include and exclude.
 *
 * @throws {OperationError} `not-supported` for an unknown filter.
 */
export function membershipIn(question: MembershipQuestion, plan: ValueSetPlan): Membership {
  const asking = { ...question, done: new Map(), memo: versionMemo() }
  return question.code.version === undefined ? inSomeVersion(asking, plan) : asked(asking, plan)
}

interface Asking extends MembershipQuestion, VersionQuestion {
  /** Answers by options of the question and by value set. */
  readonly done: Map<string, Map<ValueSetPlan, Membership>>
}

/** Searches one version after the other, the newest first. A version in which the code has the given display is preferred. */
function inSomeVersion(asking: Asking, plan: ValueSetPlan): Membership {
  if (!isVersioned(asking, plan)) return asked({ ...asking, only: undefined }, plan)
  const answers: Membership[] = []
  for (const only of versionsIn(asking, plan)) {
    const answer = asked({ ...asking, only }, plan)
    answers.push(answer)
    if (answer.state === 'in' && hasDisplay(answer, asking.code)) break
  }
  return answers.find((one) => one.state === 'in' && hasDisplay(one, asking.code)) ?? decisiveOf(answers) ?? OUT
}

function hasDisplay({ provider, concept, listed }: Membership, { display }: CodeInQuestion): boolean {
  if (display === undefined) return true
  return provider !== undefined && concept !== undefined && conceptTexts(provider, concept, listed).some(({ value }) => value === display)
}

function asked(asking: Asking, plan: ValueSetPlan): Membership {
  const done = answersOf(asking)
  const known = done.get(plan)
  if (known !== undefined) return known
  const { code, scope, reached } = asking
  reached?.add(plan)
  const tried = triedIncludes(asking, plan)
  const answers = tried.map(({ answer }) => answer)
  const decisive =
    answers.find((one) => isMeant(one, asking)) ??
    answers.find(({ state }) => state === 'in') ??
    tried.find(({ included }) => included)?.answer ??
    decisiveOf(answers) ??
    OUT
  const result = decisive.state === 'in' ? decisive : { ...decisive, choices: choicesOf(answers) }
  done.set(plan, result)
  const { explain } = scope.ctx
  if (explain !== undefined) explainMember(explain, plan, { code, answer: result, included: tried.some(({ included }) => included) })
  return result
}

function answersOf({ done, only, excluding, options }: Asking): Map<ValueSetPlan, Membership> {
  const bars = `${options.activeOnly === true} ${options.abstract === false}`
  const way = `${excluding === true} ${bars} ${only === undefined ? '' : `|${only.version ?? ''}`}`
  const known = done.get(way) ?? new Map<ValueSetPlan, Membership>()
  done.set(way, known)
  return known
}

/** The answer of one include, after the excludes. */
interface TriedInclude {
  readonly included: boolean
  readonly answer: Membership
}

function triedIncludes(asking: Asking, plan: ValueSetPlan): readonly TriedInclude[] {
  const parts = includesFor(asking, plan)
  const { explain } = asking.scope.ctx
  if (explain !== undefined) explainPassedOver(explain, plan, parts)
  const excluded = new Set<Membership['provider']>()
  const tried: TriedInclude[] = []
  for (const part of parts) {
    const one = tryInclude(asking, plan, { part, excluded })
    tried.push(one)
    if (isMeant(one.answer, asking)) break
  }
  return tried
}

interface Trial {
  readonly part: PartPlan
  /** Versions in which the code is known to be excluded. */
  readonly excluded: Set<Membership['provider']>
}

function tryInclude(asking: Asking, plan: ValueSetPlan, { part, excluded }: Trial): TriedInclude {
  const { scope, code, options } = asking
  const answer = inPart(asking, part, { ...options, activeOnly: plan.valueSet.activeOnly || options.activeOnly === true })
  if (scope.ctx.explain !== undefined) explainPart(scope.ctx.explain, { scope, part, code, answer, holds: asking.holds })
  if (answer.state !== 'in') return { included: false, answer }
  const rest: Membership = excluded.has(answer.provider) ? { ...answer, state: 'out' } : afterExcludes(asking, plan, answer)
  if (rest.state === 'out') excluded.add(answer.provider)
  return { included: true, answer: rest }
}

/** True for a member in the version that the code states, if any. */
function isMeant({ state, provider }: Membership, { code, only }: Asking): boolean {
  return state === 'in' && (only !== undefined || code.version === undefined || isOfVersion(code.version, provider?.header.version))
}

function decisiveOf(answers: readonly Membership[]): Membership | undefined {
  return (
    answers.find(({ state }) => state === 'in') ??
    answers.find(({ state }) => state === 'unknown') ??
    answers.find(({ barred }) => barred !== undefined) ??
    answers.find(({ concept }) => concept !== undefined) ??
    answers.find(({ provider }) => provider !== undefined)
  )
}

/** Tests all conditions of an include or exclude. The first decides the version; for the others, an equal code of any version is enough. */
function inPart(asking: Asking, part: PartPlan, bars: MembershipOptions): Membership {
  if (part.missing.length > 0) return { state: 'unknown', choices: [] }
  const [first, ...others] = part.imports
  const own = part.family === undefined && first !== undefined ? barredFrom(asked(asking, first), bars) : inSystem(asking, part, bars)
  if (own.state !== 'in' || first === undefined) return own
  // Only the deciding version matters for whether a code is inactive or abstract.
  const unbarred = { ...asking, options: { trustLists: asking.options.trustLists } }
  const more: Membership[] = []
  for (const imported of part.family === undefined ? others : part.imports) {
    more.push(inSomeVersion(unbarred, imported))
  }
  const missed = more.find(({ state }) => state !== 'in')
  return missed === undefined ? own : { ...missed, choices: choicesOf([own, ...more]) }
}

/** Applies the options of this value set to an imported code. */
function barredFrom(answer: Membership, bars: MembershipOptions): Membership {
  const { provider, concept } = answer
  const barred = provider === undefined || concept === undefined ? undefined : barrier(provider.status(concept), bars)
  return barred === undefined ? answer : { ...answer, state: 'out', barred }
}

/** Returns each choice once, because the choices of a reused answer would double at every level of imports. */
function choicesOf(tried: readonly Membership[]): readonly SystemChoice[] {
  if (tried.length === 1) return tried[0]?.choices ?? []
  return [...new Set(tried.flatMap(({ choices }) => choices))]
}

const OUT: Membership = { state: 'out', choices: [] }

function inSystem(asking: Asking, part: PartPlan, bars: MembershipOptions): Membership {
  const choice = choiceFor(asking, part)
  if (choice === undefined || (asking.only !== undefined && versionOf(choice) !== asking.only.version)) return OUT
  const { provider } = choice
  if (provider === undefined) return { state: withoutSystem(part, asking.code, bars), choices: [choice] }
  const concept = provider.find(asking.code.code)
  const tried = { provider, choices: [choice] }
  if (concept === undefined) return { ...tried, state: mayHave(provider, part, asking.code) ? 'in' : 'out' }
  return { ...tried, concept, ...selected(provider, part, { concept, bars, holds: asking.holds }) }
}

interface Selected {
  readonly concept: number
  readonly bars: MembershipOptions
  readonly holds: FilterTest
}

function selected(provider: CodeSystemProvider, part: PartPlan, { concept, bars, holds }: Selected): Omit<Membership, 'choices'> {
  const listed = listedConcept(provider, part, concept)
  const found = listed === undefined ? {} : { listed, owner: nameOf(part.valueSet) }
  const isNamed = part.definition.concepts === undefined ? takesMade(provider, part, concept) : listed !== undefined
  if (!isNamed || !meetsFilters(provider, part, { concept, holds })) return { ...found, state: 'out' }
  const barred = barrier(provider.status(concept), bars)
  if (barred !== undefined) return { ...found, state: 'out', barred }
  const knowingly = part.filters.some((filter) => provider.takesInactive?.(filter) === true)
  return { ...found, state: 'in', ...(knowingly && { knowingly }) }
}

/** False for a code formed by a grammar that the filters do not accept. */
function takesMade({ grammar }: CodeSystemProvider, { filters }: PartPlan, concept: number): boolean {
  return grammar?.isMade(concept) !== true || grammar.admits(filters)
}

/** Decides without the code system, as far as possible. */
function withoutSystem(
  { definition, filters }: PartPlan,
  { code }: CodeInQuestion,
  { trustLists }: MembershipOptions,
): Membership['state'] {
  if (trustLists !== true || definition.concepts === undefined || filters.length > 0) return 'unknown'
  return definition.listed(code) === undefined ? 'out' : 'in'
}

/** True if an unknown code counts: one of a fragment may exist, so it is in a set of all its codes, and in a list that names it. */
function mayHave({ header }: CodeSystemProvider, { definition }: PartPlan, { code }: CodeInQuestion): boolean {
  if (header.complete || definition.filters.length > 0) return false
  if (definition.concepts === undefined || definition.listed(code) !== undefined) return true
  return !header.caseSensitive && definition.concepts.some((listed) => listed.code.toLowerCase() === code.toLowerCase())
}

function barrier(status: ConceptStatus, { activeOnly, abstract }: MembershipOptions): Membership['barred'] {
  if (status.abstract && abstract === false) return 'abstract'
  return status.inactive && activeOnly === true ? 'inactive' : undefined
}

function afterExcludes(asking: Asking, plan: ValueSetPlan, included: Membership): Membership {
  for (const part of plan.excludes) {
    const state = exclusion(asking, plan, { part, included })
    if (state !== 'out') return { ...included, state: state === 'in' ? 'out' : 'unknown' }
  }
  return included
}

interface Exclusion {
  readonly part: PartPlan
  readonly included: Membership
}

function exclusion(asking: Asking, plan: ValueSetPlan, { part, included }: Exclusion): Membership['state'] {
  const options = { trustLists: asking.options.trustLists }
  const answers: Membership[] = []
  for (const only of versionsToExclude(asking, plan, { part, included })) {
    const own = only !== undefined && namesCodesOfAnyVersion(plan, part) ? inVersion(part, only) : part
    answers.push(inPart({ ...asking, options, excluding: true, only }, own, options))
  }
  const answer = decisiveOf(answers) ?? OUT
  const { scope, code } = asking
  if (scope.ctx.explain !== undefined) explainPart(scope.ctx.explain, { scope, part, code, answer, holds: asking.holds })
  return answer.state
}

function versionsToExclude(asking: Asking, plan: ValueSetPlan, { part, included }: Exclusion): readonly (VersionOnly | undefined)[] {
  if (!isVersioned(asking, plan) || included.provider === undefined) return [undefined]
  return excludedVersions(asking, plan, { part, included: { version: included.provider.header.version } })
}

function inVersion(part: PartPlan, { version }: VersionOnly): PartPlan {
  return version === undefined ? part : { ...part, definition: { ...part.definition, version } }
}

/** A question for a code in the versions of its system. */
interface VersionQuestion {
  readonly scope: TerminologyScope
  readonly code: CodeInQuestion
  /** When set, only this version of the code's system counts. */
  readonly only?: VersionOnly | undefined
  /** True for excludes, which apply to inactive and abstract codes whatever the request says. */
  readonly excluding?: boolean
  readonly memo: VersionMemo
}

/** The version in which a code counts. */
interface VersionOnly {
  /** `undefined` for a code system without version. */
  readonly version: string | undefined
}

/** Results on versions for one question. Kept, because they are needed for each version and finding them takes time for each part of the value set. */
interface VersionMemo {
  readonly versions: Map<ValueSetPlan, readonly VersionOnly[]>
  /** Includes by the version of the code, which influences the choice. */
  readonly includes: Map<string | undefined, Map<ValueSetPlan, VersionedIncludes>>
}

/** Creates an empty result. */
function versionMemo(): VersionMemo {
  return { versions: new Map(), includes: new Map() }
}

/** True if the value set names more than one version of the code's system. */
function isVersioned({ code }: VersionQuestion, { systems }: ValueSetPlan): boolean {
  return (systems.get(code.system)?.versions.size ?? 0) > 1
}

/** Returns the versions of the code's system that includes and excludes resolve to, the newest first; an unknown version as stated. */
function versionsIn({ scope, code, memo }: VersionQuestion, plan: ValueSetPlan): readonly VersionOnly[] {
  const known = memo.versions.get(plan)
  if (known !== undefined) return known
  const { family, versions = [] } = plan.systems.get(code.system) ?? {}
  if (family === undefined) return []
  const found = new Set(Array.from(versions, (include) => versionOf(chooseVersion(family, { include, rules: scope.rules }))))
  const sorted = Array.from(found, (version) => ({ version })).toSorted((a, b) => compareVersions(b.version, a.version))
  memo.versions.set(plan, sorted)
  return sorted
}

/** Returns the version that an include resolves to; if it is unknown, the stated one. */
function versionOf({ provider, wished }: SystemChoice): string | undefined {
  return provider === undefined ? wished : provider.header.version
}

/**
 * Returns the version that an include or exclude resolves to, if it is of the code's system. Where versions count, the code's version influences only
 * the choice for includes: an exclude without version means the newest, as in expansions.
 */
function choiceFor(asked: VersionQuestion, { family, definition }: PartPlan): SystemChoice | undefined {
  const { scope, code } = asked
  if (family?.url !== code.system) return undefined
  return chooseVersion(family, { include: definition.version, value: choosingVersion(asked), rules: scope.rules })
}

function choosingVersion({ code, only, excluding }: VersionQuestion): string | undefined {
  return excluding === true && only !== undefined ? undefined : code.version
}

/** Returns the versions in which an exclude removes the code from the includes; `undefined` where there is only one. */
function excludedVersions(
  asked: VersionQuestion,
  plan: ValueSetPlan,
  { part, included }: { readonly part: PartPlan; readonly included: VersionOnly },
): readonly (VersionOnly | undefined)[] {
  if (keepsVersions(plan, part)) return [included]
  if (part.family === undefined || namesCodesOfAnyVersion(plan, part)) return versionsIn(asked, plan)
  const choice = choiceFor({ ...asked, excluding: true, only: included }, part)
  return [choice === undefined ? undefined : { version: versionOf(choice) }]
}

/** The includes of a value set that matter for a code. */
interface VersionedIncludes {
  /** Includes of the code's system, by the version that they resolve to. */
  readonly byVersion: ReadonlyMap<string | undefined, readonly IndexedInclude[]>
  readonly others: readonly IndexedInclude[]
}

interface IndexedInclude {
  readonly index: number
  readonly part: PartPlan
}

/** Returns the includes to search: if one resolves to the requested version of the code's system, without those of other versions. */
function includesFor(asked: VersionQuestion, plan: ValueSetPlan): readonly PartPlan[] {
  const wanted = asked.only ?? (asked.code.version === undefined ? undefined : { version: asked.code.version })
  if (wanted === undefined) return plan.includes
  const { byVersion, others } = versionedIncludes(asked, plan)
  const named = [...byVersion].filter(([version]) => isOfVersion(wanted.version, version))
  if (asked.only === undefined && named.length === 0) return plan.includes
  const found = [...others, ...named.flatMap(([, parts]) => parts)]
  return found.sort((a, b) => a.index - b.index).map(({ part }) => part)
}

function versionedIncludes(asked: VersionQuestion, plan: ValueSetPlan): VersionedIncludes {
  const chosenBy = choosingVersion(asked)
  const made = asked.memo.includes.get(chosenBy) ?? new Map<ValueSetPlan, VersionedIncludes>()
  asked.memo.includes.set(chosenBy, made)
  const known = made.get(plan)
  if (known !== undefined) return known
  const others: IndexedInclude[] = []
  const own: (IndexedInclude & VersionOnly)[] = []
  for (const [index, part] of plan.includes.entries()) {
    const choice = choiceFor(asked, part)
    if (choice !== undefined) own.push({ index, part, version: versionOf(choice) })
    else if (canMatter(asked, part)) others.push({ index, part })
  }
  const found = { byVersion: Map.groupBy(own, ({ version }) => version), others }
  made.set(plan, found)
  return found
}

/** True if an include can matter: one of another code system matters only if it has an unknown import, or for the explanation. */
function canMatter({ scope }: VersionQuestion, { family, missing }: PartPlan): boolean {
  return family === undefined || missing.length > 0 || scope.ctx.explain !== undefined
}
