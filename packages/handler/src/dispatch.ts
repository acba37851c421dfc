import { createPace, forRequest, type Limits, type OperationContext } from 'fhir-ops/context'
import { OperationError, quoted } from 'fhir-ops/errors'
import { paced } from 'fhir-ops/work'
import type { Arrival } from './arrival.js'
import { auditRefusal } from './audit-refusal.js'
import { authorize } from './auth/caller.js'
import { narrowedStorage } from './content/narrowed-storage.js'
import type { PlannedWrite } from './content/bundle/part-runner.js'
import type { Exchange } from './exchange.js'
import { failureAnswer } from './failure.js'
import { nothingAt } from './fhir-place.js'
import { withHeaders, type Answer } from './http/answer.js'
import { asksForNdjson, checkAcceptsJson } from './http/media-types.js'
import { prettyJson } from './http/pretty.js'
import { onlyValue } from './http/target.js'
import type { HandlerLimits } from './limits.js'
import { checkBodyHead, parsingBody, readBody } from './routes/body-kinds.js'
import { allowOf, routeFor, type Match } from './routes/router.js'
import type { Call, Route } from './routes/route.js'
import type { Service } from './service.js'

/** The rest of the order of checks: route, method, Accept, Content-Type, declared length, body, authorization, execution. */
export async function dispatch(service: Service, arrival: Arrival): Promise<Answer> {
  try {
    return await checkedAnswer(service, arrival)
  } catch (error) {
    await auditRefusal(service, arrival, error)
    throw error
  }
}

/** A part of a transaction up to what it is going to write, after the same checks. @throws {OperationError} as `dispatch`, and as its route. */
export async function planWrite(service: Service, arrival: Arrival): Promise<PlannedWrite> {
  try {
    return await checkedPlan(service, arrival)
  } catch (error) {
    await auditRefusal(service, arrival, error)
    throw error
  }
}

async function checkedPlan(service: Service, arrival: Arrival): Promise<PlannedWrite> {
  const { exchange, match, partOf } = arrival
  const route = match && routeFor(match, exchange.request.method)
  if (match === undefined) throw nothingAt(service, exchange.target)
  if (route?.plan === undefined) {
    throw new OperationError('not-supported', 'A transaction takes reads, searches, creates, updates and deletions only.')
  }
  const bytes = await bodyOf(service, { exchange, match, route })
  const call = await callOf(service, { ...arrival, match, route, bytes }, partOf ?? service.ctx)
  route.authorize?.(call)
  return { call, plan: await route.plan(call) }
}

async function checkedAnswer(service: Service, arrival: Arrival): Promise<Answer> {
  const { exchange, match } = arrival
  const { request, target } = exchange
  if (match === undefined) throw nothingAt(service, target)
  const found = routeFor(match, request.method)
  if (found === undefined) return methodRefused(service, exchange, match)
  const route = arrival.partOf === undefined ? negotiated(found, exchange) : found
  const pretty = exchange.isFhir && onlyValue(target.query, '_pretty') === 'true'
  if (exchange.isFhir && route.negotiates !== true) checkAcceptsJson(request, target.query)
  const bytes = await bodyOf(service, { exchange, match, route })
  const answer = await execute(service, { ...arrival, match, route, bytes })
  return pretty ? prettyAnswer(service.ctx, answer) : answer
}

/** The route in the form that the caller asks for; an entry of a batch has no choice. */
function negotiated(route: Route, { request, target }: Exchange): Route {
  if (route.stream === undefined || !asksForNdjson(request, target.query)) return route
  return { ...route, run: route.stream, negotiates: true }
}

/** A request whose route is known. */
interface Routed {
  readonly exchange: Exchange
  readonly match: Match
  readonly route: Route
}

async function bodyOf(service: Service, { exchange: { request }, match, route }: Routed): Promise<Uint8Array | undefined> {
  const maxBytes = maxBytesOf(service, route, match)
  checkBodyHead(request, route.body, maxBytes)
  return readBody(request, route.body, maxBytes)
}

