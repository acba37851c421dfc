import { paced } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { after, attempt, isPending, type Awaitable } from 'fhir-ops/internal/work'
import { rejected, type Principal } from 'fhir-ops/sessions'
import { rejectionReason, TOKEN_PREFIX } from 'fhir-ops/internal/sessions'
import type { Exchange, Match, Route } from './exchange.js'
import { emptyAnswer } from './http/answer.js'
import { ACCEPT_PATCH, checkBodyHead, mayBeAbsent, parsingBody, readBytesOf, SHORT_BODY } from './http/body.js'
import { isPreflight } from './http/cors.js'
import { asksForNdjson, checkAcceptsJson } from './http/negotiation.js'
import { onlyValue, parseTarget } from './http/target.js'
import { limitsForBody } from './limits.js'
import { isBelowFhir, nothingAt, allowOf, METHODS, routeFor, type Router } from './routes/router.js'
import { FHIR_PATH, type Service } from './service.js'
import { audit } from './observe.js'
import { callerOf, OPEN_CALLER } from './auth/caller.js'
import { credentialsOf, malformedCredentials, type Credentials } from './auth/credentials.js'
import { familyOf } from './failure.js'

/** A service together with its router. */
export interface Server extends Service {
  readonly router: Router
}

/** A step that every request goes through: it completes the exchange, or ends it by throwing. It returns a promise only if it has to wait. */
export type Stage = (server: Server, exchange: Exchange) => Awaitable<void>

/**
 * Stages of a request before its turn. The order limits what an anonymous caller can learn: before the token is accepted, nothing about what exists is
 * revealed, and no byte of a body is read.
 */
export const ARRIVING: readonly Stage[] = [readTarget, findRoute, authenticate, checkRoute, negotiate, readBody, findCached]

/** Stages of a request in its turn, within its time limit, before its route runs. */
export const ADMITTED: readonly Stage[] = [parseBody, authorize]

/** @throws {OperationError} as `parseTarget`; `body-structure` for an entry whose url is not relative to the FHIR base. */
function readTarget({ mount, limits }: Server, exchange: Exchange): void {
  const { request, bundle } = exchange
  exchange.target = parseTarget(bundle === undefined ? request.target : pathOfEntry(mount, request), limits)
}

function pathOfEntry(mount: Server['mount'], { method, target }: Exchange['request']): string {
  if (method !== '' && RELATIVE.test(target)) return ['', ...mount].join('/') + `${FHIR_PATH}/${target}`
  throw new OperationError('body-structure', `The entry has no request with a method and a relative url: ${quoted(target)}.`)
}

/** A path without scheme and host, a query, or both. (A URL parser would ignore control characters.) */
const RELATIVE = /^(?=.)(?:[A-Za-z$_][^:?\p{Cc}]*)?(?:\?\P{Cc}*)?$/u

/** Finds the route; `checkRoute` reports a missing one, after the caller is known. @throws {OperationError} for OPTIONS and Bundles in Bundles. */
function findRoute(server: Server, exchange: Exchange): void {
  const { request, target, bundle } = exchange
  exchange.isFhir = isBelowFhir(server, target)
  if (bundle !== undefined && !exchange.isFhir) return
  const match = server.router(target.segments)
  exchange.match = match
  exchange.params = match?.params ?? exchange.params
  exchange.route = match && routeFor(match, request.method)
  if (bundle !== undefined && request.method === 'POST' && exchange.route?.interaction === 'batch')
    throw new OperationError('not-supported', 'A Bundle of requests cannot contain another.')
  if (bundle !== undefined || request.method !== 'OPTIONS') return
  if (match === undefined && !isPreflight(request, server.cors)) throw nothingAt(server, target)
  exchange.match = match ?? NOWHERE
  exchange.route = optionsRoute(match)
}

/** The preflight of an unknown path succeeds, because browsers hide the answer if it fails: the page learns from the request that the path is unknown. */
const NOWHERE: Match = { routes: new Map(), params: new Map() }

