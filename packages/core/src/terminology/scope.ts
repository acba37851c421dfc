import { canonicalOf, definitionOf, headOf, type ContentLayer, type Definition, type Kept } from '../content/index.js'
import { createPace, type OperationContext, type Pace } from '../context/index.js'
import { OperationError, quoted, type ErrorDetail } from '../errors/index.js'
import type { ExplanationStep } from '../explain/index.js'
import { isObject, objectsAt, type JsonObject } from '../json/index.js'
import { isFor, supplementedCanonical, supplementedUrl, systemFamily, type SystemFamily } from './code-system/system-family.js'
import { createMarks, type Marks } from './memo.js'
import { escaped, refusal, type RefusalOptions } from './messages.js'
import { NO_RULES, versionFits, type VersionRules } from './versions.js'

/** State of one request: its rules, and the code systems that it has found so far. */
export interface TerminologyScope {
  readonly ctx: OperationContext
  readonly rules: VersionRules
  readonly pace: Pace
  /** Returns all versions of a code system; searched once. */
  family(url: string): Promise<SystemFamily>
  /**
   * Checks that each required supplement is for one of these code systems; otherwise it would silently add nothing.
   *
   * @param systems All code systems in use.
   * @throws {OperationError} `content-not-found` for a supplement of any other code system or version.
   */
  demandUse(systems: readonly SystemInUse[]): void
}

/** A code system that answers use, in one version. */
export interface SystemInUse {
  readonly url: string
  /** Absent if the definition has no version. */
  readonly version?: string | undefined
  /** True if it is unknown, which is reported elsewhere. */
  readonly unknown?: boolean | undefined
}

/** Options of `terminologyScope`. */
export interface ScopeOptions {
  readonly rules?: VersionRules | undefined
  /** Canonicals of the required supplements, from the request and the value set. */
  readonly supplements?: readonly string[] | undefined
  /** Those of the input `useSupplement`, in its order, for the places of errors. */
  readonly asked?: readonly string[] | undefined
  /** Currently kept results; read from the content when absent. */
  readonly kept?: Kept | undefined
}

/**
 * Creates the scope of one request.
 *
 * @throws {OperationError} `content-not-found` when a supplement does not exist; `too-costly` for more than 100 supplements.
 */
export async function terminologyScope(ctx: OperationContext, options: ScopeOptions = {}): Promise<TerminologyScope> {
  const supplements = [...new Set(options.supplements)]
  const supplemented: Supplemented[] = []
  for (const canonical of supplements) {
    supplemented.push(await supplementedBy(ctx, canonical, options))
    if (supplemented.length > MOST_SUPPLEMENTS)
      throw new OperationError('too-costly', `At most ${MOST_SUPPLEMENTS} supplements can be used.`, placeOf(canonical, options))
  }
  for (const canonical of supplements) ctx.explain?.step(supplementStep(canonical))
  const kept = supplements.length > 0 ? undefined : (options.kept ?? (await ctx.content.kept?.()))
  const demandUse = (systems: readonly SystemInUse[]): void => {
    for (const { canonical, versions } of supplemented) {
      const isUsed = (supplement: Definition): boolean =>
        systems.some((system) => (system.unknown === true ? supplementedUrl(supplement) === system.url : isFor(supplement, system)))
      if (systems.length === 0 || versions.some(isUsed)) continue
      const others = [...new Set(versions.map(supplementedCanonical))].map(escaped).join(', ')
      throw noSupplement(canonical, placeOf(canonical, options), ` (it supplements ${others}, which is not used here)`)
    }
  }
  return { ...scopeOver(ctx, { rules: options.rules, kept }, supplemented), demandUse }
}

/** The members of an input that choose code systems. */
interface SystemOptions {
  /** The CodeSystem resource itself, used instead of all others with its url. */
  readonly codeSystem?: object | undefined
  readonly useSupplement?: readonly string[] | undefined
  readonly rules?: VersionRules | undefined
}

/** Creates the scope of a request about codes of a code system. @throws {OperationError} as `terminologyScope`. */
export function systemScope(ctx: OperationContext, { codeSystem, useSupplement, rules }: SystemOptions): Promise<TerminologyScope> {
  const own = isObject(codeSystem) ? withCodeSystems(ctx, [codeSystem]) : ctx
  return terminologyScope(own, { supplements: useSupplement, asked: useSupplement, rules })
}

