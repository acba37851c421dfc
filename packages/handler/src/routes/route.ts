import type { OperationContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/json'
import type { Caller } from '../auth/caller.js'
import type { WritePlan } from '../content/write-plan.js'
import type { Answer } from '../http/answer.js'
import type { Connection, HttpRequest } from '../http/http-request.js'
import type { Target } from '../http/target.js'
import type { BodyKind } from './body-kinds.js'

/** How failures of a route are written: as OperationOutcome, or as the JSON of OAuth. */
export type Family = 'fhir' | 'userinfo'

/** A request's body, read and decoded. */
export interface CallBody {
  readonly mediaType: string
  readonly bytes: Uint8Array
  /** Strict UTF-8, without byte order mark. */
  readonly text: string
  /** Present for the kinds that are JSON. */
  readonly json?: JsonObject | undefined
}

/** One request on its way through a route. */
export interface Call {
  readonly request: HttpRequest
  readonly requestId: string
  readonly connection: Connection
  readonly remoteHost: string | undefined
  readonly target: Target
  /** `:type`, `:id`, `:version` and `:member` of the path. */
  readonly params: ReadonlyMap<string, string>
  readonly caller: Caller
  /** Absent when the route reads none or an optional one did not come. */
  readonly body?: CallBody | undefined
  /** Narrowed to this request. */
  readonly ctx: OperationContext
}

/** Methods that routes are made for; HEAD and OPTIONS follow from them. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** FHIR's name of what a route does, for the CapabilityStatement. */
export type Interaction =
  | 'read'
  | 'vread'
  | 'create'
  | 'update'
  | 'delete'
  | 'search-type'
  | 'search-system'
  | 'history-instance'
  | 'history-type'
  | 'history-system'
  | 'batch'

/** One row of the route table. */
export interface Route {
  readonly method: Method
  /** Below the base: literals, `:type`, `:id`, `:version` and `:member` (a type in a compartment). */
  readonly path: string
  /** Types that `:type` stands for; every resource type when absent. */
  readonly types?: readonly string[] | undefined
  /** `public` needs no token. */
  readonly access: 'public' | 'token'
  readonly family?: Family
  readonly body: BodyKind
  /** What the caller must be allowed to do, in words, for the documentation. */
  readonly needs: string
  /** What it does, in one sentence, for the documentation. */
  readonly summary: string
  readonly interaction?: Interaction
  /** For an operation: its name and the canonical of its definition. */
  readonly operation?: { readonly name: string; readonly definition: string }
  /** The answer is not always JSON, so `Accept` is the route's business. */
  readonly negotiates?: boolean
  /** HEAD is refused because a GET may have effects. */
  readonly withoutHead?: boolean
  /** No time budget of the handler's: the route has its own. */
  readonly ownTimeLimit?: boolean
  /** Most bytes of the body where it is not the general limit. */
  readonly maxBytes?: (type: string) => number
  /** @throws {OperationError} `forbidden` or `not-found`. */
  readonly authorize?: (call: Call) => void
  readonly run: (call: Call) => Promise<Answer>
  /** The same in lines of NDJSON, for callers that ask for it. */
  readonly stream?: (call: Call) => Promise<Answer>
  /** Of a write: what it is going to change, for those that are carried out together. */
  readonly plan?: (call: Call) => Promise<WritePlan>
}

/** A part of the path that the route has for certain. */
export function param(call: Call, name: 'type' | 'id' | 'version' | 'member'): string {
  const value = call.params.get(name)
  if (value === undefined) throw new TypeError(`The route has no :${name}.`)
  return value
}
