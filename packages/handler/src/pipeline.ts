import { createPace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError, outcomeOf } from 'fhir-ops/errors'
import { after, attempt, attemptTo, type Awaitable } from 'fhir-ops/internal/work'
import { corsHeaders } from './http/cors.js'
import { auditRefusal } from './audit.js'
import type { PlannedWrite } from './content/bundle/bundle-entries.js'
import { receive, receiveEntry, type Exchange } from './exchange.js'
import { failureAnswer, streamWithFailure, toOperationError } from './failure.js'
import { assembled, checkHeaders, answerToSend, SHORT_TEXT, prettyJson, type Answer } from './http/answer.js'
import type { Connection, HttpRequest } from './http/http-request.js'
import { logRequest, type Ending, type LogEntry } from './observe.js'
import { timeLimitFactor } from './limits.js'
import { requestContext } from './request-context.js'
import { ADMITTED, ARRIVING, leaveRoom, maxBytesOf, notInTransaction, type Server, type Stage } from './stages.js'

/** Answers a request, synchronously if nothing has to be awaited; never fails. */
export function respond(server: Server, request: HttpRequest, connection: Connection): Awaitable<Answer> {
  const { observe } = server
  const exchange = receive(server, request, connection)
  return observe === undefined ? answered(server, exchange) : observe((note) => answered(server, exchange, note))
}

/** @param note Receives the log entry. */
function answered(server: Server, exchange: Exchange, note?: (entry: LogEntry) => void): Awaitable<Answer> {
  const started = performance.now()
  return after(outcomeOfExchange(server, exchange, run), (outcome) => sent(server, exchange, { ...outcome, started, note }))
}

/** Completes the answer for sending, and logs it. */
function sent(server: Server, exchange: Exchange, { answer, error, started, note }: Outcome & Pick<Ending, 'started' | 'note'>): Answer {
  const { request, requestId } = exchange
  const logged = { status: answer.status, started }
  logRequest(server, exchange, { ...logged, error, note })
  const complete = answerToSend(answer, request.method, [...corsHeaders(answer, request, server.cors), ['X-Request-Id', requestId]])
  if (complete.stream === undefined) return complete
  const stream = streamWithFailure(complete.stream, (thrown) => {
    const failure = toOperationError(thrown, requestId)
    logRequest(server, exchange, { ...logged, error: failure })
    return outcomeOf(failure, server.ctx.newId())
  })
  return { ...complete, stream }
}

interface Outcome {
  readonly answer: Answer
  /** Why the request failed. */
  readonly error?: OperationError
}

function outcomeOfExchange(server: Server, exchange: Exchange, carryOut: (exchange: Exchange) => Awaitable<Answer>): Awaitable<Outcome> {
  const answering = (): Awaitable<Outcome> =>
    after(completed(server, exchange, carryOut), (answer) => {
      checkHeaders(answer)
      return { answer }
    })
  return attempt(answering, (thrown) => {
    const error = toOperationError(thrown, exchange.requestId)
    return { answer: failureAnswer(server, exchange, error), error }
  })
}

/** Answers an entry of a batch through the route table; the answer to a HEAD has no body. Never rejects. */
export async function respondToEntry(server: Server, whole: Exchange, request: HttpRequest): Promise<Answer> {
  const { answer } = await outcomeOfExchange(server, receiveEntry(whole, request, { isPlanned: false }), runEntry)
  return ofEntry(request, answer)
}

/** Answers a read in a transaction. @throws {OperationError} as its route; `not-supported` for routes that may have side effects, such as bots. */
export async function readForEntry(server: Server, whole: Exchange, request: HttpRequest): Promise<Answer> {
  const answer = await completed(server, receiveEntry(whole, request, { isPlanned: false }), (exchange) => {
    if (exchange.route?.withoutHead === true) throw notInTransaction()
    return runEntry(exchange)
  })
  checkHeaders(answer)
  return ofEntry(request, answer)
}

function ofEntry({ method }: HttpRequest, answer: Answer): Answer {
  return method === 'HEAD' ? { status: answer.status, headers: answer.headers } : answer
}

