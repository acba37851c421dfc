import { canonicalOf, type RequestDefinitions } from '../../content/index.js'
import { isAboutContent } from '../../errors/index.js'
import { objectsAt, stringAt, extensionAt, type JsonObject } from '../../json/index.js'
import {
  conceptTexts,
  holdsAtOnce,
  listedConcept,
  membershipIn,
  missingImports,
  statusNotes,
  withImports,
  type CodeSystemProvider,
  type ListedCode,
  type PlanInScope,
  type StatusNote,
  type ValueSetDefinition,
  type ValueSetPlan,
} from '../../terminology/index.js'
import { nearest } from '../../text/index.js'
import {
  codesOfSystem,
  outOfUse,
  type CodeList,
  type GivenCode,
  type Lacking,
  type OutOfUse,
  type StatedText,
  type Verdict,
} from '../run/definitions.js'
import { TYPE_URL } from '../run/element-rule.js'

/** A value set without codes contains no code. */
export function emptyList({ resource, canonical }: ValueSetDefinition): CodeList {
  return {
    canonical: canonical ?? '',
    title: titleOf(resource, canonical),
    has: () => 'out',
    lists: () => false,
    fit: () => 'out',
    notes: () => [],
    versions: () => ({ known: [], areStated: false }),
    missingVersions: () => [],
    lacking: () => [],
    displays: () => [],
    systemsOf: () => [],
    isOneList: false,
    outdated: () => undefined,
    outOfUse: () => undefined,
    isBarred: () => false,
    members: () => [],
    suggestions: () => [],
    lasts: () => true,
    restsOn: () => false,
  }
}

/** It is unknown whether a broken value set contains a code. Definitions of a request may repair it. */
export function brokenList(definition: ValueSetDefinition, problem: string): CodeList {
  return { ...emptyList(definition), problem, has: () => 'unknown', fit: () => 'questionable', restsOn: () => true }
}

function titleOf(resource: JsonObject, canonical: string | undefined): string {
  return stringAt(resource, 'title') ?? stringAt(resource, 'name') ?? canonical ?? ''
}

/** A value set that was found and can be evaluated. */
export interface FoundValueSet extends PlanInScope {
  /** The supplements in use: those that it and its imports require. */
  readonly supplements: readonly string[]
  /** Required supplements that could not be found. */
  readonly missing: readonly string[]
  /** The problem of a filter that cannot be used. */
  readonly problem: string | undefined
}

/** Creates the list of the codes of a value set. Answers about codes are kept. */
export function codeListOf(found: FoundValueSet): CodeList {
  const { plan, supplements, missing, problem } = found
  const { resource, canonical, activeOnly } = plan.valueSet
  const includes = includesOf(plan)
  const searched: Searched = { ...found, systems: [...new Set(includes.flatMap(({ family }) => family?.url ?? []))] }
  const families = [...plan.systems.values()].map(({ family }) => family)
  const codeSystems = [...families.map(({ url }) => url), ...[...supplements, ...missing].map((one) => canonicalOf(one).url)]
  const isMember = (code: GivenCode): boolean => verdictOf(searched, code) === 'in'
  const verdicts = keptByCode((code, system) => verdictOf(searched, { code, system }))
  const doubts = doubtsAbout(searched, verdicts)
  const suggestions = keptByCode((code, system) => suggestedCodes(plan, { code, system }, (other) => isMember({ system, code: other })))
  return {
    ...doubts,
    canonical: canonical ?? '',
    title: titleOf(resource, canonical),
    problem,
    has: (given) => (given.version === undefined ? verdicts(given.code, given.system) : verdictOf(searched, given)),
    lists: (code) =>
      includes.some((part) => listedIn(part, code) !== undefined && verdictIn(searched, part.family?.url ?? '', { code }) !== 'out'),
    isOneList: includes.filter(({ family }) => family !== undefined).length === 1,
    fit: keptByCode((code, system) => {
      const verdict = verdicts(code, system)
      const isUndecided = verdict === 'unknown' && (problem !== undefined || doubts.missingVersions(system).length > 0)
      if (isUndecided || isQuestionable(doubts, { code, system })) return 'questionable'
      return verdict === 'out' ? 'out' : 'fine'
    }),
    notes: notesIn(searched),
    versions: (system) => ({
      known: providersOf(plan, system).flatMap(({ header }) => header.version ?? []),
      areStated: partsOf(plan, system).every(({ definition }) => definition.version !== undefined),
    }),
    displays: ({ system, code }) => [
      ...partsOf(plan, system).flatMap((part) => listedDisplays(listedIn(part, code)?.concept)),
      ...(supplements.length === 0 ? [] : providersOf(plan, system).flatMap((provider) => supplementTexts(provider, code))),
    ],
    isBarred: (code) => activeOnly && isInactive(plan, code),
    members: () => membersOf(searched, isMember),
    suggestions: ({ code, system }) => suggestions(code, system),
    lasts: () => families.every((family) => family.lasts()),
    restsOn: (fromRequest) => isNamedIn(fromRequest, codeSystems, valueSetsOf(plan)),
  }
}

