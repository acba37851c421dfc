import {
  chooseVersion,
  fleetingAnd,
  sortedPlaces,
  writtenCode,
  type CodeSystemProvider,
  type PartPlan,
  type Filter,
  type ValueSetPlan,
  type VersionRules,
} from '../terminology/index.js'
import type { Pace } from '../context/index.js'
import type { Explain } from '../explain/index.js'
import { joined, overlapOf, systemStep, type Overlap } from './overlap.js'

/** When codes of different versions of a code system are different: where the system says so (the default), always, or never. */
export type VersionPolicy = 'as-needed' | 'always' | 'never'

/**
 * How two value sets overlap as far as their definitions show without listing codes: the same includes in any order, lists of codes, whole code
 * systems, branches of a hierarchy.
 *
 * @returns `undefined` when the codes must be listed: with imports, excludes, lists together with filters, and where filters are looked at in
 *   different versions of a code system.
 */
export async function compareDefinitions(a: ValueSetPlan, b: ValueSetPlan, by: ComparedBy): Promise<Overlap | undefined> {
  const { activeOnly } = a.valueSet
  if (isComposed(a) || isComposed(b) || activeOnly !== b.valueSet.activeOnly) return undefined
  const shares = await systemShares(a, b, by)
  const overlaps: (Overlap | undefined)[] = []
  for (const { system, mine, others } of shares) {
    const overlap = await compareShares(mine, others, { ...by, activeOnly })
    by.explain?.step(systemStep(system, overlap))
    overlaps.push(overlap)
  }
  const known = overlaps.filter((overlap) => overlap !== undefined)
  if (known.length < overlaps.length) return undefined
  const sum = known.reduce(joined, NOTHING)
  // What is equal on both sides may be nothing, which matters only beside what is not equal.
  const isSure = shares.every(({ mine, others }) => !isAlike(mine, others) || hasCodes(mine))
  return isSure || (!sum.missing && !sum.extra) ? sum : undefined
}

const NOTHING: Overlap = overlapOf({ common: [], missing: [], extra: [] })

/** By which rules value sets are compared. */
export interface ComparedBy {
  readonly pace: Pace
  readonly rules: VersionRules
  readonly policy: VersionPolicy
  readonly explain?: Explain | undefined
}

function isComposed({ includes, excludes }: ValueSetPlan): boolean {
  return excludes.length > 0 || includes.some(needsListing)
}

/** An include of value sets, or one with both a list and filters. */
function needsListing({ imports, missing, definition, filters }: PartPlan): boolean {
  return imports.length > 0 || missing.length > 0 || (definition.concepts !== undefined && filters.length > 0)
}

/** What both value sets take of each code system that one of them names. */
async function systemShares(a: ValueSetPlan, b: ValueSetPlan, by: ComparedBy): Promise<readonly SystemShares[]> {
  const [left, right] = [a, b].map(({ includes }) => Map.groupBy(includes, ({ definition }) => definition.system))
  const systems = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])
  const shares: SystemShares[] = []
  for (const system of systems) {
    const mine = await systemShare(left?.get(system) ?? [], by)
    const others = await systemShare(right?.get(system) ?? [], by)
    shares.push({ system: system ?? '', mine, others })
  }
  return shares
}

interface SystemShares {
  readonly system: string
  readonly mine: SystemShare
  readonly others: SystemShare
}

/** What a value set takes of one code system. */
interface SystemShare {
  /** True when it takes all codes; filters and codes are empty then. */
  readonly isWhole: boolean
  /** The filters of each include that has some, by a text that is equal for equal filters in any order. */
  readonly filters: ReadonlyMap<string, readonly Filter[]>
  /** Codes that are listed, as the system writes them. */
  readonly codes: ReadonlySet<string>
  /** The versions that are chosen for the includes; empty for a system without version. */
  readonly versions: ReadonlySet<string>
  /** Absent when the system is not known. */
  readonly provider?: CodeSystemProvider | undefined
}

/** Gathers the includes of one code system. */
async function systemShare(includes: readonly PartPlan[], { pace, rules }: ComparedBy): Promise<SystemShare> {
  const choices = includes.flatMap(({ family, definition }) =>
    family === undefined ? [] : [chooseVersion(family, { include: definition.version, rules })],
  )
  const isWhole = includes.some(({ definition, filters }) => definition.concepts === undefined && filters.length === 0)
  const filtered = isWhole ? [] : includes.filter(({ filters }) => filters.length > 0)
  const listed = isWhole ? [] : includes.filter(({ filters }) => filters.length === 0)
  return {
    isWhole,
    filters: new Map(filtered.map(({ filters }) => [textOf(filters), filters])),
    codes: await listedCodes(pace, listed, choices[0]?.provider),
    versions: new Set(choices.map(({ provider, wished }) => provider?.header.version ?? wished ?? '')),
    provider: choices[0]?.provider,
  }
}

async function listedCodes(
  pace: Pace,
  listed: readonly PartPlan[],
  provider: CodeSystemProvider | undefined,
): Promise<ReadonlySet<string>> {
  const codes = new Set<string>()
  for (const { definition } of listed) {
    for (const { code } of definition.concepts ?? []) {
      if (codes.size % STEPS === 0) await pace.step()
      codes.add(provider?.header.caseSensitive === false ? writtenCode(provider, code) : code)
    }
  }
  return codes
}

/** Codes that are looked at in one go. */
const STEPS = 256

