import type { OperationContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import type { Awaitable, Work } from 'fhir-ops/internal/work'
import type { Principal } from 'fhir-ops/sessions'
import type { DeleteEntry, StoredResource, WriteEntry } from 'fhir-ops/storage'
import { OPEN_CALLER, type Caller } from './auth/caller.js'
import { remoteHostOf, type IsTrusted, type Connection, type HttpRequest } from './http/http-request.js'
import type { Answer, CachedAnswer } from './http/answer.js'
import type { Body, BodyKind } from './http/body.js'
import type { Target } from './http/target.js'

/** One request, from its arrival to its answer: `receive` creates it, and each stage adds its part. */
export interface Exchange {
  readonly request: HttpRequest
  readonly connection: Connection
  readonly requestId: string
  readonly remoteHost: string | undefined
  /** The batch or transaction request of which this one is an entry: they share caller, turn, time limit and cancellation. */
  readonly bundle?: Exchange
  /** True for an entry whose write is only planned, and executed later together with those of other entries. */
  readonly isPlanned?: boolean
  /** Empty until it has been parsed. */
  target: Target
  /** True for paths below the FHIR base. */
  isFhir: boolean
  /** Absent for an unknown path. */
  match: Match | undefined
  /** `:type`, `:id`, `:version` and `:member` of the path. */
  params: ReadonlyMap<string, string>
  /** Absent if the path does not support this method. */
  route: Route | undefined
  /** Has no rights until the token is accepted. */
  caller: Caller
  /** True if the answer is to be laid out for people. */
  isPretty: boolean
  /** The body until it is parsed. Absent if the route reads no body, or if an optional body was not sent. */
  bytes: Uint8Array | undefined
  /** Bytes of the room for long bodies that the body takes until the answer is ready. */
  roomTaken: number
  /** The body, decoded and parsed. */
  body: Body | undefined
  /** The place of the answer in the cache; absent if the answer depends on the individual request. */
  cached: CachedAnswer | undefined
  /** The context of the process; replaced by one for the request when its turn comes. */
  ctx: OperationContext
}

/** Methods of routes; HEAD and OPTIONS are derived from them. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Form of a route's failures: OperationOutcome, or OAuth's JSON. */
export type Family = 'fhir' | 'userinfo'

/** FHIR's name for what a route does, for the CapabilityStatement. */
export type Interaction =
  | 'read'
  | 'vread'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'search-type'
  | 'search-system'
  | 'history-instance'
  | 'history-type'
  | 'history-system'
  | 'batch'

/** Content of a successful answer: a resource of a type, other JSON with its schema, content of any media type, or no body. */
export type AnswerForm =
  | { readonly resource: string }
  | { readonly schema: JsonObject }
  | { readonly json: JsonObject }
  | 'content'
  | 'nothing'

/** The documented part of a row of the route table. */
export interface RouteDescription {
  readonly method: Method
  /** Path below the base: literals, `:type`, `:id`, `:version` and `:member` (a type in a compartment). */
  readonly path: string
  /** Allowed values of `:type`; every resource type if absent. */
  readonly types?: readonly string[] | undefined
  /** `public` requires no token. */
  readonly access: 'public' | 'token'
  readonly family?: Family
  readonly body: BodyKind
  /** JSON Schema of a body that is not a FHIR resource. Default: any. */
  readonly bodySchema?: JsonObject
  /** Default: any resource. */
  readonly answer?: AnswerForm
  /** Rights that the caller needs, in words, for the documentation. */
  readonly needs: string
  /** One sentence for the documentation. */
  readonly summary: string
  readonly interaction?: Interaction
  /** For an operation: its name and the canonical of its definition. */
  readonly operation?: { readonly name: string; readonly definition: string }
  /** True if identical requests get the same answer until a definition changes. */
  readonly isCacheable?: boolean | undefined
  /** True if `Prefer: respond-async` is supported. */
  readonly isAsynchronous?: boolean
  /** True if the answer is not always JSON, so that the route itself handles `Accept`. */
  readonly negotiates?: boolean
  /** True if HEAD is refused, because a GET may have side effects. */
  readonly withoutHead?: boolean
  /** True if the route has its own time limit instead of the handler's. */
  readonly ownTimeLimit?: boolean
  /** Maximum bytes of the body, if it differs from the general limit. */
  readonly maxBytes?: (type: string) => number
}

/** A row of the route table, including its behavior. */
export interface Route extends RouteDescription {
  /** @throws {OperationError} `forbidden` or `not-found`. */
  readonly authorize?: (exchange: Exchange) => void
  readonly run: (exchange: Exchange) => Awaitable<Answer>
  /** As `run`, with the answer as lines of NDJSON, for callers that request it. */
  readonly stream?: (exchange: Exchange) => Promise<Answer>
  /** For a write: returns the planned change, so that several can be executed together. */
  readonly plan?: (exchange: Exchange) => Promise<WritePlan>
}

/** Routes of a path, by method, and the values of its variable segments. */
export interface Match {
  readonly routes: ReadonlyMap<Method, Route>
  readonly params: ReadonlyMap<string, string>
}

/** What the process needs in order to receive a request. */
interface Receiver {
  readonly ctx: OperationContext
  readonly isTrusted: IsTrusted
}

/** The caller of public routes; has no rights and needs none. */
const NOBODY: Caller = { ...OPEN_CALLER, decide: () => 'deny' }

const NOT_YET = {
  target: { segments: [], query: [], rawQuery: '' },
  isFhir: false,
  match: undefined,
  params: new Map<string, string>(),
  route: undefined,
  isPretty: false,
  bytes: undefined,
  roomTaken: 0,
  body: undefined,
  cached: undefined,
} as const

/** Creates the exchange of a request that has just arrived. */
export function receive({ ctx, isTrusted }: Receiver, request: HttpRequest, connection: Connection): Exchange {
  const remoteHost = remoteHostOf(request, connection, isTrusted)
  return { ...NOT_YET, request, connection, requestId: requestIdOf(ctx, request), remoteHost, caller: NOBODY, ctx }
}

/** Creates the exchange of an entry of a Bundle, with the caller of the Bundle. */
export function receiveEntry(bundle: Exchange, request: HttpRequest, { isPlanned }: { readonly isPlanned: boolean }): Exchange {
  const { connection, requestId, remoteHost, caller, ctx } = bundle
  return { ...NOT_YET, request, connection, requestId, remoteHost, bundle, isPlanned, caller, ctx }
}

/** The request id chosen by the client, if it is harmless. */
function requestIdOf(ctx: OperationContext, request: HttpRequest): string {
  const given = request.header('x-request-id')
  return given !== undefined && /^[\w.-]{1,64}$/.test(given) ? given : ctx.newId()
}

/** Returns a path variable that the route always has. */
export function param({ params }: Pick<Exchange, 'params'>, name: 'type' | 'id' | 'version' | 'member'): string {
  const value = params.get(name)
  if (value === undefined) throw new TypeError(`The route has no :${name}.`)
  return value
}

/** Returns the principal of a call with a token. */
export function principalOf({ caller }: Pick<Exchange, 'caller'>): Principal {
  if (caller.principal === undefined) throw new TypeError('The route needs a token.')
  return caller.principal
}

/** A planned write, whose resource is known. */
export type WritePlan = PlannedChange & {
  /** The part of the resource to answer with; all of it if absent. */
  readonly subset?: ((text: string) => Work<string>) | undefined
}

type PlannedChange =
  /** The text of the resource may still change, because of references within a transaction. */
  | {
      readonly kind: 'put'
      readonly type: string
      readonly id: string
      readonly text: string
      readonly entry: (text: string) => Work<WriteEntry>
    }
  /** Deletes one resource by id, or all that meet the criteria; with `hidden`, the resource is out of the caller's reach and is not deleted. */
  | { readonly kind: 'delete'; readonly entries: readonly DeleteEntry[]; readonly hidden?: boolean }
  /** A conditional create that found an existing resource. */
  | { readonly kind: 'found'; readonly type: string; readonly id: string; readonly stored: StoredResource }
