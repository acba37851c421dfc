import {
  AMOUNT,
  checkInput,
  inputShape,
  type InputShape,
  checkOptions,
  CLOCK,
  FUNCTION,
  having,
  ITERABLE,
  listOf,
  needed,
  OBJECT,
  optionsOf,
} from '../input/index.js'
import { contentView, requestLayer, storageLayer, type ContentLayer, type ContentView } from '../content/index.js'
import type { CodeSystem } from '../code-system/index.js'
import type { OtherRelease } from '../cross-version/index.js'
import type { Explain } from '../explain/index.js'
import type { TypeModel, UnitConversion } from '../fhirpath/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { SearchOptions } from '../search/index.js'
import type { ConceptStore, Indexer, Storage } from '../storage/index.js'
import { createCache, type Cache } from './cache.js'
import { pacedResource } from './pace.js'
import { beginUse, createScheduler, type Scheduler, type ThreadUse } from './scheduler.js'
import { suppressionProblem, VALIDATION_SHAPE, type ValidationPolicy } from './validation-policy.js'

/** Limits on the work of one call. Each can be set in `createContext`. */
export interface Limits {
  /** Maximum number of codes in an expansion that is requested without `count`. */
  readonly maxExpansion: number
  /** Maximum size of an answer, in bytes. */
  readonly maxAnswerBytes: number
  /** Maximum number of value sets on one path of imports. */
  readonly maxImportDepth: number
  /** Maximum number of ConceptMaps on one `unmapped` chain. */
  readonly maxMapChain: number
  /** Maximum length of a text filter, in characters. */
  readonly maxFilterLength: number
  /** Wall time of one operation in milliseconds; bots have their own. */
  readonly operationTimeoutMs: number
  /** Maximum number of issues of one validation. */
  readonly maxIssues: number
}

/** Completes the given limits with the defaults. They were checked with `LIMITS_SHAPE`. */
function limitsOf(set: Partial<Limits> = {}): Limits {
  return { ...DEFAULT_LIMITS, ...set }
}

/** The expected type of each limit. */
const LIMITS_SHAPE: InputShape = inputShape<Limits>({
  maxExpansion: AMOUNT,
  maxAnswerBytes: AMOUNT,
  maxImportDepth: AMOUNT,
  maxMapChain: AMOUNT,
  maxFilterLength: AMOUNT,
  operationTimeoutMs: AMOUNT,
  maxIssues: AMOUNT,
})

/** The default limits of a context. */
export const DEFAULT_LIMITS: Limits = {
  maxExpansion: 100_000,
  maxAnswerBytes: 32 * 1024 * 1024,
  maxImportDepth: 100,
  maxMapChain: 16,
  maxFilterLength: 4_096,
  operationTimeoutMs: 5_000,
  maxIssues: 100,
}

/** A problem in the CQL of a Library. */
export interface LibraryProblem {
  readonly severity: 'error' | 'warning'
  readonly text: string
  /** Index in `Library.content`. */
  readonly content: number
  /** Line in the CQL, counted from 1; absent when unknown. */
  readonly line?: number
  readonly column?: number
}

/**
 * Finds the problems in the CQL of a Library resource.
 *
 * @throws {OperationError} when the check cannot be completed: `aborted`, `computation-timeout`, or what `ctx.authorize` throws for included libraries.
 */
export type LibraryChecker = (ctx: OperationContext, library: JsonObject) => Promise<readonly LibraryProblem[]>

/** Progress of a long operation. */
export interface Progress {
  readonly done: number
  /** Absent when unknown. */
  readonly total?: number | undefined
  /** What is counted, in the plural: `subjects`. */
  readonly of: string
}

