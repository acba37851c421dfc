import { type Kept, canonicalOf, formatCanonical } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { sharedWork, type Work } from '../../work/index.js'
import type { CodeSystemProvider, ConceptSet, Filter, StandInValueSet, SystemHeader } from '../../code-system/index.js'
import { createMarks, type Marks } from '../memo.js'
import { scopeOver, type SystemInUse, type TerminologyScope } from '../scope.js'
import { hasRules, type VersionRules, NO_RULES } from '../versions.js'
import { chooseVersion, preparedChoice } from '../code-system/system-family.js'
import { conceptsFor } from '../filter/operators.js'
import { planWithSupplements } from './make-plan.js'
import type { Members } from './members.js'
import { namedValueSet, type LooseValueSetName, planOfExpansion, withContainedSystems } from './named-value-set.js'
import { missingImports, withImports, type ValueSetPlan, completePlan, type PartPlan } from './plan.js'
import { standIns } from './segment.js'
import { listedConcept } from './filter-tests.js'
import { nameOf, type ListedCode, type ValueSetDefinition } from './value-set.js'
import { stringAt, type JsonObject } from '../../json/index.js'
import { standardsStatusOf } from '../code-system/concept-index.js'

/** The value set that a request names, and the rules for it. */
export interface ValueSetQuestion extends LooseValueSetName {
  readonly rules?: VersionRules | undefined
  /** Canonicals of code systems whose codes are left out. */
  readonly excludeSystems?: readonly string[] | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
}

// Callers pass these functions, so that code that lists codes does not load the code that checks codes, and vice versa.
/** `membersOf`. */
type ListMembers = (scope: TerminologyScope, plan: ValueSetPlan) => Work<Members>
/** `decidingInclude`. */
type Decide = typeof decidingInclude

/** A value set with everything that it refers to resolved. */
export interface PlannedValueSet {
  readonly scope: TerminologyScope
  readonly plan: ValueSetPlan
  /** Returns its codes, computed at first use by `membersOf`. @throws {OperationError} as `membersOf`. */
  readonly members: (list: ListMembers) => Promise<Members>
  /** Returns the definitions that these members come from, collected once. */
  readonly used: (members: Members) => UsedDefinitions
  /** Returns the only include that decides about the codes of a system, found once; absent where options of the request also matter. */
  readonly deciding?: (decide: Decide, system: string) => DecidingInclude | undefined
}

/**
 * Resolves the value set that a request names. Results that depend only on definitions are kept until one of them changes.
 *
 * @param codes The codes in question, whose versions may be those that are used.
 * @throws {OperationError} as `namedValueSet`, `terminologyScope` and `makePlan`.
 */
export async function plannedValueSet(
  ctx: OperationContext,
  question: ValueSetQuestion,
  codes: readonly VersionedCode[] = [],
): Promise<PlannedValueSet> {
  const kept = await keptFor(ctx, question)
  const name = `value-set ${question.valueSetVersion ?? ''} ${question.url}`
  const known = usable(kept?.get(name))
  if (known !== undefined) return { ...planned(scopeOver(ctx, { kept }), known), deciding: known.deciding }
  const valueSet = await namedValueSet(ctx, question)
  const own = withContainedSystems(ctx, valueSet)
  const options = { supplements: question.useSupplement, asked: question.useSupplement, rules: question.rules }
  const stated = await planWithSupplements(own ?? ctx, valueSet, own === undefined ? { ...options, kept } : options)
  const { supplements } = stated
  const carried = await planOfExpansion(stated, { ...options, supplements })
  const { scope, plan } = carried ?? stated
  if (supplements.length > 0 && missingImports(plan).length === 0) scope.demandUse(await systemsInUse(scope, plan, codes))
  const made = keptPlan(scope, await withoutSystems(scope, plan, question.excludeSystems ?? []))
  if (supplements.length === 0 && own === undefined && carried === undefined) kept?.set(name, PLANS.mark(made))
  return planned(scope, made)
}

/** A code that may state a version of its system. */
interface VersionedCode {
  readonly system?: string | undefined
  readonly version?: string | undefined
}