/** Plans the write of an entry in a transaction. @throws {OperationError} as its route; `not-supported` for anything but a write. */
export async function planEntry(server: Server, whole: Exchange, request: HttpRequest): Promise<PlannedWrite> {
  return await completed(server, receiveEntry(whole, request, { isPlanned: true }), async (exchange) => {
    if (exchange.route?.plan === undefined) throw new TypeError('The route plans nothing.')
    return { exchange, plan: await exchange.route.plan(exchange) }
  })
}

/** Takes the exchange through all stages and then calls `end`. @throws any error of a stage or of `end`; refusals are recorded. */
function completed<T>(server: Server, exchange: Exchange, end: (exchange: Exchange) => Awaitable<T>): Awaitable<T> {
  const admitted = (): Awaitable<T> => after(through(ADMITTED, server, exchange), () => end(exchange))
  const arrived = (): Awaitable<T> => after(through(ARRIVING, server, exchange), () => inTurn(server, exchange, admitted))
  const recorded = (): Awaitable<T> =>
    attempt(arrived, async (error) => {
      await auditRefusal(server, exchange, error)
      throw error
    })
  return attemptTo(recorded, () => leaveRoom(server, exchange))
}

/** Takes the exchange through the given stages. */
function through(stages: readonly Stage[], server: Server, exchange: Exchange, from: number = 0): Awaitable<void> {
  for (let at = from; at < stages.length; at++) {
    const pending = stages[at]?.(server, exchange)
    if (pending !== undefined) return pending.then(() => through(stages, server, exchange, at + 1))
  }
}

/** Engines stop at their time limit by themselves; if a storage does not answer, the request is abandoned this much later. */
const GRACE_MS = 250

/** Runs the work when the request's turn comes. An entry shares the turn of its Bundle. Cached answers, public routes and user information need no turn. */
function inTurn<T>(server: Server, exchange: Exchange, work: () => Awaitable<T>): Awaitable<T> {
  const { request, route, whole, kept, bytes } = exchange
  if (whole !== undefined || isPrompt(route) || kept?.answer !== undefined) return work()
  const factor = timeLimitFactor(server.limits, maxBytesOf(server, exchange), bytes?.length)
  const timeoutMs = server.ctx.limits.operationTimeoutMs * factor
  return server.executor.run({
    caller: request,
    timeoutMs: route?.ownTimeLimit === true ? undefined : timeoutMs + GRACE_MS,
    run: (signal) => {
      exchange.ctx = requestContext(server, exchange, { signal, ...(factor > 1 && { timeoutMs }) })
      return work()
    },
  })
}

function isPrompt(route: Exchange['route']): boolean {
  return route?.body === 'none' && (route.access === 'public' || route.family === 'userinfo')
}

function run(exchange: Exchange): Awaitable<Answer> {
  if (exchange.route === undefined) throw new TypeError('A request without a route cannot be carried out.')
  const { kept, isPretty, ctx, route } = exchange
  if (kept?.answer !== undefined) return kept.answer
  const shown = after(route.run(exchange), (answer) => (isPretty ? prettyAnswer(ctx, answer) : answer))
  return after(shown, (answer) => {
    kept?.keep(answer)
    return answer
  })
}

/** Answers an entry of a Bundle with a text in one piece, which becomes part of the answer to the Bundle. */
async function runEntry(exchange: Exchange): Promise<Answer> {
  return assembled(await run(exchange), createPace(exchange.ctx))
}

/**
 * Lays out an answer. It stays as it is if it is long (people do not read it), if the result would be too long, or if there is no time left: the layout
 * only changes white space, and the work that the answer reports is done.
 */
async function prettyAnswer(ctx: OperationContext, answer: Answer): Promise<Answer> {
  const isJson = answer.headers.some(([name, value]) => name === 'Content-Type' && value.includes('json'))
  if (!isJson || answer.body === undefined || answer.body.length > SHORT_TEXT) return answer
  try {
    const body = await createPace(ctx).run(prettyJson(answer.body, ctx.limits.maxAnswerBytes))
    return body === undefined ? answer : { ...answer, body }
  } catch (error) {
    if (error instanceof OperationError) return answer
    throw error
  }
}
