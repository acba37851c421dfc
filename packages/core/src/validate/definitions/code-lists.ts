import { isImported } from '../../code-system/index.js'
import { canonicalOf, type Definition, type RequestDefinitions } from '../../content/index.js'
import { createPace, type OperationContext } from '../../context/index.js'
import { isAboutContent } from '../../errors/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import {
  definedValueSet,
  demandedSupplements,
  findValueSet,
  makePlan,
  holdsAtOnce,
  membershipIn,
  missingImports,
  preparedFilters,
  readValueSet,
  statusNotes,
  terminologyScope,
  withImports,
  type StatusNote,
  type TerminologyScope,
  type ValueSetDefinition,
  type ValueSetPlan,
} from '../../terminology/index.js'
import { nearest } from '../../text/index.js'
import {
  codesOfSystem,
  type CodeDefinitions,
  type CodeList,
  type GivenCode,
  type Lacking,
  type OutOfUse,
  type Verdict,
} from '../run/definitions.js'
import { answers, keptOrFetched, type Questions } from './answers.js'
import { hasOutdated, isInactive, listedIn, outdatedIn, outOfUseIn, partsOf, providersOf } from './code-status.js'
import { lastingContext, type KeptAnswers } from './kept-answers.js'
import { specificationOf } from './specification.js'

/** Looks up value sets and code systems with the terminology engine. */
export function codeFinder(ctx: OperationContext, questions: Questions, kept: KeptAnswers): CodeDefinitions {
  const { valueSets } = specificationOf(ctx)
  const opened = lazily(() => terminologyScope(kept.kept === undefined ? ctx : lastingContext(ctx), { kept: kept.kept }))
  const listOf = async (definition: ValueSetDefinition): Promise<CodeList> => {
    if (isWithoutCodes(definition)) return emptyList(definition)
    const scope = await opened()
    try {
      const plan = await makePlan(scope, definition)
      const problem = await preparedFilters(createPace(ctx), plan, scope.rules)
      return codeListOf(scope, { plan, supplements: await missingSupplements(ctx, definition), problem: problem?.message })
    } catch (error) {
      if (!isAboutContent(error)) throw error
      const { message } = error
      const isCircle = error.detail.messageId === 'VALUESET_CIRCULAR_REFERENCE'
      return { ...brokenList(definition, message), ...(isCircle && { circle: message }) }
    }
  }
  const find = async (canonical: string): Promise<CodeList | undefined> => {
    const definition = (await findValueSet(ctx, canonical)) ?? (await findUnstamped(ctx, canonical))
    if (definition === undefined) return undefined
    return listOf(definedValueSet(ctx.cache, definition))
  }
  const fetchBase = answers(questions, async (canonical) => {
    const list = await find(canonical)
    valueSets.set(canonical, list)
    return list
  })
  return {
    valueSet: keptOrFetched(questions, kept.valueSets, find),
    baseValueSet: (canonical) => valueSets.get(canonical) ?? (valueSets.has(canonical) ? undefined : fetchBase(canonical)),
    givenValueSet: answers(questions, (resource: JsonObject) => listOf(readValueSet(resource))),
    codeSystem: keptOrFetched(questions, kept.codeSystems, async (canonical) => {
      const { url, version } = canonicalOf(canonical)
      const family = await (await opened()).family(url)
      await family.prepare(version)
      return family
    }),
    filterProblem: (url, filter) =>
      ctx.codeSystems
        ?.filter(isImported)
        .find((one) => one.url === url)
        ?.filterProblem?.(filter),
  }
}

/** R4 puts its own version on canonicals of terminology.hl7.org, whose definitions have versions of their own. */
async function findUnstamped(ctx: OperationContext, canonical: string): Promise<Definition | undefined> {
  return STAMPED.test(canonical) ? findValueSet(ctx, canonicalOf(canonical).url) : undefined
}

