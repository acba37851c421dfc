import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Awaitable } from 'fhir-ops/internal/work'
import type { Handler } from '../handler.js'
import { emptyAnswer, answerToSend } from '../http/answer.js'
import { bodyTaken, linesOf, type HttpRequest } from '../http/http-request.js'
import { awaitsContinue } from './configure-server.js'
import { createOutbox, writeAnswer } from './write-answer.js'

/** A listener for `node:http`; Express takes it as middleware. */
export type NodeListener = (message: IncomingMessage, response: ServerResponse) => void

/**
 * Serves a handler in `node:http` or Express: `createServer(toNodeListener(handler))`, `app.use('/base', toNodeListener(handler))`.
 * Mount it before anything that reads bodies.
 *
 * @throws {TypeError} if `handler` is not a handler.
 */
export function toNodeListener(handler: Pick<Handler, 'respond'>): NodeListener {
  const serve = serverOf('toNodeListener', handler)
  return (message, response) => {
    // Only reached if something else has ended or changed the response. The peer sees a closed connection; the server reports the reason as `clientError`.
    serve(message, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  }
}

/** Plain JavaScript may pass something else, often the options of a handler or the promise of a handler. */
function checkHandler(factory: string, handler: unknown): void {
  const given: object = Object(handler)
  if ('respond' in given) return
  const problem = 'then' in given ? 'is a promise that was not awaited' : 'must be what createHandler returns'
  throw new TypeError(`${factory}: the handler ${problem}.`)
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
    const answer = isServed ? await handler.respond(request, connection) : answerToSend(emptyAnswer(400), 'GET')
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
  return (context) => {
    Object.assign(context, { respond: false })
    return serve(Object.assign(context.req, { originalUrl: context.originalUrl }), context.res)
  }
}

/** A request that a router such as Express has passed on; its `url` then lacks the mount path. */
export interface RoutedMessage extends IncomingMessage {
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
    this.hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
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

function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value.join(', ')
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
