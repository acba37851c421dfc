import type { IncomingMessage, ServerResponse, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { OperationError, outcomeOf } from 'fhir-ops/errors'
import type { Awaitable } from 'fhir-ops/internal/work'
import { AMOUNT, checkArgument, checkOptions, inputShape, type InputShape, type MemberKind } from 'fhir-ops/internal/input'
import type { Handler } from '../handler.js'
import { emptyAnswer, answerToSend, fhirAnswer, type Answer } from '../http/answer.js'
import { bodyTaken, linesOf, type HttpRequest } from '../http/http-request.js'
import { createOutbox, writeAnswer } from './write-answer.js'

/** A listener for `node:http`; Express takes it as middleware. */
export type NodeListener = (message: IncomingMessage, response: ServerResponse) => void

/**
 * Serves a handler in `node:http` or Express: `createServer(toNodeListener(handler))`, `app.use('/base', toNodeListener(handler))`.
 * Mount it before anything that reads bodies.
 *
 * @throws {TypeError} if `handler` is not a handler; the listener, if it is called with objects that are not those of `node:http`.
 */
export function toNodeListener(handler: Pick<Handler, 'respond'>): NodeListener {
  const serve = serverOf('toNodeListener', handler)
  return (message, response): unknown => {
    checkExchange('toNodeListener', message, response)
    // The catch is only reached if something else has ended or changed the response. The peer sees a closed connection; the server reports the reason as
    // `clientError`. The promise is for hosts that wait for it and otherwise answer themselves, such as `fromNodeMiddleware` of h3 and API routes of Next.js.
    return serve(message, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  }
}

/** Plain JavaScript may pass something else, often the options of a handler or the promise of a handler. */
function checkHandler(factory: string, handler: unknown): void {
  const given: object = Object(handler)
  if ('respond' in given) return
  const problem = 'then' in given ? 'is a promise that was not awaited' : 'must be what createHandler returns'
  throw new TypeError(`${factory}: the handler ${problem}.`)
}

/** Plain JavaScript may pass a framework's own objects, or mocks, to which no answer could be written: whoever waits for it would wait for ever. */
function checkExchange(factory: string, message: unknown, response: unknown): void {
  const isRead = typeof message === 'object' && message !== null && 'httpVersion' in message && typeof message.httpVersion === 'string'
  if (isRead && typeof response === 'object' && response !== null && 'writeHead' in response && 'req' in response) return
  throw new TypeError(
    `${factory}: the arguments must be a request and a response of node:http (request.raw and reply.raw in Fastify), and no mocks of them.`,
  )
}

/** Answers every request with 503 and the usual headers until the handler is ready. */
export function startingListener(): NodeListener {
  return toNodeListener({ respond: async ({ method }) => answerToSend(emptyAnswer(503, [['Retry-After', '1']]), method) })
}

/** Serves one request; resolves when the answer is being sent. */
type Serve = (message: RoutedMessage, response: ServerResponse) => Promise<void>

function serverOf(factory: string, handler: Pick<Handler, 'respond'>): Serve {
  checkHandler(factory, handler)
  const outbox = createOutbox()
  return async (message, response) => {
    outbox.requestArrives()
    const request = new NodeRequest(message, response)
    const connection = { remoteAddress: message.socket.remoteAddress, rawHeaders: message.rawHeaders }
    const isServed = isSound(message)
    // What follows on this connection is not read as a request either.
    if (!isServed) response.shouldKeepAlive = false
    const answer = isServed ? await handler.respond(request, connection) : answerToSend(unsoundAnswer(message), 'GET')
    const isBodyUnread = request.hasBody && !message.complete
    return writeAnswer(response, answer, { unread: isBodyUnread ? message : undefined, outbox })
  }
}

/**
 * HTTP/1.1 requires exactly one `Host` header (RFC 9112 3.2). HTTP before 1.0 has no headers at all, and HTTP/1.0 has no `Transfer-Encoding`:
 * intermediaries may disagree about where such a body ends (RFC 9112 6.1).
 */
function isSound(message: IncomingMessage): boolean {
  const { httpVersion, headers } = message
  if (linesOf(message, 'host') > 1) return false
  if (httpVersion === '1.1') return headers.host !== undefined
  return httpVersion === '1.0' && headers['transfer-encoding'] === undefined
}

/** HTTP/2 is named, because a server that offers it, or a proxy that speaks it to its upstreams, is set up once. */
function unsoundAnswer({ httpVersion }: IncomingMessage): Answer {
  if (!httpVersion.startsWith('2')) return emptyAnswer(400)
  return fhirAnswer(400, outcomeOf(new OperationError('not-supported', TO_PROXY), crypto.randomUUID()))
}

const TO_PROXY = 'This server reads HTTP/1.1. HTTP/2 needs a proxy in front of it, which asks it by HTTP/1.1.'

/** The members of a Koa context that are used. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Path and query before any mounting. */
  readonly originalUrl: string
  respond?: boolean | undefined
}

/** Koa middleware: `app.use(toKoaMiddleware(handler))`, or mounted. Middleware after it is not called. @throws {TypeError} if `handler` is not a handler. */
export function toKoaMiddleware(handler: Pick<Handler, 'respond'>): (context: KoaContext) => Promise<void> {
  const serve = serverOf('toKoaMiddleware', handler)
  return async (context) => {
    checkExchange('toKoaMiddleware', context.req, context.res)
    Object.assign(context, { respond: false })
    return serve(Object.assign(context.req, { originalUrl: context.originalUrl }), context.res)
  }
}

/** A request that a router such as Express has passed on; its `url` then lacks the mount path. */
interface RoutedMessage extends IncomingMessage {
  readonly originalUrl?: string
}

/** Adapts a `node:http` request. Nothing is copied or read before it is needed. A class, because an unused getter costs nothing (bench `http`). */
class NodeRequest implements HttpRequest {
  readonly method: string
  readonly target: string
  readonly hasBody: boolean
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  #signal: AbortSignal | undefined

  constructor(message: RoutedMessage, response: ServerResponse) {
    const { headers } = message
    this.method = message.method ?? 'GET'
    this.target = message.originalUrl ?? message.url ?? '/'
    this.hasBody = headers['transfer-encoding'] !== undefined || (headerText(headers['content-length']) ?? '0') !== '0'
    this.#message = message
    this.#response = response
  }

  header(name: string): string | undefined {
    return headerText(this.#message.headers[name])
  }

  body(): AsyncIterable<Uint8Array> {
    prepareBody(this.#message, this.#response)
    return this.#message.iterator({ destroyOnReturn: false })
  }

  readBody(take: (chunk: Uint8Array) => void): Awaitable<void> {
    return readBody(this.#message, this.#response, take)
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this)
    return this.#signal
  }

  /** Called if the connection ends before the answer is written. */
  onGone(gone: () => void): () => void {
    const response = this.#response
    let isAwaited = true
    const onClose = (): void => {
      if (isAwaited && !response.writableFinished) gone()
    }
    if (response.destroyed) onClose()
    response.on('close', onClose)
    return () => void (isAwaited = false)
  }
}

function signalOf(request: Required<Pick<HttpRequest, 'onGone'>>): AbortSignal {
  const controller = new AbortController()
  request.onGone(() => controller.abort())
  return controller.signal
}

/** Adapters of functions as a service make requests of events, some with the length of the body as a number among the headers. */
function headerText(value: string | readonly string[] | number | undefined): string | undefined {
  if (typeof value === 'string' || value === undefined) return value
  return typeof value === 'number' ? String(value) : value.join(', ')
}

/** Reads a body through its events: an async iterator costs more than many operations do. */
function readBody(message: IncomingMessage, response: ServerResponse, take: (chunk: Uint8Array) => void): Awaitable<void> {
  prepareBody(message, response)
  if (message.readableEnded) return
  if (message.complete && !message.destroyed) return readAtOnce(message, take)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onData = (chunk: Uint8Array): void => {
    try {
      take(chunk)
    } catch (error) {
      message.pause()
      onEnd(error)
    }
  }
  const onEnd = (error?: unknown): void => {
    message.off('data', onData).off('end', onEnd).off('error', onEnd).off('close', onClose)
    if (error === undefined) resolve()
    else reject(error)
  }
  const onClose = (): void => onEnd(new Error('The connection was closed.'))
  message.on('data', onData).on('end', onEnd).on('error', onEnd).on('close', onClose)
  if (message.destroyed) onClose()
  return promise
}

/** Reads a body that has already arrived, like most once the token is accepted: waiting for events takes longer than parsing (bench `http`). */
function readAtOnce(message: IncomingMessage, take: (chunk: Uint8Array) => void): void {
  for (let chunk: Uint8Array | null = message.read(); chunk !== null; chunk = message.read()) take(chunk)
}

/** @throws {OperationError} the error of `bodyTaken`, if the host has already read from the body or turned it into a stream of text. */
function prepareBody(message: IncomingMessage, response: ServerResponse): void {
  if (message.readableDidRead || message.readableEncoding !== null) throw bodyTaken()
  if (awaitsContinue(message)) response.writeContinue()
}

/** Time-outs of an HTTP server, in milliseconds. */
export interface ServerTimeouts {
  /** Time until the headers are complete. Default 5,000. */
  readonly headersMs?: number
  /** Time until the body is complete. Default 30,000. */
  readonly requestMs?: number
  /** How long an idle connection stays open. Default 5,000. */
  readonly keepAliveMs?: number
}

const SHAPE: InputShape = inputShape<ServerTimeouts>({ headersMs: AMOUNT, requestMs: AMOUNT, keepAliveMs: AMOUNT })

/** An application of Express or Koa has `on` and `listen`, too. */
const SERVER: MemberKind = {
  words: 'what createServer of node:http, or listen of Express and Koa, returns',
  is: (value) => ['on', 'listen', 'close'].every((member) => member in Object(value ?? {})),
}

/** How often Node checks for late senders. */
const CHECK_MS = 1_000

/** Marks a request whose sender waits for `100 Continue` before it sends the body. */
const AWAITS_CONTINUE = Symbol('awaits 100 Continue')

/**
 * Sets the time-outs of a server, lets the handler decide about requests with `Expect: 100-continue`, and answers requests that are not valid HTTP.
 * Set the limit on header size with `createServer({ maxHeaderSize: 16 * 1024 })`, which is Node's default. Call it before the server listens, or in the same
 * turn: from then on Node checks for late senders every second, unless `createServer` was given a shorter interval, and otherwise every 30 seconds.
 *
 * @throws {TypeError} for what is not a server, and for a time-out that is unknown or not a number.
 */
export function configureServer(server: Server, timeouts: ServerTimeouts = {}): Server {
  checkArgument('configureServer: the server', server, SERVER)
  checkOptions('configureServer', SHAPE, timeouts)
  server.headersTimeout = timeouts.headersMs ?? 5_000
  server.requestTimeout = timeouts.requestMs ?? 30_000
  server.keepAliveTimeout = timeouts.keepAliveMs ?? 5_000
  // The listener refuses a request without Host, because Node would do so without the headers that every answer has. Of what `createServer` takes as
  // options, Node reads these from the server.
  Object.assign(server, { requireHostHeader: false, connectionsCheckingInterval: Math.min(CHECK_MS, checkingIntervalOf(server)) })
  server.on('checkContinue', (message, response) => {
    Object.defineProperty(message, AWAITS_CONTINUE, { value: true })
    server.emit('request', message, response)
  })
  server.on('checkExpectation', (message, response) => server.emit('request', message, response))
  server.on('clientError', (error, socket: Socket) => refuseUnreadable(error, socket))
  // A CONNECT request names another host instead of a path; without a listener, Node closes the connection without an answer.
  server.on('connect', (_, socket) =>
    refuse(
      400,
      socket.on('error', () => socket.destroy()),
    ),
  )
  return server
}

/** How often Node checks for late senders, in milliseconds. */
function checkingIntervalOf(server: Server): number {
  return 'connectionsCheckingInterval' in server ? Number(server.connectionsCheckingInterval) : CHECK_MS
}

/** True when the sender of this request waits for `100 Continue`. */
function awaitsContinue(message: IncomingMessage): boolean {
  return AWAITS_CONTINUE in message
}

/**
 * Refuses what Node could not read as a request, with the headers that every answer has, and closes the connection. Nothing is
 * written if the sender is late or was already sent something: it could mistake this for the answer to another request.
 */
function refuseUnreadable(error: Error, socket: Socket): void {
  const status = statusOf(error)
  if (status === undefined || !socket.writable || socket.bytesWritten > 0) socket.destroy()
  else refuse(status, socket)
}

function refuse(status: keyof typeof REASONS, socket: Duplex): void {
  const { headers } = answerToSend(
    emptyAnswer(status, [
      ['Content-Length', '0'],
      ['Connection', 'close'],
    ]),
    'GET',
  )
  const lines = [`HTTP/1.1 ${status} ${REASONS[status]}`, ...headers.map((header) => header.join(': '))]
  socket.end(`${lines.join('\r\n')}\r\n\r\n`, () => socket.destroy())
}

/** Written out here, because importing `node:http` also loads HTTP/2 and the HTTP client, which the host that creates the server may not need. */
const REASONS = { 400: 'Bad Request', 413: 'Payload Too Large', 431: 'Request Header Fields Too Large' } as const

function statusOf(error: Error): keyof typeof REASONS | undefined {
  const code = 'code' in error ? error.code : undefined
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' || code === 'ECONNRESET') return undefined
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW' ? 413 : 400
}
