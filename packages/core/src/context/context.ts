import { AMOUNT, checkInput, FUNCTION, having, inputShape, listOf, OBJECT, type InputShape } from '../input/index.js'
import { requestLayer, type ContentLayer, type ContentView } from '../content/index.js'
import type { CodeSystem } from '../code-system/index.js'
import type { OtherRelease } from '../cross-version/index.js'
import { createRecorder, type Explain, type Explanation } from '../explain/index.js'
import type { TypeModel, UnitConversion } from '../fhirpath/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { SearchOptions } from '../search/index.js'
import type { ConceptStore, Storage } from '../storage/index.js'
import type { Cache } from './cache.js'
import { beginUse, type Scheduler, type ThreadUse } from './pace.js'
import type { ValidationPolicy } from './validation-policy.js'
import { OperationError } from '../errors/index.js'

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

/** The expected type of each limit. */
export const LIMITS_SHAPE: InputShape = inputShape<Limits>({
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
  /** True if the storage lacks resources that exist, because the caller must not see them. Another server that is asked would not know which. */
  readonly isPartial?: boolean | undefined
  /** Records the steps that lead to the answer; absent unless the input asked for an explanation. */
  readonly explain?: Explain | undefined
  /** Called with the progress of long operations. An error that it throws ends the operation. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Time by which the operation must end, on the clock of `performance.now()`. */
  readonly deadline?: number | undefined
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

/** The option `explain` of operations that can explain their result. */
export interface ExplainOption {
  /** True: the result or the error has an `explanation`. Default false, which costs nothing. */
  readonly explain?: boolean | undefined
}

/** The explanation in the result of an operation. */
export interface Explained {
  /** How the result was reached; present when the input has `explain: true`. */
  readonly explanation?: Explanation | undefined
}

/**
 * Runs an operation and adds the explanation that it recorded to its result, when the input asks for one. The operation itself checks its input.
 *
 * @throws {OperationError} as the operation; with the explanation in `detail` when it was requested.
 */
export function explained<T extends object>(
  ctx: OperationContext,
  input: ExplainOption | undefined,
  run: (ctx: OperationContext) => Promise<T>,
): Promise<T & Explained> {
  return input?.explain === true ? recorded(ctx, run) : run(ctx)
}

async function recorded<T extends object>(ctx: OperationContext, run: (ctx: OperationContext) => Promise<T>): Promise<T & Explained> {
  const { explain, explanation } = createRecorder()
  try {
    return { ...(await run({ ...ctx, explain })), explanation: explanation() }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    throw new OperationError(error.code, error.message, { ...error.detail, explanation: explanation() })
  }
}
