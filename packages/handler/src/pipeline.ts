import { createPace } from 'fhir-ops/internal/context'
import { outcomeOf, type OperationError } from 'fhir-ops/errors'
import { after, attempt, withFinally, type Awaitable } from 'fhir-ops/internal/work'
import { corsHeaders } from './http/cors.js'
import { auditRefusal, logRequest, type Ending, type LogEntry } from './observe.js'
import type { PlannedWrite } from './content/bundle/bundle-entries.js'
import { receive, receiveEntry, type Exchange } from './exchange.js'
import { failureAnswer, streamWithFailure, toOperationError } from './failure.js'
import { assembled, checkHeaders, answerToSend, type Answer, prettyAnswer } from './http/answer.js'
import type { Connection, HttpRequest } from './http/http-request.js'
import { timeLimitFactor } from './limits.js'
import { requestContext } from './request-context.js'
import { ADMITTED, ARRIVING, leaveRoom, maxBytesOf, notInTransaction, type Server, type Stage } from './stages.js'

/** Answers a request, synchronously if nothing has to be awaited; never fails. */
export function respond(server: Server, request: HttpRequest, connection: Connection): Awaitable<Answer> {
  const { observe } = server
  const exchange = receive(server, request, connection)
  return observe === undefined ? answerAndLog(server, exchange) : observe((note) => answerAndLog(server, exchange, note))
}

/** @param note Receives the log entry. */
function answerAndLog(server: Server, exchange: Exchange, note?: (entry: LogEntry) => void): Awaitable<Answer> {
  const started = performance.now()
  return after(answerOrFailure(server, exchange, runRoute), (result) => completeAndLog(server, exchange, { ...result, started, note }))
}

interface AnswerOrFailure {
  readonly answer: Answer
  /** Why the request failed; the answer reports it. */
  readonly error?: OperationError
}

function answerOrFailure(server: Server, exchange: Exchange, end: (exchange: Exchange) => Awaitable<Answer>): Awaitable<AnswerOrFailure> {
  const answering = (): Awaitable<AnswerOrFailure> =>
    after(throughStages(server, exchange, end), (answer) => {
      checkHeaders(answer)
      return { answer }
    })
  return attempt(answering, (thrown) => {
    const error = toOperationError(thrown, exchange.requestId)
    return { answer: failureAnswer(server, exchange, error), error }
  })
}

/** Takes the exchange through all stages and then calls `end`. @throws any error of a stage or of `end`; refusals are recorded. */
function throughStages<T>(server: Server, exchange: Exchange, end: (exchange: Exchange) => Awaitable<T>): Awaitable<T> {
  const recorded = (): Awaitable<T> =>
    attempt(
      () => admitAndEnd(server, exchange, end),
      (error) => recordRefusal(server, exchange, error),
    )
  return withFinally(recorded, () => leaveRoom(server, exchange))
}

/** The stages before the request's turn and, in its turn, the other stages and `end`. */
function admitAndEnd<T>(server: Server, exchange: Exchange, end: (exchange: Exchange) => Awaitable<T>): Awaitable<T> {
  const admitted = (): Awaitable<T> => after(runStages(ADMITTED, server, exchange), () => end(exchange))
  return after(runStages(ARRIVING, server, exchange), () => inTurn(server, exchange, admitted))
}

/** @throws the error, after it is recorded if it refuses the request. */
async function recordRefusal(server: Server, exchange: Exchange, error: unknown): Promise<never> {
  await auditRefusal(server, exchange, error)
  throw error
}

function runStages(stages: readonly Stage[], server: Server, exchange: Exchange, from: number = 0): Awaitable<void> {
  for (let at = from; at < stages.length; at++) {
    const pending = stages[at]?.(server, exchange)
    if (pending !== undefined) return pending.then(() => runStages(stages, server, exchange, at + 1))
  }
}

/** Engines stop at their time limit by themselves; if a storage does not answer, the request is abandoned this much later. */
const GRACE_MS = 250

/** Runs the work when the request's turn comes. An entry shares the turn of its Bundle. Cached answers, public routes and user information need no turn. */
function inTurn<T>(server: Server, exchange: Exchange, work: () => Awaitable<T>): Awaitable<T> {
  const { request, route, bundle, cached, bytes } = exchange
  if (bundle !== undefined || isPrompt(route) || cached?.answer !== undefined) return work()
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

function runRoute(exchange: Exchange): Awaitable<Answer> {
  if (exchange.route === undefined) throw new TypeError('A request without a route cannot be carried out.')
  const { cached, isPretty, ctx, route } = exchange
  if (cached?.answer !== undefined) return cached.answer
  const shown = after(route.run(exchange), (answer) => (isPretty ? prettyAnswer(ctx, answer) : answer))
  return after(shown, (answer) => {
    cached?.store(answer)
    return answer
  })
}

/** Completes the answer for sending, and logs it. */
function completeAndLog(
  server: Server,
  exchange: Exchange,
  { answer, error, started, note }: AnswerOrFailure & Pick<Ending, 'started' | 'note'>,
): Answer {
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

/** Answers an entry of a batch through the route table; the answer to a HEAD has no body. Never rejects. */
export async function respondToEntry(server: Server, bundle: Exchange, request: HttpRequest): Promise<Answer> {
  const { answer } = await answerOrFailure(server, receiveEntry(bundle, request, { isPlanned: false }), runEntryRoute)
  return withoutHeadBody(request, answer)
}

/** Answers a read in a transaction. @throws {OperationError} as its route; `not-supported` for routes that may have side effects, such as bots. */
export async function readEntry(server: Server, bundle: Exchange, request: HttpRequest): Promise<Answer> {
  const answer = await throughStages(server, receiveEntry(bundle, request, { isPlanned: false }), (exchange) => {
    if (exchange.route?.withoutHead === true) throw notInTransaction()
    return runEntryRoute(exchange)
  })
  checkHeaders(answer)
  return withoutHeadBody(request, answer)
}

function withoutHeadBody({ method }: HttpRequest, answer: Answer): Answer {
  return method === 'HEAD' ? { status: answer.status, headers: answer.headers } : answer
}

/** Plans the write of an entry in a transaction. @throws {OperationError} as its route; `not-supported` for anything but a write. */
export async function planEntry(server: Server, bundle: Exchange, request: HttpRequest): Promise<PlannedWrite> {
  return await throughStages(server, receiveEntry(bundle, request, { isPlanned: true }), async (exchange) => {
    if (exchange.route?.plan === undefined) throw new TypeError('The route plans nothing.')
    return { exchange, plan: await exchange.route.plan(exchange) }
  })
}

/** Answers an entry of a Bundle with a text in one piece, which becomes part of the answer to the Bundle. */
async function runEntryRoute(exchange: Exchange): Promise<Answer> {
  return assembled(await runRoute(exchange), createPace(exchange.ctx))
}
