import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkHas } from 'fhir-ops/errors'
import type { Handler } from '../handler.js'
import { emptyAnswer, finished } from '../http/answer.js'
import { linesOf } from '../http/http-request.js'
import { nodeRequest, type RoutedMessage } from './node-request.js'
import { writeAnswer } from './write-answer.js'

/** A listener for `node:http`; Express takes it as middleware. */
export type NodeListener = (message: IncomingMessage, response: ServerResponse) => void

/**
 * Serves a handler in `node:http` or Express: `createServer(toNodeListener(handler))`, `app.use('/base', toNodeListener(handler))`.
 * Mount it before anything that reads bodies.
 *
 * @throws {OperationError} `parameter-required`, `parameter-value` for what is no handler.
 */
export function toNodeListener(handler: Pick<Handler, 'respond'>): NodeListener {
  checkHas('handler', handler, ['respond'])
  return (message, response) => {
    // Only an answer that cannot be written gets here: the peer sees a closed connection then.
    serve(handler, message, response).catch(() => response.destroy())
  }
}

/** Answers every request with 503 and the headers of every answer, while there is no handler yet. */
export function startingListener(): NodeListener {
  return toNodeListener({ respond: async ({ method }) => finished(emptyAnswer(503, [['Retry-After', '1']]), method) })
}

/** Serves one request; resolves when the answer is handed to the socket. */
export async function serve(handler: Pick<Handler, 'respond'>, message: RoutedMessage, response: ServerResponse): Promise<void> {
  const incoming = nodeRequest(message, response)
  const connection = { remoteAddress: message.socket.remoteAddress, rawHeaders: message.rawHeaders }
  const answer = isAddressed(message) ? await handler.respond(incoming.request, connection) : finished(emptyAnswer(400), 'GET')
  await writeAnswer(response, answer, incoming.isBodyUnread() ? message : undefined)
}

/** HTTP/1.1 demands one header `Host` (RFC 9112 3.2); what came before HTTP/1.0 has no headers at all. */
function isAddressed(message: IncomingMessage): boolean {
  const { httpVersion, headers } = message
  if (linesOf(message, 'host') > 1) return false
  return httpVersion === '1.1' ? headers.host !== undefined : httpVersion !== '0.9'
}
