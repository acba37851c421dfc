import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { refuseUnreadable } from './refuse-unreadable.js'

/** Time-outs of a server (LIM-03), in milliseconds. */
export interface ServerTimeouts {
  /** Until the headers are complete. Default 5,000. */
  readonly headersMs?: number
  /** Until the body is complete. Default 30,000. */
  readonly requestMs?: number
  /** How long an idle connection is kept. Default 5,000. */
  readonly keepAliveMs?: number
}

/** Marks a request whose sender waits for `100 Continue` before it sends the body. */
const AWAITS_CONTINUE = Symbol('awaits 100 Continue')

/**
 * Sets a server's time-outs, lets the handler decide whether a body that waits for `100 Continue` is wanted at all, and answers what is no
 * HTTP. The limit on headers is given to `createServer({ maxHeaderSize: 16 * 1024 })`, which is Node's default. Node looks for late senders
 * every 30 seconds; `createServer({ connectionsCheckingInterval: 1_000 })` holds the time-outs to a second.
 */
export function configureServer(server: Server, timeouts: ServerTimeouts = {}): Server {
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
  return server
}

/** True when the sender of this request waits for `100 Continue`. */
export function awaitsContinue(message: IncomingMessage): boolean {
  return AWAITS_CONTINUE in message
}
