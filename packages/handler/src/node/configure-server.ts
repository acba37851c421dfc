import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { emptyAnswer, answerToSend } from '../http/answer.js'
import { AMOUNT, checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'

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

/** Marks a request whose sender waits for `100 Continue` before it sends the body. */
const AWAITS_CONTINUE = Symbol('awaits 100 Continue')

/**
 * Sets the time-outs of a server, lets the handler decide about requests with `Expect: 100-continue`, and answers requests that are not valid HTTP.
 * Set the limit on header size with `createServer({ maxHeaderSize: 16 * 1024 })`, which is Node's default. Node checks for late senders every 30
 * seconds; with `createServer({ connectionsCheckingInterval: 1_000 })`, the time-outs are accurate to a second.
 *
 * @throws {TypeError} for a time-out that is unknown or not a number.
 */
export function configureServer(server: Server, timeouts: ServerTimeouts = {}): Server {
  checkOptions('configureServer', SHAPE, timeouts)
  server.headersTimeout = timeouts.headersMs ?? 5_000
  server.requestTimeout = timeouts.requestMs ?? 30_000
  server.keepAliveTimeout = timeouts.keepAliveMs ?? 5_000
  // The listener refuses a request without Host, because Node would do so without the headers that every answer has.
  Object.assign(server, { requireHostHeader: false })
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

/** True when the sender of this request waits for `100 Continue`. */
export function awaitsContinue(message: IncomingMessage): boolean {
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