/** A value set with the urls of the code systems that it takes codes from. */
interface Searched extends FoundValueSet {
  readonly systems: readonly string[]
  /** Filled with the value sets that are searched. */
  readonly reached?: Set<ValueSetPlan>
}

type VerdictsByCode = (code: string, system: string | undefined) => Verdict

/** What may speak against a code, or leave it undecided. */
type Doubts = Pick<CodeList, 'lacking' | 'missingVersions' | 'outOfUse' | 'outdated' | 'systemsOf'>

function doubtsAbout(searched: Searched, verdicts: VerdictsByCode): Doubts {
  const { plan, systems } = searched
  const isMarked = hasOutdated(plan)
  const missing = versionsMissing(plan)
  const lackingFor = lackingIn(plan, searched.missing)
  const systemsWith = (code: string): readonly string[] => systems.filter((system) => verdictIn(searched, system, { code }) === 'in')
  return {
    lacking: ({ system, code }) => lackingFor(verdicts(code, system)),
    missingVersions: (system) => (system === undefined ? [...missing.values()].flat() : (missing.get(system) ?? [])),
    outdated: (code) => (isMarked ? outdatedIn(plan, code) : undefined),
    outOfUse: (code) => outOfUseIn(plan, { code, systems: systemsWith(code) }),
    systemsOf: (code) => (systems.length < 2 ? [] : systemsWith(code)),
  }
}

function isQuestionable({ lacking, outdated, systemsOf, outOfUse }: Doubts, given: GivenCode): boolean {
  if (lacking(given).length > 0 || outdated(given) !== undefined) return true
  return given.system === undefined && (systemsOf(given.code).length > 1 || outOfUse(given.code) !== undefined)
}

const KEPT_CODES = 1_000

/** Of the value sets that it imports, those out of use are noted that are searched before the code is found. */
function notesIn(searched: Searched): CodeList['notes'] {
  const { plan } = searched
  const notesFor = (system: string | undefined, counts: (other: ValueSetPlan) => boolean): readonly StatusNote[] =>
    statusNotes(plan, providersOf(plan, system), (other, status) => status !== 'draft' && status !== 'experimental' && counts(other))
  const hasImportsOutOfUse = notesFor(undefined, () => true).length > notesFor(undefined, () => false).length
  const find = keptByCode((code, system) => {
    const reached = hasImportsOutOfUse ? searchedFor(searched, { code, system }) : undefined
    return notesFor(system, (other) => reached?.has(other) === true)
  })
  return ({ code, system }) => find(code, system)
}

/** The value sets that are searched until the code is found. */
function searchedFor(searched: Searched, { code, system }: GivenCode): ReadonlySet<ValueSetPlan> {
  const reached = new Set<ValueSetPlan>()
  for (const one of system === undefined ? searched.systems : [system]) {
    if (verdictIn({ ...searched, reached }, one, { code }) === 'in') break
  }
  return reached
}

function isNamedIn(fromRequest: RequestDefinitions, codeSystems: readonly string[], valueSets: readonly string[]): boolean {
  return (
    codeSystems.some((url) => fromRequest.get('CodeSystem')?.has(url) === true) ||
    valueSets.some((url) => fromRequest.get('ValueSet')?.has(url) === true)
  )
}