/** Returns the versions of code systems that includes and excludes resolve to, also where a code states the version. */
async function systemsInUse(scope: TerminologyScope, plan: ValueSetPlan, codes: readonly VersionedCode[]): Promise<readonly SystemInUse[]> {
  const stated = Map.groupBy(codes, ({ system }) => system)
  const found: SystemInUse[] = []
  for (const [url, { family, versions }] of plan.systems) {
    const values = new Set([undefined, ...(stated.get(url) ?? []).map(({ version }) => version)])
    for (const include of versions) {
      for (const value of values) {
        await scope.pace.step()
        const { provider } = await preparedChoice(family, { include, value, rules: scope.rules })
        found.push(provider?.header ?? { url, unknown: true })
      }
    }
  }
  return found
}

/** Returns the kept results; `undefined` when options of the request also matter, or when an explanation is requested. */
function keptFor({ content, explain }: OperationContext, question: ValueSetQuestion): Kept | undefined | Promise<Kept> {
  return explain !== undefined || hasOwnRules(question) ? undefined : content.kept?.()
}

function hasOwnRules({ valueSet, rules, useSupplement = [], excludeSystems = [] }: ValueSetQuestion): boolean {
  return valueSet !== undefined || useSupplement.length > 0 || excludeSystems.length > 0 || (rules !== undefined && hasRules(rules))
}

interface KeptPlan {
  readonly plan: ValueSetPlan
  readonly members: (list: ListMembers) => Work<Members>
  readonly used: (members: Members) => UsedDefinitions
  /** Drops the unfinished list of members, which would otherwise stay in memory for every value set whose expansion fails. */
  readonly giveUp: () => void
  readonly deciding: (decide: Decide, system: string) => DecidingInclude | undefined
  /** False once a code system of the plan holds codes of a single request. */
  readonly lasts: () => boolean
}

function usable(kept: object | undefined): KeptPlan | undefined {
  return kept !== undefined && PLANS.has(kept) && kept.lasts() ? kept : undefined
}

const PLANS: Marks<KeptPlan> = createMarks()

function keptPlan(scope: TerminologyScope, plan: ValueSetPlan): KeptPlan {
  const families = [...plan.systems.values()].map(({ family }) => family)
  let members: (() => Work<Members>) | undefined
  let used: UsedDefinitions | undefined
  const includes = new Map<string, DecidingInclude | undefined>()
  return {
    plan,
    members: (list) => (members ??= sharedWork(() => list(scope, plan)))(),
    used: (found) => (used ??= usedDefinitions(plan, found)),
    giveUp: () => (members = undefined),
    deciding(decide, system) {
      if (!includes.has(system) && plan.systems.has(system)) includes.set(system, decide(plan, system))
      return includes.get(system)
    },
    lasts: () => families.every((family) => family.lasts()),
  }
}

function planned(scope: TerminologyScope, kept: KeptPlan): PlannedValueSet {
  const members = async (list: ListMembers): Promise<Members> => {
    try {
      return await scope.pace.run(kept.members(list))
    } catch (error) {
      kept.giveUp()
      throw error
    }
  }
  return { scope, plan: kept.plan, members, used: kept.used }
}

/**
 * Removes the codes of some code systems from a value set and its imports. The code systems may be unknown.
 *
 * @param excluded Canonicals of the code systems; without a version, all versions.
 */
async function withoutSystems(scope: TerminologyScope, plan: ValueSetPlan, excluded: readonly string[]): Promise<ValueSetPlan> {
  if (excluded.length === 0) return plan
  const named = versionsNamed(excluded)
  const made = new Map<ValueSetPlan, ValueSetPlan>()
  const isLeft = ({ family, definition }: PartPlan): boolean => {
    const versions = family === undefined ? undefined : named.get(family.url)
    if (family === undefined || versions === undefined) return true
    const { provider } = chooseVersion(family, { include: definition.version, rules: scope.rules })
    return !versions.has(undefined) && !versions.has(provider?.header.version)
  }
  const reduced = async (one: ValueSetPlan): Promise<ValueSetPlan> => {
    const known = made.get(one)
    if (known !== undefined) return known
    const includes: PartPlan[] = []
    for (const part of one.includes) {
      await scope.pace.step()
      if (!isLeft(part)) continue
      const imports: ValueSetPlan[] = []
      for (const other of part.imports) imports.push(await reduced(other))
      includes.push({ ...part, imports })
    }
    const result = await completePlan(scope.pace, { ...one, includes })
    made.set(one, result)
    return result
  }
  return reduced(plan)
}

