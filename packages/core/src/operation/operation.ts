import type { OperationContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import type { Parameter } from '../parameters/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { onDemand } from '../work/index.js'
import type { StoredResource } from '../storage/index.js'

/** A call of a FHIR operation, independent of HTTP. */
export interface OperationRequest {
  /** Type that the operation is called on, for example `ConceptMap`. */
  readonly type: string
  /** Present at instance level. */
  readonly id?: string | undefined
  readonly method: 'GET' | 'POST'
  /** From the query of a GET, or from the query and the Parameters body of a POST. Empty for a POST of a bare resource. */
  readonly parameters: readonly Parameter[]
  /** The parsed body of a POST. */
  readonly body?: JsonObject | undefined
  /** The body as text without byte order mark, for operations that parse it themselves (`$validate`). */
  readonly bodyText?: string | undefined
  /** The `Accept-Language` header as sent. */
  readonly acceptLanguage?: string | undefined
  /** True for `Prefer: handling=strict`: unknown parameters are refused by name. */
  readonly strict: boolean
}

/** The answer of a call. */
export interface OperationResponse {
  readonly status: number
  readonly resource: JsonObject
  /** `Type/id` of the stored resource, relative to the base. */
  readonly location?: string
}

/** The answer of a call, as text. */
export interface WrittenResponse extends Omit<OperationResponse, 'resource'> {
  /** The JSON text of the resource; a long text in pieces of about a hundred thousand characters. */
  readonly text: readonly string[] | LongText
}

/** A text that is never held in memory as a whole: its pieces are written when they are read, and are the same each time. */
export interface LongText extends Iterable<string> {
  /** Total length in UTF-8 bytes. */
  readonly bytes: number
}

/** An HTTP header that an operation reads as parameters, as if they were part of the query. */
export interface OperationHeader {
  /** Name in lower case. */
  readonly name: string
  /** Reads the header as parameters. @throws {OperationError} for an invalid value. */
  readonly parameters: (text: string) => readonly Parameter[]
}

/** Actions on resources of a type, in the words of FHIR. */
export type Action = 'read' | 'search' | 'create' | 'update' | 'delete'

/** The rights that a caller needs for an operation. */
export interface OperationNeeds {
  /** The rights in words, for the documentation. */
  readonly text: string
  /**
   * One of these rights is enough; an empty list means that only a token is needed. Default of `type`: the type that the operation is called on, where a right
   * to some of its resources is enough. A type that is named is that of definitions, of which the right to all is needed; for other types call `ctx.authorize`.
   */
  readonly anyOf: readonly { readonly action: Action; readonly type?: string }[]
  /** True if it stores data that does not belong to a single caller: rights to a part of the data (one patient, a query) are then not enough. */
  readonly keepsState?: boolean
  /**
   * True if the answer also depends on resources other than definitions, the rights to which the operation checks itself. Another server would not know these
   * rights, so such an operation is delegated only with the token of the caller, or for callers with all rights.
   */
  readonly readsData?: boolean
}

/** Rights for operations on codes, value sets and code systems. */
export const TERMINOLOGY_NEEDS: OperationNeeds = {
  text: 'ValueSet.r or CodeSystem.r',
  anyOf: [
    { action: 'read', type: 'ValueSet' },
    { action: 'read', type: 'CodeSystem' },
  ],
}

/** Descriptor of a FHIR operation for the handler: reads the input, runs the algorithm, writes the output. */
export interface Operation {
  /** Name with the dollar sign. */
  readonly name: `$${string}`
  readonly types: readonly string[] | 'any'
  /** Levels at which it can be called. `system` is the base (`[base]/$closure`), where the type of the request is empty. */
  readonly levels: readonly ('system' | 'type' | 'instance')[]
  readonly methods: readonly ('GET' | 'POST')[]
  /** Canonical of the OperationDefinition, for the CapabilityStatement. */
  readonly definition: string
  /** Type of the resource in a successful answer, by which the answer of another server is recognised. Default: any. */
  readonly answers?: string
  /** Rights that are checked before `run`; the storage decides which resources of a type a caller sees. */
  readonly needs: OperationNeeds
  /**
   * True if the answer at type level depends only on the parameters, `Accept-Language` and the definitions, not on the caller, other resources or the
   * clock. A handler may then repeat an answer until a definition changes.
   */
  readonly cacheable?: boolean
  /** A request header that is read as parameters. Default: none. */
  readonly header?: OperationHeader
  /**
   * Name of the only parameter that is a resource of the type that the operation is called on: a body that is such a resource becomes its value.
   * Default: the operation reads `body` itself.
   *
   * @see https://hl7.org/fhir/R4/operations.html#executing
   */
  readonly resourceParameter?: string
  /** Body of a POST: a Parameters resource, or text that the operation parses itself. Default `parameters`. */
  readonly body?: 'parameters' | 'text'
  /** Whether it may take long, so that callers may fetch the answer later (`Prefer: respond-async`). Default false. */
  readonly asynchronous?: boolean
  /** Runs the operation. @throws {OperationError} when the operation fails. */
  readonly run: (ctx: OperationContext, request: OperationRequest) => Promise<OperationResponse>
  /** As `run`, but returns text, where that is faster or where numbers must keep their digits. @throws {OperationError} as `run`. */
  readonly write?: (ctx: OperationContext, request: OperationRequest) => Promise<WrittenResponse>
  /**
   * As `run`, but returns the answer in pieces, each of which becomes a line of NDJSON. Absent where there is no such form.
   *
   * @returns Resolves once the request has been checked completely and can no longer be refused.
   * @throws {OperationError} as `run`.
   */
  readonly stream?: (ctx: OperationContext, request: OperationRequest) => Promise<AsyncIterable<JsonObject>>
}

/** A function of an engine that handles calls of its operation. */
type Engine<T> = (ctx: OperationContext, request: OperationRequest) => Promise<T>

/**
 * Creates a `run`, `write` or `stream` that loads the engine at the first call, so that a process that never calls the operation does not load it. Later
 * calls go directly to the engine.
 */
export function engineOnDemand<T>(load: () => Promise<Engine<T>>): Engine<T> {
  const loading = onDemand(load)
  let engine: Engine<T> | undefined
  return (ctx, request) => {
    if (engine !== undefined) return engine(ctx, request)
    return loading().then((loaded) => {
      engine = loaded
      return loaded(ctx, request)
    })
  }
}

/** True if the caller must not learn that a resource exists. @throws {OperationError} `forbidden` if the caller may know of it, but not read it. */
export function isHidden({ authorize }: Pick<OperationContext, 'authorize'>, type: string, id: string): boolean {
  try {
    authorize?.('read', type, id)
    return false
  } catch (error) {
    if (error instanceof OperationError && error.code === 'not-found') return true
    throw error
  }
}

/**
 * Reads the stored resource that an operation is called on; `undefined` at type level.
 *
 * @throws {OperationError} `not-found` for an unknown id; `forbidden` if the caller may not read the resource.
 */
export async function storedInstance(
  ctx: OperationContext,
  { type, id }: Pick<OperationRequest, 'type' | 'id'>,
): Promise<StoredResource | undefined> {
  if (id === undefined) return undefined
  ctx.authorize?.('read', type, id)
  const stored = await ctx.storage.read(type, id)
  if (stored === undefined)
    throw new OperationError('not-found', `There is no ${type} with the id ${quoted(id)}.`, { missing: { kind: type, name: id } })
  return stored
}
