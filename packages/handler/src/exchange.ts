import type { OperationContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import type { Awaitable } from 'fhir-ops/internal/work'
import type { Principal } from 'fhir-ops/sessions'
import { OPEN_CALLER, type Caller } from './auth/caller.js'
import { remoteHostOf, type IsTrusted } from './auth/remote-host.js'
import type { WritePlan } from './content/write-plan.js'
import type { Answer, KeptAnswer } from './http/answer.js'
import type { Body, BodyKind } from './http/body.js'
import type { Connection, HttpRequest } from './http/http-request.js'
import type { Target } from './http/target.js'

/** One request on its way to its answer: `receive` makes it, the stages complete it, each in its place. */
export interface Exchange {
  readonly request: HttpRequest
  readonly connection: Connection
  readonly requestId: string
  readonly remoteHost: string | undefined
  /** The request of a Bundle that this one is an entry of: it shares its caller, turn, time limit and cancellation. */
  readonly whole?: Exchange
  /** True for an entry whose write is planned only, to be carried out together with those of other entries. */
  readonly isPlanned?: boolean
  /** Empty until it is parsed. */
  target: Target
  /** True below the FHIR base. */
  isFhir: boolean
  /** Absent for a path that there is not. */
  match: Match | undefined
  /** `:type`, `:id`, `:version` and `:member` of the path. */
  params: ReadonlyMap<string, string>
  /** Absent where the path is not offered by this method. */
  route: Route | undefined
  /** A caller without any rights, until the token is accepted. */
  caller: Caller
  /** Whether the answer is to be laid out for a person. */
  isPretty: boolean
  /** Absent when the route reads none or an optional one did not come. */
  bytes: Uint8Array | undefined
  /** The same, decoded and parsed. */
  body: Body | undefined
  /** Where its answer is kept; absent for a request whose answer is its own. */
  kept: KeptAnswer | undefined
  /** That of the process until the request has its turn, then its own. */
  ctx: OperationContext
}

/** Methods that routes are made for; HEAD and OPTIONS follow from them. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** How failures of a route are written: as OperationOutcome, or as the JSON of OAuth. */
export type Family = 'fhir' | 'userinfo'

/** FHIR's name of what a route does, for the CapabilityStatement. */
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

/** What a successful answer carries: a resource of a type, other JSON by its schema, content of any media type, or no body. */
export type AnswerForm =
  | { readonly resource: string }
  | { readonly schema: JsonObject }
  | { readonly json: JsonObject }
  | 'content'
  | 'nothing'

/** One row of the route table, as far as it is documented. */
export interface RouteDescription {
  readonly method: Method
  /** Below the base: literals, `:type`, `:id`, `:version` and `:member` (a type in a compartment). */
  readonly path: string
  /** Types that `:type` may be; every resource type when absent. */
  readonly types?: readonly string[] | undefined
  /** `public` needs no token. */
  readonly access: 'public' | 'token'
  readonly family?: Family
  readonly body: BodyKind
  /** JSON Schema of a body that is not a FHIR resource. Default: any form. */
  readonly bodySchema?: JsonObject
  /** Default: any resource. */
  readonly answer?: AnswerForm
  /** What the caller must be allowed to do, in words, for the documentation. */
  readonly needs: string
  /** What it does, in one sentence, for the documentation. */
  readonly summary: string
  readonly interaction?: Interaction
  /** For an operation: its name and the canonical of its definition. */
  readonly operation?: { readonly name: string; readonly definition: string }
  /** The same request gets the same answer until a definition changes. */
  readonly isCacheable?: boolean | undefined
  /** `Prefer: respond-async` is honoured. */
  readonly isAsynchronous?: boolean
  /** The answer is not always JSON, so `Accept` is the route's business. */
  readonly negotiates?: boolean
  /** HEAD is refused because a GET may have effects. */
  readonly withoutHead?: boolean
  /** No time budget of the handler's: the route has its own. */
  readonly ownTimeLimit?: boolean
  /** Most bytes of the body where it is not the general limit. */
  readonly maxBytes?: (type: string) => number
}

/** One row of the route table, with what it does. */
export interface Route extends RouteDescription {
  /** @throws {OperationError} `forbidden` or `not-found`. */
  readonly authorize?: (exchange: Exchange) => void
  readonly run: (exchange: Exchange) => Awaitable<Answer>
  /** The same in lines of NDJSON, for callers that ask for it. */
  readonly stream?: (exchange: Exchange) => Promise<Answer>
  /** Of a write: what it is going to change, for those that are carried out together. */
  readonly plan?: (exchange: Exchange) => Promise<WritePlan>
}

/** What a path leads to: the routes of its methods, and what its variable segments are. */
export interface Match {
  readonly routes: ReadonlyMap<Method, Route>
  readonly params: ReadonlyMap<string, string>
}

/** What the process knows where a request comes in. */
interface Receiver {
  readonly ctx: OperationContext
  readonly isTrusted: IsTrusted
}

/** The caller of public routes, which need no rights. */
const NOBODY: Caller = { ...OPEN_CALLER, decide: () => 'deny' }

const NOT_YET = {
  target: { segments: [], query: [], rawQuery: '' },
  isFhir: false,
  match: undefined,
  params: new Map<string, string>(),
  route: undefined,
  isPretty: false,
  bytes: undefined,
  body: undefined,
  kept: undefined,
} as const

/** A request that has just arrived. */
export function receive({ ctx, isTrusted }: Receiver, request: HttpRequest, connection: Connection): Exchange {
  const remoteHost = remoteHostOf(request, connection, isTrusted)
  return { ...NOT_YET, request, connection, requestId: requestIdOf(ctx, request), remoteHost, caller: NOBODY, ctx }
}

/** An entry of a Bundle as a request of its own, by the caller of the whole. */
export function receiveEntry(whole: Exchange, request: HttpRequest, { isPlanned }: { readonly isPlanned: boolean }): Exchange {
  const { connection, requestId, remoteHost, caller, ctx } = whole
  return { ...NOT_YET, request, connection, requestId, remoteHost, whole, isPlanned, caller, ctx }
}

/** The caller's id for the request, if it is a harmless one. */
function requestIdOf(ctx: OperationContext, request: HttpRequest): string {
  const given = request.header('x-request-id')
  return given !== undefined && /^[\w.-]{1,64}$/.test(given) ? given : ctx.newId()
}

/** A part of the path that the route has for certain. */
export function param({ params }: Pick<Exchange, 'params'>, name: 'type' | 'id' | 'version' | 'member'): string {
  const value = params.get(name)
  if (value === undefined) throw new TypeError(`The route has no :${name}.`)
  return value
}

/** The principal of a call that came with a token. */
export function principalOf({ caller }: Pick<Exchange, 'caller'>): Principal {
  if (caller.principal === undefined) throw new TypeError('The route needs a token.')
  return caller.principal
}
