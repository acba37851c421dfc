import { outcomeOf } from 'fhir-ops/errors'
import { OPEN_CALLER, type Caller } from './auth/caller.js'
import { DPOP_CHALLENGE } from './auth/dpop.js'
import { remoteHostOf } from './auth/remote-host.js'
import { authenticate } from './authenticate.js'
import { dispatch } from './dispatch.js'
import type { Exchange } from './exchange.js'
import { failureAnswer, foreseen, streamWithFailure } from './failure.js'
import { isBelowFhir, nothingAt } from './fhir-place.js'
import { emptyAnswer, finished, withHeaders, type Answer } from './http/answer.js'
import { withCors } from './http/cors.js'
import type { Connection, HttpRequest } from './http/http-request.js'
import { parseTarget, type Target } from './http/target.js'
import type { LogEntry } from './log-entry.js'
import { logRequest, type Trace } from './log-request.js'
import { allowOf, routeFor, type Match, type Router } from './routes/router.js'
import type { Family, Route } from './routes/route.js'
import type { Service } from './service.js'

/** Answers a request; it never rejects. */
export function respond(service: Service, router: Router, incoming: Arriving): Promise<Answer> {
  const { observe } = service
  return observe === undefined ? answered(service, router, incoming) : observe((note) => answered(service, router, { ...incoming, note }))
}

interface Arriving {
  readonly request: HttpRequest
  readonly connection: Connection
  /** Takes what the log says. */
  readonly note?: (entry: LogEntry) => void
}

async function answered(service: Service, router: Router, incoming: Arriving): Promise<Answer> {
  const started = performance.now()
  const { request } = incoming
  const requestId = requestIdOf(service, request)
  const trace: Trace = { family: familyOf(service, request), route: 'none' }
  const answer = await answerOrFailure(service, router, { ...incoming, requestId, trace })
  const logged = (note?: Arriving['note']): void =>
    logRequest(service, { request, requestId, trace, note, status: answer.status, durationMs: performance.now() - started })
  logged(incoming.note)
  const complete = withHeaders(withCors(answer, request, service.cors), [['X-Request-Id', requestId]])
  if (complete.stream === undefined) return finished(complete, request.method)
  const stream = streamWithFailure(complete.stream, (thrown) => {
    trace.error = foreseen(thrown, requestId)
    logged()
    return outcomeOf(trace.error, service.ctx.newId())
  })
  return finished({ ...complete, stream }, request.method)
}

interface Incoming {
  readonly request: HttpRequest
  readonly connection: Connection
  readonly requestId: string
  readonly trace: Trace
}

async function answerOrFailure(service: Service, router: Router, incoming: Incoming): Promise<Answer> {
  const { requestId, trace } = incoming
  try {
    return await answerTo(service, router, incoming)
  } catch (thrown) {
    trace.error = foreseen(thrown, requestId)
    const answer = failureAnswer(trace.error, { family: trace.family, realm: service.realm, newId: service.ctx.newId })
    const challenges = service.dpop !== undefined && answer.status === 401
    return challenges ? withHeaders(answer, [['WWW-Authenticate', DPOP_CHALLENGE]]) : answer
  }
}

/** The order of checks of the security requirements, section 1: URL, credentials, and then what `dispatch` does. */
async function answerTo(service: Service, router: Router, { request, connection, requestId, trace }: Incoming): Promise<Answer> {
  const target = parseTarget(request.target, service.limits)
  const match = router(target.segments)
  const [route] = match?.routes.values() ?? []
  trace.route = route?.path ?? trace.route
  trace.family = route?.family ?? 'fhir'
  if (request.method === 'OPTIONS') return optionsAnswer(service, target, match)
  const exchange: Exchange = {
    request,
    connection,
    requestId,
    target,
    remoteHost: remoteHostOf(request, connection, service.isTrusted),
    family: trace.family,
    isFhir: isBelowFhir(service, target),
  }
  const caller = await callerFor(service, exchange, publicRoute(match, request))
  trace.sub = caller.principal?.sub
  return dispatch(service, { exchange, match, caller })
}

async function callerFor(service: Service, exchange: Exchange, open: Route | undefined): Promise<Caller> {
  if (open !== undefined) return PUBLIC
  return authenticate(service, exchange)
}

/** Nobody in particular: public routes ask for no rights. */
const PUBLIC: Caller = { ...OPEN_CALLER, decide: () => 'deny' }

function publicRoute(match: Match | undefined, { method }: HttpRequest): Route | undefined {
  const route = match && routeFor(match, method)
  return route?.access === 'public' ? route : undefined
}

function optionsAnswer(service: Service, target: Target, match: Match | undefined): Answer {
  if (match === undefined) throw nothingAt(service, target)
  return emptyAnswer(204, [['Allow', allowOf(match)]])
}

/** The user-information endpoint fails in OAuth's form, all others by OperationOutcome. Needed before the URL is known to be well-formed. */
function familyOf({ mount }: Service, { target }: HttpRequest): Family {
  const path = ['', ...mount, 'oauth2', 'userinfo'].join('/')
  return target === path || target.startsWith(`${path}?`) || target.startsWith(`${path}/`) ? 'userinfo' : 'fhir'
}

/** The caller's id for the request, if it is a harmless one (HT-13). */
function requestIdOf({ ctx }: Service, request: HttpRequest): string {
  const given = request.header('x-request-id')
  return given !== undefined && /^[\w.-]{1,64}$/.test(given) ? given : ctx.newId()
}
