import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { emptyAnswer, answerToSend } from '../http/answer.js'
import { AMOUNT, checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'

/** Time-outs of a server, in milliseconds. */
export interface ServerTimeouts {
  /** Until the headers are complete. Default 5,000. */
  readonly headersMs?: number
  /** Until the body is complete. Default 30,000. */
  readonly requestMs?: number
  /** How long an idle connection is kept. Default 5,000. */
  readonly keepAliveMs?: number
}

const SHAPE: InputShape = inputShape<ServerTimeouts>({ headersMs: AMOUNT, requestMs: AMOUNT, keepAliveMs: AMOUNT })

/** Marks a request whose sender waits for `100 Continue` before it sends the body. */
const AWAITS_CONTINUE = Symbol('awaits 100 Continue')

/**
 * Sets the time-outs of a server, lets the handler decide about requests with `Expect: 100-continue`, and answers requests that are not valid HTTP.
 * The limit on headers is given to `createServer({ maxHeaderSize: 16 * 1024 })`, which is Node's default. Node looks for late senders every 30
 * seconds; `createServer({ connectionsCheckingInterval: 1_000 })` holds the time-outs to a second.
 *
 * @throws {TypeError} for a time-out that is unknown or no number.
 */
export function configureServer(server: Server, timeouts: ServerTimeouts = {}): Server {
  checkOptions('configureServer', SHAPE, timeouts)
  server.headersTimeout = timeouts.headersMs ?? 5_000
  server.requestTimeout = timeouts.requestMs ?? 30_000
  server.keepAliveTimeout = timeouts.keepAliveMs ?? 5_000
  // The listener refuses a request without Host: Node would do it without the headers of every answer.
  Object.assign(server, { requireHostHeader: false })
  server.on('checkContinue', (message, response) => {
    Object.defineProperty(message, AWAITS_CONTINUE, { value: true })
    server.emit('request', message, response)
  })
  server.on('checkExpectation', (message, response) => server.emit('request', message, response))
  server.on('clientError', (error, socket: Socket) => refuseUnreadable(error, socket))
  // A tunnel asks for another host, not for a path; without a listener Node closes the connection without an answer.
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
 * Answers what Node could not read as a request, with the headers of every answer, and closes the connection. Nothing is
 * written to a sender who is late or who has been answered before: it could be taken for the answer to something else.
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

/** Written out: to import `node:http` makes Node load HTTP/2 and its client, too, and the host that makes the server may not need it. */
const REASONS = { 400: 'Bad Request', 413: 'Payload Too Large', 431: 'Request Header Fields Too Large' } as const

function statusOf(error: Error): keyof typeof REASONS | undefined {
  const code = 'code' in error ? error.code : undefined
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' || code === 'ECONNRESET') return undefined
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW' ? 413 : 400
}