function textOf(filters: readonly Filter[]): string {
  return JSON.stringify(filters.map(({ property, op, value }) => JSON.stringify([property, op, value])).toSorted())
}

async function compareShares(a: SystemShare, b: SystemShare, { pace, policy, activeOnly }: ComparedHow): Promise<Overlap | undefined> {
  if (a.versions.union(b.versions).size > 1 && (policy === 'always' || dependsOnVersion(a, b))) return undefined
  if (isAlike(a, b)) return hasOnlyCodes(a) ? overlapOfCodes(pace, a, b) : { common: true, missing: false, extra: false }
  if (activeOnly) return undefined
  if (hasOnlyCodes(a) && hasOnlyCodes(b)) return compareLists(pace, a, b)
  return isNothing(a) || isNothing(b) ? oneSided(a, b) : compareBranches(a, b)
}

interface ComparedHow extends ComparedBy {
  /** True when neither value set takes inactive codes. */
  readonly activeOnly: boolean
}

/** A filter may take other codes in another version. */
function dependsOnVersion(a: SystemShare, b: SystemShare): boolean {
  return [a, b].some(({ filters, provider }) => filters.size > 0 || provider?.header.versionNeeded === true)
}

function isAlike(a: SystemShare, b: SystemShare): boolean {
  const filters = new Set(a.filters.keys()).symmetricDifference(new Set(b.filters.keys()))
  return a.isWhole === b.isWhole && filters.size === 0 && a.codes.size === b.codes.size && a.codes.isSubsetOf(b.codes)
}

function isNothing({ isWhole, filters, codes }: SystemShare): boolean {
  return !isWhole && filters.size === 0 && codes.size === 0
}

function hasOnlyCodes({ isWhole, filters }: SystemShare): boolean {
  return !isWhole && filters.size === 0
}

function hasCodes({ isWhole, codes, provider }: SystemShare): boolean {
  return isWhole || codes.values().some((code) => provider?.find(code) !== undefined)
}

/** A whole code system has codes; of filters that is not known. */
function oneSided(a: SystemShare, b: SystemShare): Overlap | undefined {
  const there = isNothing(a) ? b : a
  return there.isWhole ? { common: false, missing: there === a, extra: there === b } : undefined
}

/** A list may name codes that do not exist, which the value set does not have then. */
async function compareLists(pace: Pace, a: SystemShare, b: SystemShare): Promise<Overlap | undefined> {
  return (await areKnown(pace, a)) && (await areKnown(pace, b)) ? overlapOfCodes(pace, a, b) : undefined
}

async function areKnown(pace: Pace, { provider, codes }: SystemShare): Promise<boolean> {
  let step = 0
  for (const code of codes) {
    if (step++ % STEPS === 0) await pace.step()
    if (provider?.find(code) === undefined) return false
  }
  return true
}

/** Codes are in alphabetical order, since those of a definition may stand in any. */
async function overlapOfCodes(pace: Pace, { codes: mine }: SystemShare, { codes: others }: SystemShare): Promise<Overlap> {
  const [common, missing] = await divided(pace, mine, others)
  const [, extra] = await divided(pace, others, mine)
  return overlapOf({ common: await sorted(pace, common), missing: await sorted(pace, missing), extra: await sorted(pace, extra) })
}

/** The codes that another list has, too, and those that it does not have. */
async function divided(
  pace: Pace,
  codes: ReadonlySet<string>,
  others: ReadonlySet<string>,
): Promise<readonly [shared: string[], own: string[]]> {
  const [shared, own]: [string[], string[]] = [[], []]
  let step = 0
  for (const code of codes) {
    if (step++ % STEPS === 0) await pace.step()
    ;(others.has(code) ? shared : own).push(code)
  }
  return [shared, own]
}

async function sorted(pace: Pace, codes: readonly string[]): Promise<readonly string[]> {
  return Array.from(await pace.run(sortedPlaces(codes)), (place) => codes[place] ?? '')
}

function compareBranches(a: SystemShare, b: SystemShare): Overlap | undefined {
  const [mine, others] = [branchOf(a), branchOf(b)]
  const { provider } = a
  return mine === undefined || others === undefined || provider === undefined ? undefined : overlapOfBranches(provider, mine, others)
}

/** Of two branches one is inside the other or they are apart; where concepts have several parents they may also overlap. */
function overlapOfBranches(provider: CodeSystemProvider, mine: string, others: string): Overlap | undefined {
  const { hierarchy } = provider
  const [a, b] = [provider.find(mine), provider.find(others)]
  if (a === undefined || b === undefined) return undefined
  const [isAbove, isBelow] = [hierarchy.isWithin(b, a), hierarchy.isWithin(a, b)]
  if (isAbove || isBelow) return { common: true, missing: isAbove && !isBelow, extra: isBelow && !isAbove }
  const isApart = fleetingAnd(hierarchy.within(a), hierarchy.within(b)).count() === 0
  return isApart ? { common: false, missing: true, extra: true } : undefined
}

/** The code of the one `is-a` filter that is all there is. */
function branchOf({ filters, codes, isWhole }: SystemShare): string | undefined {
  const [only, ...more] = filters.values()
  const [filter, ...others] = only ?? []
  if (isWhole || codes.size > 0 || more.length > 0 || others.length > 0) return undefined
  return filter?.op === 'is-a' && (filter.property === 'concept' || filter.property === 'code') ? filter.value : undefined
}