/** What a value set lacks: missing supplements for any code, missing imports only if the code may be in them. */
function lackingIn(plan: ValueSetPlan, missing: readonly string[]): (verdict: Verdict) => readonly Lacking[] {
  const always = missing.map((canonical): Lacking => ({ kind: 'supplement', canonical }))
  const all = [...missingImports(plan).map((canonical): Lacking => ({ kind: 'value set', canonical })), ...always]
  return (verdict) => (verdict === 'unknown' ? all : always)
}

/**
 * Keeps results for codes without version in nested maps by system and code, which saves composing a key. A map that is emptied when full has cheaper
 * lookups than one that drops the oldest entry: bench `validate`.
 */
function keptByCode<T>(find: (code: string, system: string | undefined) => T): (code: string, system: string | undefined) => T {
  const bySystem = new Map<string | undefined, Map<string, T>>()
  let kept = 0
  return (code, system) => {
    const known = bySystem.get(system)?.get(code)
    if (known !== undefined) return known
    const found = find(code, system)
    if (++kept > KEPT_CODES) {
      bySystem.clear()
      kept = 1
    }
    const codes = bySystem.get(system) ?? new Map<string, T>()
    codes.set(code, found)
    bySystem.set(system, codes)
    return found
  }
}

/** The urls of the value set and of all that it imports, known or not. */
function valueSetsOf(plan: ValueSetPlan): readonly string[] {
  const canonicals = [...withImports(plan).map(({ valueSet }) => valueSet.canonical ?? ''), ...missingImports(plan)]
  return canonicals.map((canonical) => canonicalOf(canonical).url)
}

/** The missing versions by code system, for code systems of which other versions are known. */
function versionsMissing(plan: ValueSetPlan): ReadonlyMap<string, readonly string[]> {
  const lacking = includesOf(plan).flatMap(({ family, definition: { version } }) =>
    family === undefined || version === undefined || family.unknown || family.provider(version) !== undefined
      ? []
      : [{ url: family.url, version }],
  )
  const byUrl = Map.groupBy(lacking, ({ url }) => url)
  return new Map(Array.from(byUrl, ([url, group]) => [url, group.map(({ version }) => version)]))
}

function listedDisplays(concept: JsonObject | undefined): readonly StatedText[] {
  const designations = objectsAt(concept, 'designation').map((one) => stringAt(one, 'value'))
  return [stringAt(concept, 'display'), ...designations].filter((text) => text !== undefined).map((value) => ({ value }))
}

/** What the supplements in use add to the texts of a code. */
function supplementTexts(provider: CodeSystemProvider, code: string): readonly StatedText[] {
  const concept = provider.find(code)
  return concept === undefined ? [] : conceptTexts(provider, concept).filter(({ supplement }) => supplement !== undefined)
}

function best(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('in')) return 'in'
  return verdicts.includes('unknown') || verdicts.length === 0 ? 'unknown' : 'out'
}

/** A code without system may be of any of the value set's code systems. */
function verdictOf(searched: Searched, code: GivenCode): Verdict {
  if (code.system !== undefined) return verdictIn(searched, code.system, code)
  return best(searched.systems.map((system) => verdictIn(searched, system, code)))
}

function verdictIn({ scope, plan, reached }: Searched, system: string, given: GivenCode): Verdict {
  const code = { ...given, system }
  try {
    const { state } = membershipIn({ scope, code, options: {}, holds: holdsAtOnce, reached }, plan)
    return state === 'unknown' ? listedVerdict(plan, code) : state
  } catch (error) {
    if (isAboutContent(error)) return 'unknown'
    throw error
  }
}

/** If the code system has no content here, a value set that lists its codes one by one can still decide. */
function listedVerdict(plan: ValueSetPlan, { system, code }: GivenCode): Verdict {
  const parts = plan.includes.filter(({ family }) => family?.url === system)
  if (parts.length === 0 || plan.excludes.length > 0 || plan.includes.some(({ imports }) => imports.length > 0)) return 'unknown'
  if (parts.some(({ definition }) => definition.listed(code) !== undefined)) return 'in'
  if (plan.includes.some(({ missing }) => missing.length > 0)) return 'unknown'
  return parts.every(({ definition, filters }) => definition.concepts !== undefined && filters.length === 0) ? 'out' : 'unknown'
}

const SHORT_LIST = 6

/**
 * Codes of a value set that may be meant by a wrong one, the nearest first. When none is near and there are at most six, all.
 *
 * @param isMember Whether a code of the wrong code's system is in the value set.
 */
