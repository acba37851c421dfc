import { COMPARTMENT_TYPES, paced } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { resourceTypes } from 'fhir-ops/internal/storage'
import { didYouMean, nearest } from 'fhir-ops/internal/text'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import type { Operation } from 'fhir-ops/operation'
import { isResourceType } from 'fhir-ops/storage'
import { authenticate } from './authenticate.js'
import type { Exchange, Match, Route } from './exchange.js'
import { emptyAnswer } from './http/answer.js'
import { ACCEPT_PATCH, checkBodyHead, mayBeAbsent, parsingBody, readBytesOf } from './http/body.js'
import { isPreflight } from './http/cors.js'
import { asksForNdjson, checkAcceptsJson } from './http/media-types.js'
import { onlyValue, parseTarget, type Target } from './http/target.js'
import { limitsForBody } from './limits.js'
import { allowOf, METHODS, routeFor, type Router } from './routes/router.js'
import { FHIR_PATH, type Service } from './service.js'

/** A service whose routes are known. */
export interface Server extends Service {
  readonly router: Router
}

/** A step of every request to its answer: it completes the exchange, or ends it by throwing. A promise only where something has to be waited for. */
export type Stage = (server: Server, exchange: Exchange) => Awaitable<void>

/**
 * What a request goes through before it takes a turn. The order is what an anonymous caller may learn: nothing of what exists, and no byte of a
 * body is read before the token is accepted.
 */
export const ARRIVING: readonly Stage[] = [readTarget, findRoute, authenticate, negotiate, readBody, findKept]

/** What a request goes through in its turn, within its time limit, before it is carried out. */
export const ADMITTED: readonly Stage[] = [parseBody, authorize]

/** @throws {OperationError} as `parseTarget`; `body-structure` for an entry whose url is not relative to the FHIR base. */
function readTarget({ mount, limits }: Server, exchange: Exchange): void {
  const { request, whole } = exchange
  exchange.target = parseTarget(whole === undefined ? request.target : pathOfEntry(mount, request), limits)
}

function pathOfEntry(mount: Server['mount'], { method, target }: Exchange['request']): string {
  if (method !== '' && RELATIVE.test(target)) return ['', ...mount].join('/') + `${FHIR_PATH}/${target}`
  throw new OperationError('body-structure', `The entry has no request with a method and a relative url: ${quoted(target)}.`)
}

/** A path that has neither a scheme nor a host, a query, or both; a parser of URLs would ignore control characters. */
const RELATIVE = /^(?=.)(?:[A-Za-z$_][^:?\p{Cc}]*)?(?:\?\P{Cc}*)?$/u

/** Finds the route; that there is none is for `negotiate` to say, once the caller is known. @throws {OperationError} for OPTIONS and Bundles in Bundles. */
function findRoute(server: Server, exchange: Exchange): void {
  const { request, target, whole } = exchange
  exchange.isFhir = isBelowFhir(server, target)
  if (whole !== undefined && !exchange.isFhir) return
  const match = server.router(target.segments)
  exchange.match = match
  exchange.params = match?.params ?? exchange.params
  exchange.route = match && routeFor(match, request.method)
  if (whole !== undefined && request.method === 'POST' && exchange.route?.interaction === 'batch')
    throw new OperationError('not-supported', 'A Bundle of requests cannot contain another.')
  if (whole !== undefined || request.method !== 'OPTIONS') return
  if (match === undefined && !isPreflight(request, server.cors)) throw nothingAt(server, target)
  exchange.match = match ?? NOWHERE
  exchange.route = optionsRoute(match)
}

/** A browser tells a page of no answer whose preflight was refused: so a page learns that there is nothing from the request itself. */
const NOWHERE: Match = { routes: new Map(), params: new Map() }

/** OPTIONS needs no token, so that browsers can ask before they send one. */
function optionsRoute(match: Match | undefined): Route {
  const acceptPatch = match?.routes.has('PATCH') === true ? [ACCEPT_PATCH] : []
  const answer = emptyAnswer(204, [['Allow', match === undefined ? METHODS.join(', ') : allowOf(match)], ...acceptPatch])
  const words = { path: '', needs: 'nothing', summary: 'The methods of a path' } as const
  return { ...words, method: 'GET', access: 'public', body: 'none', negotiates: true, run: async () => answer }
}

/** The form of the answer. @throws {OperationError} `not-found`, `method-not-allowed`, `not-acceptable`, `not-supported` */
function negotiate(server: Server, exchange: Exchange): void {
  const { request, target, match, route, whole } = exchange
  if (match === undefined) throw nothingAt(server, target)
  if (exchange.isPlanned === true) return checkPlan(route)
  if (route === undefined)
    throw new OperationError('method-not-allowed', `The method ${quoted(request.method)} is not allowed at this path.`)
  if (!exchange.isFhir || request.method === 'OPTIONS') return
  exchange.isPretty = onlyValue(target.query, '_pretty') === 'true'
  const isStreamed = whole === undefined && route.stream !== undefined && asksForNdjson(request, target.query)
  if (isStreamed) exchange.route = { ...route, run: route.stream, isCacheable: false }
  else if (route.negotiates !== true) checkAcceptsJson(request, target.query)
}

