import type { OperationContext } from 'fhir-ops/context'
import type { Bots } from 'fhir-ops/execute'
import {
  AMOUNT,
  CLOCK,
  FLAG,
  FUNCTION,
  having,
  inputShape,
  listOf,
  needed,
  OBJECT,
  oneOf,
  optionsOf,
  TEXT,
  type InputShape,
  type MemberKind,
} from 'fhir-ops/internal/input'
import { isObject } from 'fhir-ops/internal/json'
import type { Operation } from 'fhir-ops/operation'
import type { Sessions } from 'fhir-ops/sessions'
import type { Indexer } from 'fhir-ops/storage'
import type { Telemetry } from 'fhir-ops/telemetry'
import type { AccessPolicy } from './auth/caller.js'
import type { DpopOptions } from './auth/credentials.js'
import type { LogoutTokenVerifier } from './auth/logout-token.js'
import type { SmartConfiguration } from './auth/issuer.js'
import type { TokenVerifier } from './auth/token-verifier.js'
import type { CorsOptions } from './http/cors.js'
import type { HandlerLimits } from './limits.js'
import type { LogEntry } from './observe.js'

/** How thoroughly a resource is checked before it is stored. */
export type WriteChecks = 'none' | 'structure' | 'full'

/** Options of `createHandler`. */
export interface HandlerOptions extends AccessPolicy {
  /** Context in which operations run: its storage, terminology, definitions and limits. */
  readonly context: OperationContext
  /** Issues and checks tokens; behind `/oauth2/userinfo`, `/oauth2/logout`, `/auth/revoke` and `/auth/me`. */
  readonly sessions: Sessions
  /** Address under which clients reach the service, such as `https://fhir.example.org`. Links are made from it, never from the `Host` header. */
  readonly baseUrl: string
  /** Path under which requests arrive, if it differs from that of `baseUrl` (for example, if a router strips its mount path). */
  readonly mountPath?: string
  /** `off` opens the FHIR API to everybody; sessions and user information still need a token. Default `required`. */
  readonly auth?: 'required' | 'off'
  /** Verifiers for tokens of other issuers. */
  readonly verifiers?: readonly TokenVerifier[]
  /** Enables back-channel logout for these issuers. */
  readonly logoutTokens?: readonly LogoutTokenVerifier[]
  /** Accepts tokens bound to a key, with a proof of possession (the scheme DPoP). Default off. */
  readonly dpop?: DpopOptions
  /**
   * Endpoints of the authorization server for `/.well-known/smart-configuration`, by their names in SMART (`issuer`, `token_endpoint`,
   * `authorization_endpoint`, `jwks_uri` ...), or a function that looks them up for each request. Default: none are stated.
   */
  readonly smartConfiguration?: SmartConfiguration | (() => Promise<SmartConfiguration>)
  /** Operations to offer. Default: every operation of the library. */
  readonly operations?: readonly Operation[]
  /** Makes the index entries of stored resources. Default: by the search parameters of the context; without these, definitions are found by their url. */
  readonly indexer?: Indexer
  /** Enables `Bot/$execute`. */
  readonly bots?: Bots
  /** Gives bots `context.storage`, with the rights of the caller. Default false. */
  readonly grantBotStorage?: boolean
  /**
   * How a resource is checked before it is stored; a resource with errors is refused. `structure` checks against FHIR's own types, `full` validates as
   * `$validate` does, and `none` checks only type, id and form. Default `structure` if the context has the types of FHIR, else `none`.
   */
  readonly validateWrites?: WriteChecks
  /**
   * Reads bodies with `Content-Encoding: gzip`; their limits are those of the inflated body, which may be 100 times as long as what was sent if it has more than
   * 64 KiB. Default false: such requests are refused with 415.
   */
  readonly gzipRequests?: boolean
  /** Changes to the default limits on requests (`DEFAULT_HANDLER_LIMITS`). */
  readonly limits?: Partial<HandlerLimits>
  /** Realm of `WWW-Authenticate` challenges. Default `fhir-ops`. */
  readonly realm?: string
  /** With `invalid_request`, a user-information request without a token is answered with 400 instead of 401. Default `unauthorized`. */
  readonly userinfoMissingToken?: 'unauthorized' | 'invalid_request'
  /** Addresses or CIDR networks of proxies whose `X-Forwarded-For` is trusted. Default none. */
  readonly trustProxy?: readonly string[]
  /** Lets web pages of other origins call the service. Default: none may. */
  readonly cors?: CorsOptions
  /** Readiness check for `GET /readyz`; rejects while the service is not ready. Default: a read from the storage. */
  readonly readiness?: () => Promise<unknown>
  /** Receives one entry for each request. Default: nothing is logged. */
  readonly log?: (entry: LogEntry) => void
  /** OpenTelemetry tracer and meter, which record a span and a measurement for each request. Default none. */
  readonly telemetry?: Telemetry
}

const SMART: MemberKind = { words: 'an object or a function', is: (value) => isObject(value) || typeof value === 'function' }

const LIMITS_SHAPE = inputShape<HandlerLimits>({
  bodyBytes: AMOUNT,
  terminologyBytes: AMOUNT,
  binaryBytes: AMOUNT,
  longBodyBytes: AMOUNT,
  longBodyWaitMs: AMOUNT,
  urlBytes: AMOUNT,
  queryParameters: AMOUNT,
  jsonDepth: AMOUNT,
  jsonMembers: AMOUNT,
  stringLength: AMOUNT,
  concurrency: AMOUNT,
  queue: AMOUNT,
  conditionalDeletes: AMOUNT,
  bundleEntries: AMOUNT,
  closeMs: AMOUNT,
  readinessMs: AMOUNT,
  asyncRuns: AMOUNT,
  asyncResults: AMOUNT,
  asyncBytes: AMOUNT,
  asyncTimeoutMs: AMOUNT,
})

/** Expected shape of the options, for callers in plain JavaScript. */
export const HANDLER_OPTIONS: InputShape = inputShape<HandlerOptions>({
  context: needed(having('a context', ['storage', 'content', 'limits'])),
  sessions: needed(having('sessions', ['verify', 'audit'])),
  baseUrl: needed(TEXT),
  defaultPolicy: needed(oneOf('deny', 'allow-authenticated')),
  policy: FUNCTION,
  mountPath: TEXT,
  auth: oneOf('required', 'off'),
  verifiers: listOf(having('a verifier', ['claims', 'verify'])),
  logoutTokens: listOf(having('a verifier of logout tokens', ['claims', 'verify'])),
  dpop: optionsOf(inputShape<DpopOptions>({ replays: having('a memory of used keys', ['isNew']), now: CLOCK })),
  smartConfiguration: SMART,
  operations: listOf(having('an operation that states what it needs', ['name', 'run', 'needs'])),
  indexer: FUNCTION,
  bots: having('bots', ['host', 'limits']),
  grantBotStorage: FLAG,
  validateWrites: oneOf('none', 'structure', 'full'),
  gzipRequests: FLAG,
  limits: optionsOf(LIMITS_SHAPE),
  realm: TEXT,
  userinfoMissingToken: oneOf('unauthorized', 'invalid_request'),
  trustProxy: listOf(TEXT),
  cors: optionsOf(inputShape<CorsOptions>({ origins: needed(listOf(TEXT)), credentials: FLAG })),
  readiness: FUNCTION,
  log: FUNCTION,
  telemetry: OBJECT,
})
