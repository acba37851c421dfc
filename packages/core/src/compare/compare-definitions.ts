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
  codesText,
} from '../terminology/index.js'
import type { Pace } from '../context/index.js'
import type { Explain, ExplanationStep } from '../explain/index.js'
import { quoted } from '../errors/index.js'

/** When equal codes of different versions of a code system are different codes: if the system says so (`as-needed`, the default), always, or never. */
export type VersionPolicy = 'as-needed' | 'always' | 'never'

/**
 * Compares two value sets by their definitions, without listing all codes: equal includes in any order, lists of codes, whole code systems, branches of a
 * hierarchy.
 *
 * @returns `undefined` when the codes must be listed: for imports, excludes, lists together with filters, and filters over different versions of a code
 *   system.
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
  // Shares that are equal on both sides may be empty, which matters only if other shares differ.
  const isSure = shares.every(({ mine, others }) => !isAlike(mine, others) || hasCodes(mine))
  return isSure || (!sum.missing && !sum.extra) ? sum : undefined
}

const NOTHING: Overlap = overlapOf({ common: [], missing: [], extra: [] })

/** Options of the comparison. */
interface ComparedBy {
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

/** Returns the shares of both value sets in each code system that one of them names. */
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

/** The share of one code system that a value set includes. */
interface SystemShare {
  /** True if it includes all codes; `filters` and `codes` are empty then. */
  readonly isWhole: boolean
  /** The filters of each include with filters, by a text that is the same for the same filters in any order. */
  readonly filters: ReadonlyMap<string, readonly Filter[]>
  /** Listed codes, in the system's spelling. */
  readonly codes: ReadonlySet<string>
  /** The versions chosen for the includes; an empty text for a system without version. */
  readonly versions: ReadonlySet<string>
  /** Absent for an unknown system. */
  readonly provider?: CodeSystemProvider | undefined
}

/** Combines the includes of one code system. */
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

/** Number of codes that are processed in one step. */
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
  /** True if both value sets exclude inactive codes. */
  readonly activeOnly: boolean
}

/** True if versions matter: a filter may select different codes in another version. */
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

/** Decides where one side is empty: a whole code system is known to have codes, filters may select none. */
function oneSided(a: SystemShare, b: SystemShare): Overlap | undefined {
  const there = isNothing(a) ? b : a
  return there.isWhole ? { common: false, missing: there === a, extra: there === b } : undefined
}

/** Compares lists of codes, if all codes exist: a listed code that does not exist is not in the value set. */
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

/** Returns codes in alphabetical order, because definitions list them in any order. */
async function overlapOfCodes(pace: Pace, { codes: mine }: SystemShare, { codes: others }: SystemShare): Promise<Overlap> {
  const [common, missing] = await divided(pace, mine, others)
  const [, extra] = await divided(pace, others, mine)
  return overlapOf({ common: await sorted(pace, common), missing: await sorted(pace, missing), extra: await sorted(pace, extra) })
}

/** Divides codes into those that are also in the other list, and the rest. */
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

/** One branch contains the other, or they are disjoint; where concepts have several parents they may also overlap, which is not decided here. */
function overlapOfBranches(provider: CodeSystemProvider, mine: string, others: string): Overlap | undefined {
  const { hierarchy } = provider
  const [a, b] = [provider.find(mine), provider.find(others)]
  if (a === undefined || b === undefined) return undefined
  const [isAbove, isBelow] = [hierarchy.isWithin(b, a), hierarchy.isWithin(a, b)]
  if (isAbove || isBelow) return { common: true, missing: isAbove && !isBelow, extra: isBelow && !isAbove }
  const isApart = fleetingAnd(hierarchy.within(a), hierarchy.within(b)).count() === 0
  return isApart ? { common: false, missing: true, extra: true } : undefined
}

/** Returns the code of a single `is-a` filter, if the share consists of nothing else. */
function branchOf({ filters, codes, isWhole }: SystemShare): string | undefined {
  const [only, ...more] = filters.values()
  const [filter, ...others] = only ?? []
  if (isWhole || codes.size > 0 || more.length > 0 || others.length > 0) return undefined
  return filter?.op === 'is-a' && (filter.property === 'concept' || filter.property === 'code') ? filter.value : undefined
}