/** OPTIONS requires no token, because browsers send it before they send one. */
function optionsRoute(match: Match | undefined): Route {
  const acceptPatch = match?.routes.has('PATCH') === true ? [ACCEPT_PATCH] : []
  const answer = emptyAnswer(204, [['Allow', match === undefined ? METHODS.join(', ') : allowOf(match)], ...acceptPatch])
  const words = { path: '', needs: 'nothing', summary: 'The methods of a path' } as const
  return { ...words, method: 'GET', access: 'public', body: 'none', negotiates: true, run: async () => answer }
}

/** @throws {OperationError} `not-found`, `method-not-allowed`; `not-supported` for an entry of a transaction whose route plans no write. */
function checkRoute(server: Server, { request, target, match, route, isPlanned }: Exchange): void {
  if (match === undefined) throw nothingAt(server, target)
  if (isPlanned === true && route?.plan === undefined) throw notInTransaction()
  if (route === undefined)
    throw new OperationError(
      'method-not-allowed',
      `The method ${quoted(request.method)} is not allowed at this path, only ${allowOf(match)}.`,
    )
}

/** Determines the form of the answer. @throws {OperationError} `not-acceptable` */
function negotiate(_server: Server, exchange: Exchange): void {
  const { request, target, route, bundle, isPlanned } = exchange
  if (route === undefined || isPlanned === true || !exchange.isFhir || request.method === 'OPTIONS') return
  exchange.isPretty = onlyValue(target.query, '_pretty') === 'true'
  const isStreamed = bundle === undefined && route.stream !== undefined && asksForNdjson(request, target.query)
  if (isStreamed) exchange.route = { ...route, run: route.stream, isCacheable: false }
  else if (route.negotiates !== true) checkAcceptsJson(request, target.query)
}

/** The error for an entry that a transaction could not roll back. */
export function notInTransaction(): OperationError {
  return new OperationError('not-supported', 'A transaction takes reads, searches, creates, updates, patches and deletions only.')
}

/**
 * Reads the body; a long one goes on when there is room for it.
 *
 * @throws {OperationError} `media-type-unsupported`, `body-too-long`, `aborted`; `throttled` if there is no room in time; `body-structure` for an entry
 *   without the required resource.
 */
function readBody(server: Server, exchange: Exchange): Awaitable<void> {
  const { request, route, bundle } = exchange
  if (route === undefined || route.body === 'none') return
  if (bundle !== undefined && !request.hasBody && !mayBeAbsent(route.body))
    throw new OperationError('body-structure', 'The entry has no resource.')
  const maxBytes = maxBytesOf(server, exchange)
  checkBodyHead(request, route.body, maxBytes)
  return after(readBytesOf(request, route.body, maxBytes), (bytes) => {
    exchange.bytes = bytes
    // The body of an entry has room with that of its Bundle.
    if (bytes !== undefined && bytes.length > SHORT_BODY && bundle === undefined) return takeRoom(server, exchange, bytes.length)
  })
}

/**
 * Takes room for a long body that has arrived: it will be in memory as text and as objects. While it arrives it takes none, so that senders who stall delay
 * nobody. A very long body takes half of the room, so that others can pass.
 */
function takeRoom({ longBodies, limits }: Server, exchange: Exchange, length: number): Awaitable<void> {
  const room = Math.min(length, Math.max(1, limits.longBodyBytes / 2))
  return after(longBodies.enter(exchange.request, room), () => void (exchange.roomTaken = room))
}

/** Frees the room of the body. */
export function leaveRoom({ longBodies }: Server, exchange: Exchange): void {
  if (exchange.roomTaken > 0) longBodies.leave(exchange.roomTaken)
  exchange.roomTaken = 0
}

/** Looks up a cached answer, which needs no turn. While the service closes, none is used. */
function findCached({ answerCache, executor }: Server, exchange: Exchange): void {
  if (!executor.isClosed()) exchange.cached = answerCache(exchange)
}

/** @throws {OperationError} as `parsingBody` */
function parseBody(server: Server, exchange: Exchange): Awaitable<void> {
  const { request, route, bytes, ctx, cached } = exchange
  if (route === undefined || bytes === undefined || cached?.answer !== undefined) return
  const limits = limitsForBody(server.limits, maxBytesOf(server, exchange))
  return after(paced(ctx, parsingBody(request, { kind: route.body, bytes, limits })), (body) => {
    exchange.body = body
    // Otherwise a long body would be in memory twice while the request is carried out.
    exchange.bytes = undefined
  })
}

