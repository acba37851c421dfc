import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendStream } from './send-stream.js'
import type { Answer } from '../http/answer.js'

/**
 * Writes an answer.
 *
 * @param unread The request, when a part of its body was not read: the connection is closed after the answer then, because what
 *   follows on it cannot be trusted to be a new request (LIM-01).
 */
export async function writeAnswer(response: ServerResponse, answer: Answer, unread: IncomingMessage | undefined): Promise<void> {
  if (response.destroyed) return
  const headers = answer.headers.flat()
  // Express adds it (HT-20).
  response.removeHeader('X-Powered-By')
  if (answer.stream !== undefined) {
    response.writeHead(answer.status, headers)
    return sendStream(response, answer.stream)
  }
  const hasBody = answer.body !== undefined
  if (hasBody) headers.push('Content-Length', String(Buffer.byteLength(answer.body)))
  else if (mayHaveBody(answer.status) && response.req.method !== 'HEAD') headers.push('Content-Length', '0')
  if (unread !== undefined) headers.push('Connection', 'close')
  response.writeHead(answer.status, headers)
  if (unread === undefined) response.end(answer.body)
  else endGently(response, answer.body, unread)
}

function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 304
}

const LINGER_MS = 500
const LINGER_BYTES = 256 * 1024

/**
 * Sends the answer in full and closes a moment later: a connection that is closed while the peer still sends is reset, and the peer may
 * never see the answer. What comes in meanwhile is dropped.
 */
function endGently(response: ServerResponse, body: string | undefined, unread: IncomingMessage): void {
  if (body === undefined) response.flushHeaders()
  else response.write(body)
  let dropped = 0
  const finish = (): void => {
    clearTimeout(timer)
    unread.pause()
    response.end()
  }
  const timer = setTimeout(finish, LINGER_MS)
  unread.on('data', (chunk: Uint8Array) => {
    dropped += chunk.length
    if (dropped > LINGER_BYTES) finish()
  })
  unread.once('end', finish)
  unread.once('close', finish)
}