/** Everything that an operation uses. Created once per process; `forRequest` derives the context of each request. */
export interface OperationContext {
  readonly storage: Storage
  /** Imported code systems; there are none when absent. */
  readonly concepts?: ConceptStore | undefined
  /** Code systems besides CodeSystem resources: those whose codes follow a rule, and those whose releases are in `concepts`. */
  readonly codeSystems?: readonly CodeSystem[] | undefined
  /** Resolves canonicals. */
  readonly content: ContentView
  /** Layers of definitions that `content` searches below those of the storage; none when absent. */
  readonly definitions?: readonly ContentLayer[] | undefined
  readonly cache: Cache
  /** Options for searches that are part of content, such as criteria of measures. When absent, such searches are refused. */
  readonly search?: SearchOptions | undefined
  /** The types of the FHIR release, which `validate` needs. */
  readonly types?: TypeModel | undefined
  /** FHIR releases whose elements resources may have as extensions; when absent, `validate` knows only the names of their elements. */
  readonly crossVersion?: readonly OtherRelease[] | undefined
  /** Compares quantities with different units; when absent, `validate` knows the units of clinical practice. */
  readonly convertUnit?: UnitConversion | undefined
  /** Defaults for every validation; a call may override them. */
  readonly validation?: ValidationPolicy | undefined
  /** Checks the CQL of Libraries for `validate`; when absent, `validate` reports that CQL is not checked. */
  readonly checkLibrary?: LibraryChecker | undefined
  readonly limits: Limits
  /** Shares the thread among the long operations of all requests. */
  readonly scheduler: Scheduler
  /** The thread time that the request has used. */
  readonly threadUse?: ThreadUse | undefined
  readonly now: () => Date
  /** Random UUID, lower case. */
  readonly newId: () => string
  /** Ends the work when the caller has disconnected. */
  readonly signal?: AbortSignal | undefined
  /**
   * Throws when the caller may not perform the interaction on the type or resource. When absent, everything is allowed.
   *
   * @throws {OperationError} `forbidden`, or `not-found` where the caller must not learn that the resource exists.
   */
  readonly authorize?: ((interaction: 'read' | 'search' | 'create' | 'update' | 'delete', type: string, id?: string) => void) | undefined
  /** Records the steps that lead to the answer; absent unless the input asked for an explanation. */
  readonly explain?: Explain | undefined
  /** Called with the progress of long operations. An error that it throws ends the operation. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Time by which the operation must end, on the clock of `performance.now()`. */
  readonly deadline?: number | undefined
}

/** Options of `createContext`; `r4()` of `@fhir-ops/r4` provides all but the storage. */
export interface ContextOptions {
  /** Stored resources, which hide the definitions of the layers below them. */
  readonly storage: Storage
  /** Imported code systems, which are too large to be a resource. */
  readonly concepts?: ConceptStore
  /**
   * Code systems besides CodeSystem resources: those whose codes follow a rule (units, language tags ...), and `snomed()`, `loinc()`, `rxnorm()`,
   * which open the releases that were imported into `concepts`.
   */
  readonly codeSystems?: readonly CodeSystem[]
  /** Layers of definitions below those of the storage, for example the R4 pack; the uppermost first. */
  readonly definitions?: readonly ContentLayer[]
  /** Contexts may share a cache: results for definitions of shared layers are kept once, those for each storage's own definitions separately. */
  readonly cache?: Cache
  /** Search parameters and other options of searches. */
  readonly search?: SearchOptions
  /** The types of the FHIR release, for example those of the R4 pack. */
  readonly types?: TypeModel
  /**
   * FHIR releases whose elements resources may have as extensions: `crossVersion()` of `@fhir-ops/cross-version`. Needs `types`. Default: `validate` knows
   * only the names of elements of other releases.
   */
  readonly crossVersion?: readonly OtherRelease[]
  /** Compares quantities with different units, for example `ucumConversion` of `fhir-ops/ucum`. Default: the units of clinical practice. */
  readonly convertUnit?: UnitConversion
  /** Defaults for every validation; a call may override them. */
  readonly validation?: ValidationPolicy
  /** Checks the CQL of Libraries, for `validate`: `cqlChecker()` of `@fhir-ops/cql`. Default: it is not checked. */
  readonly checkLibrary?: LibraryChecker
  /** Changes to the default limits on one operation (`DEFAULT_LIMITS`). */
  readonly limits?: Partial<Limits>
  /** The clock of answers and periods. Default: the system's. */
  readonly now?: () => Date
  /** Creates the ids of results. Default: random UUIDs. */
  readonly newId?: () => string
  /** Not used here, because a context does not index. Accepted so that the result of `r4()` can be spread into these options. */
  readonly indexer?: Indexer
}