/** Returns the maximum size of the request's body, in bytes. */
export function maxBytesOf({ limits }: Server, { route, params }: Exchange): number {
  return route?.maxBytes?.(params.get('type') ?? '') ?? limits.bodyBytes
}

/** @throws {OperationError} `forbidden`; `not-found` if the resource is hidden from the caller. */
function authorize(_server: Server, exchange: Exchange): void {
  exchange.route?.authorize?.(exchange)
}

/**
 * Identifies the caller; an entry of a batch has the caller of the batch. Reads nothing of the body.
 *
 * @throws {OperationError} `token-missing`, `token-malformed`, `token-invalid`, and storage errors.
 */
function authenticate(service: Service, exchange: Exchange): Promise<void> | undefined {
  if (exchange.target.query.some(([name]) => name === 'access_token')) return refuseTokenInUrl(service, exchange)
  if (exchange.bundle !== undefined || exchange.route?.access === 'public') return undefined
  if (!service.isOpen || !exchange.isFhir) return identify(service, exchange)
  exchange.caller = OPEN_CALLER
  return undefined
}

/** A token in the URL ends up in logs, so it is refused everywhere, even where no token is required. */
async function refuseTokenInUrl(service: Service, exchange: Exchange): Promise<never> {
  await audit(service, exchange, { type: 'token-in-url', outcome: 'refused' })
  throw malformedCredentials()
}

async function identify(service: Service, exchange: Exchange): Promise<void> {
  const credentials = credentialsIn(service, exchange)
  try {
    const principal = await principalOf(service, exchange, credentials)
    const caller = callerOf(principal, service.access, service.scopeReading)
    exchange.caller = isPending(caller) ? await caller : caller
  } catch (error) {
    const reason = rejectionReason(error)
    if (reason !== undefined) await audit(service, exchange, { type: 'token-rejected', outcome: 'refused', reason })
    throw error
  }
}

const BEARER: readonly string[] = ['bearer']
const BEARER_OR_DPOP: readonly string[] = ['bearer', 'dpop']

function credentialsIn(service: Service, exchange: Exchange): Credentials {
  try {
    return credentialsOf(exchange.request, exchange.connection, service.dpop === undefined ? BEARER : BEARER_OR_DPOP)
  } catch (error) {
    const isMissing = error instanceof OperationError && error.code === 'token-missing'
    if (!isMissing || familyOf(service, exchange) !== 'userinfo' || !service.isTokenRequiredAtUserInfo) throw error
    throw new OperationError('token-malformed', error.message)
  }
}

/** An unknown token that looks like ours goes to a verifier, because a host may choose any text as a fixed token. Our tokens are not bound to keys. */
function principalOf(service: Service, exchange: Exchange, credentials: Credentials): Awaitable<Principal> {
  const { token, proof } = credentials
  if (!token.startsWith(TOKEN_PREFIX) || proof !== undefined) return foreignPrincipal(service, exchange, credentials)
  const failed = (error: unknown): Promise<Principal> => {
    if (rejectionReason(error) !== 'unknown') throw error
    return foreignPrincipal(service, exchange, credentials)
  }
  return attempt(() => service.sessions.verify(token), failed)
}

async function foreignPrincipal(service: Service, exchange: Exchange, { token, proof }: Credentials): Promise<Principal> {
  const { request, remoteHost } = exchange
  const verifier = service.verifiers.find((one) => one.claims(token))
  if (verifier === undefined) throw rejected('unknown')
  const proven =
    proof === undefined ? undefined : await service.dpop?.({ proof, method: request.method, uri: uriOf(service, exchange), token })
  const verified = await verifier.verify(token, proven?.jkt)
  await proven?.use()
  return service.sessions.adopt(verified, { userAgent: request.header('user-agent'), remoteHost })
}

/** The address as the client knows it; the `Host` header is not used. */
function uriOf({ baseUrl, mount }: Service, { request }: Exchange): string {
  const prefix = mount.map((segment) => `/${segment}`).join('')
  return `${baseUrl}${request.target.slice(prefix.length)}`
}