/** Groups versions by url; `undefined` stands for a canonical without version. */
function versionsNamed(canonicals: readonly string[]): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const groups = Map.groupBy(canonicals.map(canonicalOf), ({ url }) => url)
  return new Map(Array.from(groups, ([url, group]) => [url, new Set(group.map(({ version }) => version))]))
}

/** The definitions that the codes of a value set come from, as canonicals, each once. */
export interface UsedDefinitions {
  readonly systems: readonly string[]
  /** Imported value sets. */
  readonly valueSets: readonly string[]
  readonly supplements: readonly string[]
  /** Code systems that are only known as fragments. */
  readonly fragments: readonly string[]
  /** Notes on definitions that are drafts, experimental, deprecated, withdrawn or retired. */
  readonly notes: readonly StatusNote[]
}

/** Collects the definitions that the members of a value set come from. */
function usedDefinitions(plan: ValueSetPlan, { systems, segments }: Members): UsedDefinitions {
  const providers = systems.flatMap(({ provider }) => provider ?? [])
  const imported = withImports(plan).filter((other) => other !== plan && !other.contained)
  const canonicalsOf = (found: typeof providers): readonly string[] => [
    ...new Set(found.map(({ header }) => formatCanonical(header.url, header.version))),
  ]
  return {
    systems: canonicalsOf(providers),
    valueSets: [...new Set(imported.flatMap(({ valueSet }) => valueSet.canonical ?? []))],
    supplements: [...new Set(providers.flatMap(({ supplements }) => supplements))],
    fragments: canonicalsOf(providers.filter(({ header }) => !header.complete)),
    notes: [...statusNotes(plan, providers), ...standInNotes(plan.valueSet, standIns(segments))],
  }
}

/** The only include that decides about the codes of a code system, with its version and filters resolved. */
export interface DecidingInclude {
  readonly provider: CodeSystemProvider
  /** Returns the entry of a concept in the include's list of codes. */
  readonly listed: (concept: number) => ListedCode | undefined
  /**
   * Returns whether list and filters accept the concept; also false where the decision takes long.
   *
   * @throws {OperationError} `not-supported` for an unknown filter.
   */
  readonly takes: (concept: number) => boolean
}

/**
 * Returns the only include that decides about the codes of a system, for requests without version rules; `undefined` where excludes,
 * imports or several includes matter, an import is unknown, or there is a status note, such as on a draft in use.
 */
export function decidingInclude(plan: ValueSetPlan, system: string): DecidingInclude | undefined {
  const [part, ...others] = plan.includes.filter(({ family }) => family === undefined || family.url === system)
  if (part?.family === undefined || others.length > 0 || part.imports.length > 0 || plan.excludes.length > 0) return undefined
  if (missingImports(plan).length > 0) return undefined
  const { provider } = chooseVersion(part.family, { include: part.definition.version, rules: NO_RULES })
  return provider === undefined || statusNotes(plan, [provider]).length > 0 ? undefined : includeOf(part, provider)
}

function includeOf(part: PartPlan, provider: CodeSystemProvider): DecidingInclude {
  const sets = new Map<Filter, ConceptSet>()
  const holds = (filter: Filter, concept: number): boolean => {
    const set = sets.get(filter) ?? atOnce(conceptsFor(provider, filter, nameOf(part.valueSet)))
    if (set === undefined) return false
    sets.set(filter, set)
    return set.asked === undefined ? set.has(concept) : atOnce(set.asked(concept)) === true
  }
  const isListing = part.definition.concepts !== undefined
  const listed = (concept: number): ListedCode | undefined => (isListing ? listedConcept(provider, part, concept) : undefined)
  return {
    provider,
    listed,
    takes: (concept) =>
      provider.grammar?.isMade(concept) !== true &&
      (!isListing || listed(concept) !== undefined) &&
      part.filters.every((filter) => holds(filter, concept)),
  }
}