/**
 * Creates the context for a value set with contained code systems; `undefined` where it contains none. Includes name them by url: a system of the form
 * `#id` is not an absolute address, as R4 requires, and would become the system of the codes.
 */
export function withContainedSystems(ctx: OperationContext, valueSet: JsonObject): OperationContext | undefined {
  const contained = objectsAt(valueSet, 'contained').filter((item) => item['resourceType'] === 'CodeSystem')
  return contained.length === 0 ? undefined : withCodeSystems(ctx, contained)
}

/** Creates a context in which the code systems replace all others with their urls, whatever their versions. */
function withCodeSystems(ctx: OperationContext, codeSystems: readonly JsonObject[]): OperationContext {
  const layer = codeSystemsLayer(codeSystems)
  const content = ctx.content.with(layer)
  const find: ContentLayer['find'] = async (...asked) => {
    const found = await layer.find(...asked)
    return found.length > 0 ? found : content.find(...asked)
  }
  return { ...ctx, content: { ...content, find } }
}

/** Creates a layer of code systems, found by url. */
export function codeSystemsLayer(resources: readonly JsonObject[]): ContentLayer {
  const systems = resources.flatMap((resource) => definitionOf(resource) ?? [])
  return { find: async (type, by, value) => (by === 'url' ? systems.filter((one) => one.type === type && one.url === value) : []) }
}

/** Every text of a concept is looked for in each supplement. */
const MOST_SUPPLEMENTS = 100

/** As `terminologyScope`, for supplements that were found and kept results that have been read. */
export function scopeOver(
  ctx: OperationContext,
  { rules = NO_RULES, kept }: Pick<ScopeOptions, 'rules' | 'kept'>,
  supplemented: readonly Supplemented[] = [],
): TerminologyScope {
  const families = new Map<string, Promise<SystemFamily>>()
  const supplements = supplemented.map(({ versions }) => versions)
  return {
    ctx,
    rules,
    pace: createPace(ctx),
    family: (url) => {
      const found = families.get(url) ?? (kept === undefined ? systemFamily(ctx, url, { supplements }) : keptFamily(ctx, url, kept))
      families.set(url, found)
      return found
    },
    demandUse: () => undefined,
  }
}

/** Returns the family without supplements. The result is kept as long as no definition changes. */
async function keptFamily(ctx: OperationContext, url: string, kept: Kept): Promise<SystemFamily> {
  const name = `family ${url}`
  const known = kept.get(name)
  if (known !== undefined && FAMILIES.has(known) && known.lasts()) return known
  // The family outlives the request.
  const made = await systemFamily({ ...ctx, signal: undefined, deadline: undefined, authorize: undefined, explain: undefined }, url, {
    supplements: [],
  })
  if (!made.unknown) kept.set(name, FAMILIES.mark(made))
  return made
}

/** Marks the families that were kept. */
const FAMILIES: Marks<SystemFamily> = createMarks()

/** Explains that a supplement is used. */
export function supplementStep(canonical: string): ExplanationStep {
  return {
    kind: 'supplement',
    outcome: 'chosen',
    definition: canonical,
    text: `The supplement ${quoted(canonical)} is applied to its code system.`,
  }
}

/** A required supplement, and the definitions that its canonical can mean. */
interface Supplemented {
  readonly canonical: string
  readonly versions: readonly Definition[]
}

async function supplementedBy(ctx: OperationContext, canonical: string, options: ScopeOptions): Promise<Supplemented> {
  const { url, version, fragment } = canonicalOf(canonical)
  const found = fragment === undefined ? await ctx.content.find('CodeSystem', 'url', url) : []
  const versions = found.filter(
    (definition) => headOf(definition)['content'] === 'supplement' && (version === undefined || versionFits(version, definition.version)),
  )
  if (versions.length === 0)
    throw noSupplement(canonical, { ...placeOf(canonical, options), missing: { kind: 'CodeSystem', name: canonical } })
  return { canonical, versions }
}

function noSupplement(supplement: string, options: RefusalOptions, reason = ''): OperationError {
  return refusal('VALUESET_SUPPLEMENT_MISSING', { supplement, reason }, { ...options, omitsPlace: true })
}

/** A supplement that a value set requires has no place in the input. */
function placeOf(canonical: string, { asked = [] }: ScopeOptions): Pick<ErrorDetail, 'expression'> {
  const index = asked.indexOf(canonical)
  return index < 0 ? {} : { expression: [`useSupplement[${index}]`] }
}