const STAMPED = /^http:\/\/terminology\.hl7\.org\/ValueSet\/.+\|4\.0\.1$/

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** The supplements that a value set requires and that could not be found. */
async function missingSupplements({ content }: OperationContext, { resource }: ValueSetDefinition): Promise<readonly string[]> {
  const missing: string[] = []
  for (const canonical of demandedSupplements(resource)) {
    const { url, version } = canonicalOf(canonical)
    const found = await content.resolve('CodeSystem', url, version)
    if (found?.resource['content'] !== 'supplement') missing.push(canonical)
  }
  return missing
}

/** True for a value set that does not define its codes: it includes neither a code system nor another value set, and has no expansion. */
function isWithoutCodes({ includes }: ValueSetDefinition): boolean {
  return includes.every(({ system, imports }) => system === undefined && imports.length === 0)
}

/** A value set without codes contains no code. */
function emptyList({ resource, canonical }: ValueSetDefinition): CodeList {
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
function brokenList(definition: ValueSetDefinition, problem: string): CodeList {
  return { ...emptyList(definition), problem, has: () => 'unknown', fit: () => 'questionable', restsOn: () => true }
}

function titleOf(resource: JsonObject, canonical: string | undefined): string {
  return stringAt(resource, 'title') ?? stringAt(resource, 'name') ?? canonical ?? ''
}

const KEPT_CODES = 1_000
const KEPT_NOTES = 50

/** A value set, with the missing ones of the supplements that it requires, and the problem of a filter that cannot be used. */
interface Listed {
  readonly plan: ValueSetPlan
  readonly supplements: readonly string[]
  readonly problem: string | undefined
}

function codeListOf(scope: TerminologyScope, { plan, supplements, problem }: Listed): CodeList {
  const includes = withImports(plan).flatMap((one) => one.includes)
  const systems = new Set(includes.flatMap(({ family }) => family?.url ?? []))
  const { resource, canonical } = plan.valueSet
  const inSystem = (system: string, code: GivenCode): Verdict => verdictOf(scope, plan, { ...code, system })
  const find = (code: GivenCode): Verdict =>
    code.system === undefined ? best([...systems].map((system) => inSystem(system, code))) : inSystem(code.system, code)
  const families = [...plan.systems.values()].map(({ family }) => family)
  const codeSystems = [...families.map(({ url }) => url), ...supplements.map((canonical) => canonicalOf(canonical).url)]
  const isMarked = hasOutdated(plan)
  const verdicts = keptByCode((code, system) => find({ code, system }))
  const systemsOf = (code: string): readonly string[] =>
    systems.size < 2 ? [] : [...systems].filter((system) => inSystem(system, { code }) === 'in')
  const outdated = (code: GivenCode): string | undefined => (isMarked ? outdatedIn(plan, code) : undefined)
  const outOfUse = (code: string): OutOfUse | undefined =>
    outOfUseIn(plan, { code, systems: [...systems].filter((system) => inSystem(system, { code }) === 'in') })
  const missing = versionsMissing(plan)
  const missingVersions = (system: string | undefined): readonly string[] =>
    system === undefined ? [...missing.values()].flat() : (missing.get(system) ?? [])
  const lackingFor = lackingIn(plan, supplements)
  const lacking = ({ system, code }: GivenCode): readonly Lacking[] => lackingFor(verdicts(code, system))
  const isQuestionable = (code: string, system: string | undefined): boolean =>
    lacking({ code, system }).length > 0 ||
    outdated({ code, system }) !== undefined ||
    (system === undefined && (systemsOf(code).length > 1 || outOfUse(code) !== undefined)) ||
    (((missing.size > 0 && missingVersions(system).length > 0) || problem !== undefined) && verdicts(code, system) === 'unknown')
  const suggestions = keptByCode((code, system) =>
    suggestedCodes(plan, { code, system }, (other) => find({ system, code: other }) === 'in'),
  )
  return {
    canonical: canonical ?? '',
    title: titleOf(resource, canonical),
    problem,
    has: (given) => (given.version === undefined ? verdicts(given.code, given.system) : find(given)),
    lists: (code) => includes.some((part) => listedIn(part, code) !== undefined && inSystem(part.family?.url ?? '', { code }) !== 'out'),
    isOneList: includes.filter(({ family }) => family !== undefined).length === 1,
    fit: keptByCode((code, system) => (isQuestionable(code, system) ? 'questionable' : verdicts(code, system) === 'out' ? 'out' : 'fine')),
    notes: keptNotes(plan),
    versions: (system) => ({
      known: providersOf(plan, system).flatMap(({ header }) => header.version ?? []),
      areStated: partsOf(plan, system).every(({ definition }) => definition.version !== undefined),
    }),
    missingVersions,
    lacking,
    displays: ({ system, code }) => partsOf(plan, system).flatMap((part) => listedDisplays(listedIn(part, code)?.concept)),
    systemsOf,
    outdated,
    outOfUse,
    isBarred: (code) => plan.valueSet.activeOnly && isInactive(plan, code),
    members: () => membersOf(plan, (code) => find(code) === 'in'),
    suggestions: ({ code, system }) => suggestions(code, system),
    lasts: () => families.every((family) => family.lasts()),
    restsOn: (fromRequest) => isNamedIn(fromRequest, codeSystems, valueSetsOf(plan)),
  }
}

function keptNotes(plan: ValueSetPlan): CodeList['notes'] {
  const notes = new Map<string, readonly StatusNote[]>()
  return (system) => {
    const known = notes.get(system)
    if (known !== undefined) return known
    const made = statusNotes(plan, providersOf(plan, system))
    if (notes.size >= KEPT_NOTES) notes.clear()
    notes.set(system, made)
    return made
  }
}

function isNamedIn(fromRequest: RequestDefinitions, codeSystems: readonly string[], valueSets: readonly string[]): boolean {
  return (
    codeSystems.some((url) => fromRequest.get('CodeSystem')?.has(url) === true) ||
    valueSets.some((url) => fromRequest.get('ValueSet')?.has(url) === true)
  )
}

/** What a value set lacks: missing supplements for any code, missing imports only if the code may be in them. */
function lackingIn(plan: ValueSetPlan, supplements: readonly string[]): (verdict: Verdict) => readonly Lacking[] {
  const always = supplements.map((canonical): Lacking => ({ kind: 'supplement', canonical }))
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
  const includes = withImports(plan).flatMap((one) => one.includes)
  const lacking = includes.flatMap(({ family, definition: { version } }) =>
    family === undefined || version === undefined || family.unknown || family.provider(version) !== undefined
      ? []
      : [{ url: family.url, version }],
  )
  const byUrl = Map.groupBy(lacking, ({ url }) => url)
  return new Map(Array.from(byUrl, ([url, group]) => [url, group.map(({ version }) => version)]))
}

function listedDisplays(concept: JsonObject | undefined): readonly string[] {
  const designations = objectsAt(concept, 'designation').map((one) => stringAt(one, 'value'))
  return [stringAt(concept, 'display'), ...designations].filter((text) => text !== undefined)
}

function best(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('in')) return 'in'
  return verdicts.includes('unknown') || verdicts.length === 0 ? 'unknown' : 'out'
}

function verdictOf(scope: TerminologyScope, plan: ValueSetPlan, code: GivenCode & { readonly system: string }): Verdict {
  try {
    const { state } = membershipIn({ scope, code, options: {}, holds: holdsAtOnce }, plan)
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
function membersOf(plan: ValueSetPlan, isMember: (code: GivenCode) => boolean): readonly GivenCode[] {
  const systems = new Set(withImports(plan).flatMap(({ includes }) => includes.flatMap(({ family }) => family?.url ?? [])))
  return [...systems].flatMap((system) => [...codesNamed(plan, system)].map((code) => ({ system, code })).filter(isMember))
}

/** The codes that the value set and its imports list, or that their short code systems have. */
function codesNamed(plan: ValueSetPlan, system: string | undefined): ReadonlySet<string> {
  const codes = new Set<string>()
  for (const { definition, family } of withImports(plan).flatMap(({ includes }) => includes)) {
    if (system !== undefined && family?.url !== system) continue
    const provider = definition.concepts === undefined ? family?.provider(definition.version) : undefined
    for (const code of definition.concepts?.map((listed) => listed.code) ?? codesOfSystem(provider)) codes.add(code)
  }
  return codes
}