/** Whether two value sets share codes, and whether one has codes that the other lacks. */
export interface Overlap {
  /** True if there is a code that both have. */
  readonly common: boolean
  /** True if the first has a code that the second lacks. */
  readonly missing: boolean
  /** True if the second has a code that the first lacks. */
  readonly extra: boolean
  /** The codes themselves, where they were compared one by one. */
  readonly codes?: OverlapCodes
}

/** The codes of an overlap. */
export interface OverlapCodes {
  readonly common: readonly string[]
  readonly missing: readonly string[]
  readonly extra: readonly string[]
}

/** Relationship of a value set to a second one. */
export type Relationship = 'same' | 'subset' | 'superset' | 'overlapping' | 'disjoint' | 'empty' | 'indeterminate'

/** Returns the relationship for an overlap. */
export function relationshipOf({ common, missing, extra }: Overlap): Exclude<Relationship, 'indeterminate'> {
  if (!common) return missing || extra ? 'disjoint' : 'empty'
  if (missing && extra) return 'overlapping'
  if (missing) return 'superset'
  return extra ? 'subset' : 'same'
}

/** Joins the overlaps of two code systems, which have no code in common. Codes are present if both have them. */
function joined(a: Overlap, b: Overlap): Overlap {
  return {
    common: a.common || b.common,
    missing: a.missing || b.missing,
    extra: a.extra || b.extra,
    ...(a.codes !== undefined && b.codes !== undefined && { codes: joinedCodes(a.codes, b.codes) }),
  }
}

function joinedCodes(a: OverlapCodes, b: OverlapCodes): OverlapCodes {
  return { common: [...a.common, ...b.common], missing: [...a.missing, ...b.missing], extra: [...a.extra, ...b.extra] }
}

/** Creates an overlap from the codes of a comparison. */
export function overlapOf(codes: OverlapCodes): Overlap {
  return { common: codes.common.length > 0, missing: codes.missing.length > 0, extra: codes.extra.length > 0, codes }
}

const TAKES: Readonly<Record<Relationship, string>> = {
  same: 'both take the same codes',
  subset: 'the second takes more',
  superset: 'the first takes more',
  overlapping: 'they have codes in common, and each takes more',
  disjoint: 'they have no code in common',
  empty: 'neither takes a code',
  indeterminate: 'the definitions alone do not decide it',
}

/** Explains how two value sets relate in one code system. @param overlap `undefined` where the definitions do not decide it. */
function systemStep(system: string, overlap: Overlap | undefined): ExplanationStep {
  const relationship = overlap === undefined ? 'indeterminate' : relationshipOf(overlap)
  return {
    kind: 'code-system',
    outcome: outcomeOf(relationship),
    definition: system,
    text: `Of ${quoted(system)}: ${TAKES[relationship]}.`,
  }
}

/** Explains whether the definitions were enough to decide. */
export function definitionsStep(decided: boolean): ExplanationStep {
  const text = decided
    ? 'The definitions show how the value sets relate.'
    : 'The definitions alone do not decide it, so all codes are compared.'
  return { kind: 'value-set', outcome: decided ? 'holds' : 'unknown', text }
}

/** Explains the result of a comparison, with the numbers of codes where they were compared one by one. */
export function comparisonStep({ relationship, message, codes }: Compared): ExplanationStep {
  const [both, mine, others] = [codes?.common, codes?.missing, codes?.extra].map((list) => codesText(list?.length ?? 0))
  const counts = codes === undefined ? '' : `: ${both} in both, ${mine} in the first alone, ${others} in the second alone.`
  return { kind: 'value-set', outcome: outcomeOf(relationship), text: `${message}${counts}` }
}

interface Compared {
  readonly relationship: Relationship
  readonly message: string
  readonly codes?: OverlapCodes | undefined
}

function outcomeOf(relationship: Relationship): ExplanationStep['outcome'] {
  if (relationship === 'indeterminate') return 'unknown'
  return relationship === 'same' || relationship === 'empty' ? 'holds' : 'fails'
}
