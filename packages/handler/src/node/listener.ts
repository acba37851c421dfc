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
 * @throws {TypeError} for what is not a handler.
 */
export function toNodeListener(handler: Pick<Handler, 'respond'>): NodeListener {
  const serve = serverOf('toNodeListener', handler)
  return (message, response) => {
    // Only a response that something else has ended or changed gets here. The peer sees a closed connection, and the server the reason, as `clientError`.
    serve(message, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  }
}

/** Plain JavaScript may pass something else, often the options of a handler, or the promise of one. */
function checkHandler(factory: string, handler: unknown): void {
  const given: object = Object(handler)
  if ('respond' in given) return
  const problem = 'then' in given ? 'is a promise that was not awaited' : 'must be what createHandler returns'
  throw new TypeError(`${factory}: the handler ${problem}.`)
}

/** Answers every request with 503 and the headers of every answer, while there is no handler yet. */
export function startingListener(): NodeListener {
  return toNodeListener({ respond: async ({ method }) => answerToSend(emptyAnswer(503, [['Retry-After', '1']]), method) })
}

/** Serves one request; resolves when the answer is on its way. */
type Serve = (message: RoutedMessage, response: ServerResponse) => Promise<void>

function serverOf(factory: string, handler: Pick<Handler, 'respond'>): Serve {
  checkHandler(factory, handler)
  const outbox = createOutbox()
  return async (message, response) => {
    outbox.requestArrives()
    const request = new NodeRequest(message, response)
    const connection = { remoteAddress: message.socket.remoteAddress, rawHeaders: message.rawHeaders }
    const isServed = isSound(message)
    // What follows is not taken for a request either.
    if (!isServed) response.shouldKeepAlive = false
    const answer = isServed ? await handler.respond(request, connection) : answerToSend(emptyAnswer(400), 'GET')
    const isBodyUnread = request.hasBody && !message.complete
    return writeAnswer(response, answer, { unread: isBodyUnread ? message : undefined, outbox })
  }
}

/**
 * HTTP/1.1 demands one header `Host` (RFC 9112 3.2). What came before HTTP/1.0 has no headers at all, and that knows no `Transfer-Encoding`: where the
 * body ends, servers on the way may see otherwise (RFC 9112 6.1).
 */
function isSound(message: IncomingMessage): boolean {
  const { httpVersion, headers } = message
  if (linesOf(message, 'host') > 1) return false
  if (httpVersion === '1.1') return headers.host !== undefined
  return httpVersion === '1.0' && headers['transfer-encoding'] === undefined
}

/** The part of a Koa context that is used. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Path and query before any mounting. */
  readonly originalUrl: string
  respond?: boolean | undefined
}

/** Koa middleware: `app.use(toKoaMiddleware(handler))`, or mounted. Nothing after it is called. @throws {TypeError} for what is not a handler. */
export function toKoaMiddleware(handler: Pick<Handler, 'respond'>): (context: KoaContext) => Promise<void> {
  const serve = serverOf('toKoaMiddleware', handler)
  return (context) => {
    Object.assign(context, { respond: false })
    return serve(Object.assign(context.req, { originalUrl: context.originalUrl }), context.res)
  }
}

/** A request that a router such as Express has passed on: `url` is then without the mount path. */
export interface RoutedMessage extends IncomingMessage {
  readonly originalUrl?: string
}

/** A request of `node:http` in the handler's terms. Nothing is copied or read before it is asked for. A class, whose getter costs nothing before it is used (bench `http`). */
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

  /** The connection has ended before the answer is written. */
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

/** Reads a body by its events: an iterator costs more than many an operation. */
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

/** A body of which all has arrived, as that of most requests has when the token is accepted: to hear of its events takes longer than to parse it (bench `http`). */
function readAtOnce(message: IncomingMessage, take: (chunk: Uint8Array) => void): void {
  for (let chunk: Uint8Array | null = message.read(); chunk !== null; chunk = message.read()) take(chunk)
}

/** @throws {OperationError} as `bodyTaken`, where the host has read of it, or has made it a stream of text. */
function prepareBody(message: IncomingMessage, response: ServerResponse): void {
  if (message.readableDidRead || message.readableEncoding !== null) throw bodyTaken()
  if (awaitsContinue(message)) response.writeContinue()
}