const SHAPE: InputShape = inputShape<ContextOptions>({
  storage: needed(having('a storage', ['read', 'search', 'write'])),
  concepts: OBJECT,
  codeSystems: listOf(OBJECT),
  definitions: ITERABLE,
  cache: having('a cache', ['get', 'set']),
  search: having('search options', ['parameters']),
  types: having('a model of types', ['type']),
  crossVersion: listOf(having('another release', ['element', 'within', 'codes', 'extensions'])),
  convertUnit: FUNCTION,
  validation: optionsOf(VALIDATION_SHAPE),
  checkLibrary: FUNCTION,
  limits: optionsOf(LIMITS_SHAPE),
  now: CLOCK,
  newId: FUNCTION,
  indexer: FUNCTION,
})

/**
 * Creates the context of a process.
 *
 * @throws {TypeError} for an option that is missing, unknown, or of the wrong type; a limit that is unknown or not a number; and a suppression of
 *   findings without a reason or a last day.
 */
export function createContext(options: ContextOptions): OperationContext {
  checkOptions('createContext', SHAPE, options)
  checkSuppressions(options)
  const cache = options.cache ?? createCache()
  const scheduler = createScheduler()
  const newId = options.newId ?? (() => crypto.randomUUID())
  // The storage of another context may hold different content under the same id and version, and tests may give both contexts the same ids.
  const name = options.cache === undefined ? 'storage' : crypto.randomUUID()
  const definitions = [...(options.definitions ?? []), ...crossVersionLayers(options)]
  return {
    storage: options.storage,
    concepts: options.concepts,
    codeSystems: options.codeSystems,
    content: contentView(
      [storageLayer(options.storage, name, (stored) => pacedResource(stored, scheduler)), ...definitions],
      [cache, ...(options.concepts === undefined ? [] : [options.concepts])],
    ),
    definitions,
    cache,
    search: options.search,
    types: options.types,
    crossVersion: options.crossVersion,
    convertUnit: options.convertUnit,
    validation: options.validation,
    checkLibrary: options.checkLibrary,
    limits: limitsOf(options.limits),
    scheduler,
    now: options.now ?? (() => new Date()),
    newId,
  }
}

function crossVersionLayers({ crossVersion = [], types }: ContextOptions): readonly ContentLayer[] {
  if (crossVersion.length === 0) return []
  if (types === undefined) throw new TypeError('createContext: crossVersion needs types, for example those of r4().')
  return crossVersion.map(({ extensions }) => extensions(types))
}

function checkSuppressions({ validation }: ContextOptions): void {
  for (const suppression of validation?.suppress ?? []) {
    const problem = suppressionProblem(suppression)
    if (problem !== undefined) throw new TypeError(`createContext: ${problem}`)
  }
}

/** Options of one request that override those of the context. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Definitions that came with the request; they hide stored ones with the same url and version. */
  readonly resources?: readonly object[]
  readonly limits?: Partial<Limits>
  readonly authorize?: OperationContext['authorize']
  readonly onProgress?: (progress: Progress) => void
}

const REQUEST: InputShape = inputShape<RequestOptions>({
  signal: having('a signal', ['aborted', 'addEventListener']),
  resources: listOf(OBJECT),
  limits: { words: 'limits by their names, each a number of 0 or more', is: areLimits },
  authorize: FUNCTION,
  onProgress: FUNCTION,
})

function areLimits(value: unknown): boolean {
  return isObject(value) && Object.entries(value).every(([name, limit]) => LIMITS_SHAPE.kinds.get(name)?.is(limit) === true)
}

/**
 * Creates the context of one request, with its own signal, time limit and definitions.
 *
 * @throws {OperationError} `parameter-required`, `parameter-value` or `parameter-unsupported` for an option that is unknown or of the wrong type.
 */
export function forRequest(ctx: OperationContext, options: RequestOptions): OperationContext {
  checkInput(ctx, options, REQUEST)
  const limits = options.limits === undefined ? ctx.limits : { ...ctx.limits, ...options.limits }
  const resources = options.resources?.filter(isObject)
  return {
    ...ctx,
    limits,
    content: resources !== undefined && resources.length > 0 ? ctx.content.with(requestLayer(resources)) : ctx.content,
    authorize: options.authorize ?? ctx.authorize,
    signal: options.signal ?? ctx.signal,
    onProgress: options.onProgress ?? ctx.onProgress,
    threadUse: ctx.threadUse ?? beginUse(),
    deadline: ctx.deadline ?? performance.now() + limits.operationTimeoutMs,
  }
}
