import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { emptyAnswer, finished } from '../http/answer.js'

/**
 * Answers what Node could not read as a request, with the headers of every answer (HT-10, HT-20), and closes the connection. Nothing is
 * written to a sender who is late or who has been answered before: it could be taken for the answer to something else.
 */
export function refuseUnreadable(error: Error, socket: Socket): void {
  const status = statusOf(error)
  if (status === undefined || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  const { headers } = finished(
    emptyAnswer(status, [
      ['Content-Length', '0'],
      ['Connection', 'close'],
    ]),
    'GET',
  )
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers.map((header) => header.join(': '))]
  socket.end(`${lines.join('\r\n')}\r\n\r\n`, () => socket.destroy())
}

function statusOf(error: Error): number | undefined {
  const code = 'code' in error ? error.code : undefined
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' || code === 'ECONNRESET') return undefined
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW' ? 413 : 400
}
