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

/** Bounds on the work for one call. Every one can be set in `createContext`. */
export interface Limits {
  /** Most codes of an expansion for which no `count` was asked. */
  readonly maxExpansion: number
  /** Most bytes of an answer. */
  readonly maxAnswerBytes: number
  /** Most value sets on one path of imports. */
  readonly maxImportDepth: number
  /** Most ConceptMaps on one `unmapped` chain. */
  readonly maxMapChain: number
  /** Longest text filter, in characters. */
  readonly maxFilterLength: number
  /** Wall time of one operation in milliseconds; bots have their own. */
  readonly operationTimeoutMs: number
  /** Most issues of one validation. */
  readonly maxIssues: number
}

/** The limits of a context that sets some. What is set was checked with `LIMITS_SHAPE`. */
function limitsOf(set: Partial<Limits> = {}): Limits {
  return { ...DEFAULT_LIMITS, ...set }
}

/** What each limit must be. */
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

/** Something wrong with the CQL of a Library. */
export interface LibraryProblem {
  readonly severity: 'error' | 'warning'
  readonly text: string
  /** Index in `Library.content`. */
  readonly content: number
  /** Place in the CQL, counted from 1; absent when it is not known. */
  readonly line?: number
  readonly column?: number
}

/**
 * Finds what is wrong with the CQL of a Library resource.
 *
 * @throws {OperationError} when it is not known: `aborted`, `computation-timeout`, what `ctx.authorize` throws for libraries that it includes.
 */
export type LibraryChecker = (ctx: OperationContext, library: JsonObject) => Promise<readonly LibraryProblem[]>

/** How far a long operation is. */
export interface Progress {
  readonly done: number
  /** Absent where it is not known. */
  readonly total?: number | undefined
  /** What is counted, in the plural: `subjects`. */
  readonly of: string
}

/** Everything an operation works with. Made once per process and narrowed per request by `forRequest`. */
export interface OperationContext {
  readonly storage: Storage
  /** Imported code systems; there are none when absent. */
  readonly concepts?: ConceptStore | undefined
  /** Code systems besides CodeSystem resources: those that make their codes by a rule, and those whose releases are in `concepts`. */
  readonly codeSystems?: readonly CodeSystem[] | undefined
  /** Where canonicals are resolved. */
  readonly content: ContentView
  /** Where `content` finds definitions below those of the storage; none when absent. */
  readonly definitions?: readonly ContentLayer[] | undefined
  readonly cache: Cache
  /** How searches are read where content holds them, such as criteria of measures; these are refused when absent. */
  readonly search?: SearchOptions | undefined
  /** The types of the release, which `validate` needs. */
  readonly types?: TypeModel | undefined
  /** Releases whose elements resources may have as extensions; `validate` knows the names of their elements only when absent. */
  readonly crossVersion?: readonly OtherRelease[] | undefined
  /** Compares quantities of different units; without it, `validate` knows the units of clinical practice. */
  readonly convertUnit?: UnitConversion | undefined
  /** What holds for every validation, unless a call says otherwise. */
  readonly validation?: ValidationPolicy | undefined
  /** Checks the CQL of Libraries for `validate`, which reports when it is absent. */
  readonly checkLibrary?: LibraryChecker | undefined
  readonly limits: Limits
  /** Shares the thread among the long operations of all requests. */
  readonly scheduler: Scheduler
  /** What the request has used of the thread. */
  readonly threadUse?: ThreadUse | undefined
  readonly now: () => Date
  /** Random UUID, lower case. */
  readonly newId: () => string
  /** Ends the work when the caller has gone. */
  readonly signal?: AbortSignal | undefined
  /**
   * Ends the work when the caller may not do this with that type, or with that resource. Everything is allowed when absent.
   *
   * @throws {OperationError} `forbidden`, or `not-found` where the caller may not know that it exists.
   */
  readonly authorize?: ((interaction: 'read' | 'search' | 'create' | 'update' | 'delete', type: string, id?: string) => void) | undefined
  /** Records what decides; absent unless the input asked for an explanation. */
  readonly explain?: Explain | undefined
  /** Called with the progress of long operations. An error that it throws ends the operation. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** When the operation must have ended, on the clock of `performance.now()`. */
  readonly deadline?: number | undefined
}

/** What a context is made of; `r4()` of `@fhir-ops/r4` gives all but the storage. */
export interface ContextOptions {
  readonly storage: Storage
  /** Where code systems that are too large to be a resource were imported to. */
  readonly concepts?: ConceptStore
  /**
   * Code systems besides CodeSystem resources: units, language tags ..., which make their codes by a rule, and `snomed()`, `loinc()`, `rxnorm()`,
   * which open the releases that were imported to `concepts`.
   */
  readonly codeSystems?: readonly CodeSystem[]
  /** Definitions below the storage's own, for example the R4 pack; the uppermost first. */
  readonly definitions?: readonly ContentLayer[]
  /** Several contexts may share one: what is made of definitions below their storages is kept once, of each storage's own by itself. */
  readonly cache?: Cache
  /** Search parameters, and what else searching needs. */
  readonly search?: SearchOptions
  /** The types of the release, for example those of the R4 pack. */
  readonly types?: TypeModel
  /**
   * Releases whose elements resources may have as extensions: `crossVersion()` of `@fhir-ops/cross-version`. It needs `types`. Default: `validate` knows
   * the names of elements of other releases, and nothing else of them.
   */
  readonly crossVersion?: readonly OtherRelease[]
  /** Compares quantities of different units, for example `ucumConversion` of `fhir-ops/ucum`. Default: the units of clinical practice. */
  readonly convertUnit?: UnitConversion
  /** What holds for every validation, unless a call says otherwise. */
  readonly validation?: ValidationPolicy
  /** Checks the CQL of Libraries, for `validate`: `cqlChecker()` of `@fhir-ops/cql`. Default: it is not checked. */
  readonly checkLibrary?: LibraryChecker
  readonly limits?: Partial<Limits>
  readonly now?: () => Date
  readonly newId?: () => string
  /** Part of a release that is spread into these options; a context does not index, so it is not used here. */
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
 * Makes the context of a process over a storage.
 *
 * @throws {TypeError} for an option that is missing, unknown, or of another type; a limit that is not a number or does not exist; and a suppression of
 *   findings without a reason or a day.
 */
export function createContext(options: ContextOptions): OperationContext {
  checkOptions('createContext', SHAPE, options)
  checkSuppressions(options)
  const cache = options.cache ?? createCache()
  const scheduler = createScheduler()
  const newId = options.newId ?? (() => crypto.randomUUID())
  // The same id and version may be something else in the storage of another context.
  const name = options.cache === undefined ? 'storage' : newId()
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

/** What one request adds to the context of its process. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Resources that came with the request; they hide stored ones of the same url and version. */
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
 * Derives the context of one request: with its own signal, time limit and definitions.
 *
 * @throws {OperationError} `parameter-required`, `parameter-value` or `parameter-unsupported` for an option that is unknown or of another type.
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