function checkPlan(route: Route | undefined): void {
  if (route?.plan !== undefined) return
  throw notInTransaction()
}

/** The error of an entry that a transaction could not take back. */
export function notInTransaction(): OperationError {
  return new OperationError('not-supported', 'A transaction takes reads, searches, creates, updates, patches and deletions only.')
}

/** @throws {OperationError} `media-type-unsupported`, `body-too-long`, `aborted`; `body-structure` for an entry without the resource that it needs. */
function readBody(server: Server, exchange: Exchange): Awaitable<void> {
  const { request, route, whole } = exchange
  if (route === undefined || route.body === 'none') return
  if (whole !== undefined && !request.hasBody && !mayBeAbsent(route.body))
    throw new OperationError('body-structure', 'The entry has no resource.')
  const maxBytes = maxBytesOf(server, exchange)
  checkBodyHead(request, route.body, maxBytes)
  return after(readBytesOf(request, route.body, maxBytes), (bytes) => void (exchange.bytes = bytes))
}

/** What was answered before needs no turn. A service that closes answers nothing more. */
function findKept({ findAnswer, executor }: Server, exchange: Exchange): void {
  if (!executor.isClosed()) exchange.kept = findAnswer(exchange)
}

/** @throws {OperationError} as `parsingBody` */
function parseBody(server: Server, exchange: Exchange): Awaitable<void> {
  const { request, route, bytes, ctx, kept } = exchange
  if (route === undefined || bytes === undefined || kept?.answer !== undefined) return
  const limits = limitsForBody(server.limits, maxBytesOf(server, exchange))
  return after(paced(ctx, parsingBody(request, { kind: route.body, bytes, limits })), (body) => void (exchange.body = body))
}

function maxBytesOf({ limits }: Server, { route, params }: Exchange): number {
  return route?.maxBytes?.(params.get('type') ?? '') ?? limits.bodyBytes
}

/** @throws {OperationError} `forbidden`; `not-found` for what is hidden from the caller. */
function authorize(_server: Server, exchange: Exchange): void {
  exchange.route?.authorize?.(exchange)
}

const FHIR_SEGMENTS = FHIR_PATH.split('/').slice(1)

/** True for a path at or below the FHIR base. */
function isBelowFhir({ mount }: Server, { segments }: Target): boolean {
  const depth = mount.length
  return mount.every((segment, at) => segments[at] === segment) && FHIR_SEGMENTS.every((segment, at) => segments[depth + at] === segment)
}

/** The error of a path that no route has. It names the type or the operation that there is not, or says where FHIR is. */
function nothingAt(server: Server, target: Target): OperationError {
  const base = [...server.mount, ...FHIR_SEGMENTS]
  const problem = isBelowFhir(server, target)
    ? missing(server, target.segments.slice(base.length))
    : `There is nothing at this path: FHIR is below '/${base.join('/')}'.`
  return new OperationError('not-found', problem)
}

function missing({ operations }: Server, segments: readonly string[]): string {
  const [type = '', ...rest] = segments
  const last = rest.at(-1) ?? type
  if (segments.includes('')) return 'There is nothing at this path: it has an empty part (//).'
  if (!type.startsWith('$') && !isResourceType(type)) {
    return hinted(`There is no resource type ${quoted(type)}.`, didYouMean(nearest(type, resourceTypes())))
  }
  if (!last.startsWith('$')) return isCompartmentPath(segments) ? noCompartment(type) : 'There is nothing at this path.'
  const elsewhere = operations.find(({ name }) => name === last)
  if (elsewhere !== undefined) return `There is no operation ${quoted(last)} at this path, but at ${quoted(pathOf(elsewhere))}.`
  if (NOT_OFFERED.has(last)) return `There is no operation ${quoted(last)} at this path: it is not offered by this server.`
  const names = operations.map(({ name }) => name)
  return hinted(`There is no operation ${quoted(last)} at this path.`, didYouMean(nearest(last, names)))
}

/** Operations of R4 and of well-known guides and servers, which are not misspelt. */
const NOT_OFFERED: ReadonlySet<string> = new Set(
  `add apply care-gaps cda conforms convert current-canonical diff docref document everything expand-profile expunge export extract find find-matches get-ws-binding-token
  graph graphql implements import lastn match meta meta-add meta-delete populate populatehtml populatelink preferred-id process-message purge questionnaire reindex remove
  stats status subset summary transform versions`
    .split(/\s+/)
    .map((name) => `$${name}`),
)

/** `Location/x/Observation` looks like a search of a compartment. */
function isCompartmentPath([, , member = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && isResourceType(member)
}

function noCompartment(type: string): string {
  return `There is nothing at this path: ${type} has no compartment, as ${COMPARTMENT_TYPES.join(', ')} have.`
}

/** Where an operation is, below the FHIR base. */
function pathOf({ name, types, levels }: Operation): string {
  const type = types === 'any' ? '[type]' : (types[0] ?? '[type]')
  if (levels.includes('type')) return `${type}/${name}`
  return levels.includes('system') ? name : `${type}/[id]/${name}`
}

function hinted(text: string, hint: string | undefined): string {
  return hint === undefined ? text : `${text} ${hint}`
}