interface Execution extends Arrival, Routed {
  readonly match: Match
  readonly bytes: Uint8Array | undefined
}

async function execute(service: Service, execution: Execution): Promise<Answer> {
  const { route, exchange, partOf } = execution
  if (partOf !== undefined) return authorizedRun(service, execution, partOf)
  if (route.access === 'public' && route.body === 'none') return route.run(await callOf(service, execution, service.ctx))
  return service.executor.run({
    signal: exchange.request.signal,
    timeoutMs: route.ownTimeLimit === true ? undefined : service.ctx.limits.operationTimeoutMs + GRACE_MS,
    run: (signal) => authorizedRun(service, execution, contextOf(service, execution, signal)),
  })
}

async function authorizedRun(service: Service, execution: Execution, ctx: OperationContext): Promise<Answer> {
  const call = await callOf(service, execution, ctx)
  execution.route.authorize?.(call)
  return execution.route.run(call)
}

/** Engines end by themselves at their time limit; what waits for a storage that does not answer is given up this much later. */
const GRACE_MS = 250

async function callOf(service: Service, { exchange, match, route, bytes, caller }: Execution, ctx: OperationContext): Promise<Call> {
  const { request, requestId, connection, remoteHost, target } = exchange
  const limits = bodyLimits(service, maxBytesOf(service, route, match))
  const body = await paced(parsingBody(request, { kind: route.body, bytes, limits }), createPace(ctx))
  return { request, requestId, connection, remoteHost, target, params: match.params, caller, body, ctx }
}

function contextOf(service: Service, { caller, exchange }: Execution, signal: AbortSignal): OperationContext {
  const ctx = forRequest(service.ctx, {
    signal,
    limits: requestLimits(service.ctx.limits, exchange),
    authorize: (action, type, id) => authorize(caller, { action, type, id }),
  })
  return caller.isNarrowed ? { ...ctx, storage: narrowedStorage(ctx, caller, service.indexer) } : ctx
}

/** `X-TOO-COSTLY-THRESHOLD` may only lower the bound on expansions. */
function requestLimits(limits: Limits, { request }: Exchange): Partial<Limits> {
  const asked = request.header('x-too-costly-threshold')
  if (asked === undefined || !/^\d{1,9}$/.test(asked)) return {}
  return { maxExpansion: Math.min(limits.maxExpansion, Number(asked)) }
}

function maxBytesOf(service: Service, route: Route, match: Match): number {
  return route.maxBytes?.(match.params.get('type') ?? '') ?? service.limits.bodyBytes
}

/** A body that may be larger than others may have more members, too. */
function bodyLimits({ limits }: Service, maxBytes: number): HandlerLimits {
  return maxBytes > limits.bodyBytes
    ? { ...limits, jsonMembers: Math.max(limits.jsonMembers, Math.floor(maxBytes / BYTES_OF_MEMBER)) }
    : limits
}

const BYTES_OF_MEMBER = 20

function methodRefused(service: Service, { request, family }: Exchange, match: Match): Answer {
  const error = new OperationError('method-not-allowed', `The method ${quoted(request.method)} is not offered at this path.`)
  const answer = failureAnswer(error, { family, realm: service.realm, newId: service.ctx.newId })
  return withHeaders(answer, [['Allow', allowOf(match)]])
}

/** Characters of an answer that is laid out for a person to read; no person reads a longer one. */
const MAX_PRETTY = 1024 * 1024

/** An answer that is long, or would be too long when laid out, stays as it is: the layout changes nothing but blanks. */
async function prettyAnswer(ctx: OperationContext, answer: Answer): Promise<Answer> {
  const isJson = answer.headers.some(([name, value]) => name === 'Content-Type' && value.includes('json'))
  if (!isJson || answer.body === undefined || answer.body.length > MAX_PRETTY) return answer
  const body = await paced(prettyJson(answer.body, ctx.limits.maxAnswerBytes), createPace(ctx))
  return body === undefined ? answer : { ...answer, body }
}
