import type { OperationContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import type { Parameter } from '../parameters/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { onDemand } from '../work/index.js'
import type { StoredResource } from '../storage/index.js'

/** A FHIR operation call, apart from HTTP. */
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
  /** The same as text without byte order mark, for operations that read it themselves (`$validate`). */
  readonly bodyText?: string | undefined
  /** The `Accept-Language` header as sent. */
  readonly acceptLanguage?: string | undefined
  /** True for `Prefer: handling=strict`: unknown parameters are refused by name. */
  readonly strict: boolean
}

/** What a call answers. */
export interface OperationResponse {
  readonly status: number
  readonly resource: JsonObject
  /** `Type/id` of what was stored, relative to the base. */
  readonly location?: string
}

/** What a call answers, as text. */
export interface WrittenResponse extends Omit<OperationResponse, 'resource'> {
  /** The JSON text of the resource in pieces, of about a hundred thousand characters where it is long. */
  readonly text: readonly string[] | LongText
}

/** A text that is never held as a whole: its pieces are made when they are read, and are the same each time. */
export interface LongText extends Iterable<string> {
  /** UTF-8 bytes of all of it. */
  readonly bytes: number
}

/** A header of HTTP that an operation reads as parameters, which are then as if they stood in the query. */
export interface OperationHeader {
  /** In lower case. */
  readonly name: string
  /** @throws {OperationError} for what cannot be understood. */
  readonly parameters: (text: string) => readonly Parameter[]
}

/** What can be done with resources of a type, in the words of FHIR. */
export type Action = 'read' | 'search' | 'create' | 'update' | 'delete'

/** What a caller must be allowed to do before an operation runs. */
export interface OperationNeeds {
  /** In words, for the documentation. */
  readonly text: string
  /** One of these is enough; nothing besides a token is needed when there are none. Without a type, the type that the operation is called on. */
  readonly anyOf: readonly { readonly action: Action; readonly type?: string }[]
  /** It stores what belongs to no caller in particular: rights to a part of what is stored (of one patient, by a query) are not enough. */
  readonly keepsState?: boolean
}

/** What operations on codes, value sets and code systems need. */
export const TERMINOLOGY_NEEDS: OperationNeeds = {
  text: 'ValueSet.r or CodeSystem.r',
  anyOf: [
    { action: 'read', type: 'ValueSet' },
    { action: 'read', type: 'CodeSystem' },
  ],
}

/** A FHIR operation as the handler mounts it: reads the input, runs the algorithm, writes the output. */
export interface Operation {
  /** With the dollar sign. */
  readonly name: `$${string}`
  readonly types: readonly string[] | 'any'
  /** `system` is the base itself (`[base]/$closure`), where the type of a request is empty. */
  readonly levels: readonly ('system' | 'type' | 'instance')[]
  readonly methods: readonly ('GET' | 'POST')[]
  /** Canonical of the OperationDefinition, for the CapabilityStatement. */
  readonly definition: string
  /** Type of the resource that a success answers, by which that of another server is known to be an answer. Default: any. */
  readonly answers?: string
  /** Rights that are checked before `run`; which resources of a type a caller sees is the storage's matter. */
  readonly needs: OperationNeeds
  /**
   * True when the answer at type level follows from the parameters, `Accept-Language` and the definitions alone: not from who asks, other resources, or the clock.
   * A handler may then answer the same request as before until a definition changes.
   */
  readonly cacheable?: boolean
  /** A header of the request that stands for parameters. Default: none. */
  readonly header?: OperationHeader
  /**
   * The one parameter that is a resource of the type that the operation is called on: a body that is such a resource is its value. Default: the
   * operation looks at `body` itself.
   *
   * @see https://hl7.org/fhir/R4/operations.html#executing
   */
  readonly resourceParameter?: string
  /** What a POST carries: a Parameters resource, or text that the operation parses itself. Default `parameters`. */
  readonly body?: 'parameters' | 'text'
  /** Whether it may take long, so that callers may ask for the answer later (`Prefer: respond-async`). Default false. */
  readonly asynchronous?: boolean
  /** @throws {OperationError} whatever the operation cannot do. */
  readonly run: (ctx: OperationContext, request: OperationRequest) => Promise<OperationResponse>
  /** The same answer as text, where that takes less than to make the resource and to write it, or numbers must keep their digits. @throws {OperationError} as `run`. */
  readonly write?: (ctx: OperationContext, request: OperationRequest) => Promise<WrittenResponse>
  /**
   * The same answer in pieces, each of which becomes a line of NDJSON. Absent where there is no such form.
   *
   * @returns resolves when nothing of the request can be refused any more
   * @throws {OperationError} as `run`.
   */
  readonly stream?: (ctx: OperationContext, request: OperationRequest) => Promise<AsyncIterable<JsonObject>>
}

/** What an engine does for a call of its operation. */
type Engine<T> = (ctx: OperationContext, request: OperationRequest) => Promise<T>

/**
 * The `run`, `write` or `stream` of an operation whose engine is loaded by its first call, so that a process that mounts the operation and never calls it does
 * without. Later calls are the engine's own.
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

/** Whether the caller may not know of a resource: for him it is as if it did not exist. @throws {OperationError} `forbidden` where he may not read it, and may know that. */
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
 * The stored resource that an operation is called on; `undefined` at type level.
 *
 * @throws {OperationError} `not-found` where nothing has the id; `forbidden` where the caller may not read it.
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