function suggestedCodes(plan: ValueSetPlan, { system, code }: GivenCode, isMember: (code: string) => boolean): readonly string[] {
  const codes = [...codesNamed(plan, system)]
  const near = nearest(code, codes).filter(isMember)
  return near.length > 0 || codes.length > SHORT_LIST ? near : codes.filter(isMember)
}

/** The members among the codes that the value set and its imports list, or that their short code systems have. */
function membersOf({ plan, systems }: Searched, isMember: (code: GivenCode) => boolean): readonly GivenCode[] {
  return systems.flatMap((system) => [...codesNamed(plan, system)].map((code) => ({ system, code })).filter(isMember))
}

/** The codes that the value set and its imports list, or that their short code systems have. */
function codesNamed(plan: ValueSetPlan, system: string | undefined): ReadonlySet<string> {
  const codes = new Set<string>()
  for (const { definition, family } of includesOf(plan)) {
    if (system !== undefined && family?.url !== system) continue
    const provider = definition.concepts === undefined ? family?.provider(definition.version) : undefined
    for (const code of definition.concepts?.map((listed) => listed.code) ?? codesOfSystem(provider)) codes.add(code)
  }
  return codes
}

/** The versions of a system that the value set takes codes from: those that it states, otherwise the newest. */
function providersOf(plan: ValueSetPlan, system: string | undefined): readonly CodeSystemProvider[] {
  return [...new Set(partsOf(plan, system).flatMap(({ family, definition }) => family?.provider(definition.version) ?? []))]
}

/** The includes of a value set and its imports. */
export function includesOf(plan: ValueSetPlan): ValueSetPlan['includes'] {
  return withImports(plan).flatMap(({ includes }) => includes)
}

/** Those of `includesOf` that take codes from a system. */
export function partsOf(plan: ValueSetPlan, system: string | undefined): ValueSetPlan['includes'] {
  return includesOf(plan).filter(({ family }) => family?.url === system)
}

/** Whether any listed concept is marked as outdated; in most value sets, none is. */
function hasOutdated(plan: ValueSetPlan): boolean {
  return includesOf(plan).some(({ definition }) => definition.concepts?.some(({ concept }) => outdatedOf(concept) !== undefined) === true)
}

/** How the value set marks a code as outdated; a code without system may be of any system. */
function outdatedIn(plan: ValueSetPlan, { system, code }: GivenCode): string | undefined {
  const includes = includesOf(plan)
  const own = system === undefined ? includes : includes.filter(({ family }) => family?.url === system)
  return own.flatMap((part) => outdatedOf(listedIn(part, code)?.concept) ?? [])[0]
}

/** The entry of a code in an include, found by the rule of its code system for upper and lower case. */
export function listedIn(part: ValueSetPlan['includes'][number], code: string): ListedCode | undefined {
  const { definition, family } = part
  const exact = definition.listed(code)
  if (exact !== undefined || definition.concepts === undefined) return exact
  const provider = family?.provider(definition.version)
  const concept = provider?.find(code)
  return provider === undefined || concept === undefined ? undefined : listedConcept(provider, part, concept)
}

/** Whether the code is inactive in a code system that the value set takes codes from. */
export function isInactive(plan: ValueSetPlan, { system, code }: GivenCode): boolean {
  return providersOf(plan, system).some((provider) => {
    const concept = provider.find(code)
    return concept !== undefined && provider.status(concept).inactive
  })
}

function outdatedOf(concept: JsonObject | undefined): string | undefined {
  if (extensionAt(concept, `${TYPE_URL}valueset-deprecated`)?.['valueBoolean'] === true) return 'deprecated'
  const status = stringAt(extensionAt(concept, `${TYPE_URL}structuredefinition-standards-status`), 'valueCode')
  return status === 'deprecated' || status === 'withdrawn' ? status : undefined
}

/** Why a code should not be used any more, according to the first of the code systems that has it. */
function outOfUseIn(plan: ValueSetPlan, { code, systems }: { code: string; systems: readonly string[] }): OutOfUse | undefined {
  for (const provider of systems.flatMap((system) => providersOf(plan, system))) {
    const concept = provider.find(code)
    if (concept !== undefined) return outOfUse(provider.status(concept))
  }
  return undefined
}