/** Returns the result of work that ends with its first step; `undefined` for longer work. */
function atOnce<T>(work: Work<T>): T | undefined {
  const step = work.next()
  return step.done === true ? step.value : undefined
}

/** A note on a code system or value set whose use should be reconsidered. */
export interface StatusNote {
  readonly type: 'CodeSystem' | 'ValueSet'
  /** `url|version`. */
  readonly canonical: string
  readonly status: 'draft' | 'experimental' | 'deprecated' | 'withdrawn' | 'retired'
}

/** The status of a definition. */
interface Stated {
  readonly status: string
  readonly experimental: boolean
  readonly standardsStatus?: string | undefined
}

/**
 * Returns the notes on a value set and on the code systems and value sets that it uses, each once. A draft may use drafts, and an experimental
 * definition other experimental ones.
 *
 * @param counts Whether the status of an imported value set is to be noted.
 */
export function statusNotes(
  plan: ValueSetPlan,
  providers: readonly CodeSystemProvider[],
  counts: (other: ValueSetPlan, status: StatusNote['status']) => boolean = () => true,
): readonly StatusNote[] {
  const notes = withImports(plan).flatMap(({ valueSet, includes, excludes, imported }) => {
    const urls = new Set([...includes, ...excludes].flatMap(({ family }) => family?.url ?? []))
    const systems = providers.filter(({ header }) => urls.has(header.url))
    return [
      ...systems.flatMap(({ header }) => systemNote(header, valueSet)),
      ...[...imported].flatMap((other) => valueSetNote(other.valueSet, valueSet).filter(({ status }) => counts(other, status))),
    ]
  })
  const all = [...valueSetNote(plan.valueSet, plan.valueSet), ...notes]
  return [...new Map(all.map((one) => [`${one.status} ${one.type} ${one.canonical}`, one])).values()]
}

/** Returns the notes on value sets that represent systems whose codes cannot be listed. */
export function standInNotes(user: ValueSetDefinition, standIns: readonly StandInValueSet[]): readonly StatusNote[] {
  return standIns.flatMap((standIn) => valueSetNote(standIn, user))
}

/** Returns the notes on a code system. @param user Status of the definition that uses it. */
export function systemNotes(provider: CodeSystemProvider, user: Stated): readonly StatusNote[] {
  return noteOf(provider.header, user).map((status) => systemStatusNote(provider.header, status))
}

function systemNote(header: SystemHeader, user: ValueSetDefinition): readonly StatusNote[] {
  return noteOf(header, statedBy(user.resource)).map((status) => systemStatusNote(header, status))
}

function systemStatusNote(header: SystemHeader, status: StatusNote['status']): StatusNote {
  return { type: 'CodeSystem', canonical: formatCanonical(header.url, header.version), status }
}

function valueSetNote(valueSet: StandInValueSet, user: ValueSetDefinition): readonly StatusNote[] {
  return noteOf(statedBy(valueSet.resource), statedBy(user.resource)).map((status) => ({
    type: 'ValueSet',
    canonical: nameOf(valueSet),
    status,
  }))
}

function noteOf(used: Stated, user: Stated): readonly StatusNote['status'][] {
  if (used.standardsStatus === 'deprecated' || used.standardsStatus === 'withdrawn') return [used.standardsStatus]
  if (used.status === 'retired') return ['retired']
  if (used.experimental && !user.experimental) return ['experimental']
  return isDraft(used) && !isDraft(user) ? ['draft'] : []
}

function isDraft({ status, standardsStatus }: Stated): boolean {
  return status === 'draft' || standardsStatus === 'draft'
}

function statedBy(resource: JsonObject): Stated {
  return {
    status: stringAt(resource, 'status') ?? 'unknown',
    experimental: resource['experimental'] === true,
    standardsStatus: standardsStatusOf(resource),
  }
}
