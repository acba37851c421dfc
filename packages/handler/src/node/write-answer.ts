import type { IncomingMessage, ServerResponse } from 'node:http'
import { piecesLength, type Answer } from '../http/answer.js'

/** What an answer is written with. */
export interface Writing {
  /**
   * The request, when a part of its body was not read: the connection is closed after the answer then, because what follows on it cannot be
   * trusted to be a new request.
   */
  readonly unread: IncomingMessage | undefined
  readonly outbox: Outbox
}

/** Writes an answer. */
export function writeAnswer(response: ServerResponse, answer: Answer, { unread, outbox }: Writing): Promise<void> | undefined {
  if (response.destroyed) return undefined
  const headers: string[] = []
  for (const [name, value] of answer.headers) headers.push(name, value)
  // Express adds it.
  response.removeHeader('X-Powered-By')
  if (answer.stream !== undefined) {
    response.writeHead(answer.status, headers)
    return sendStream(response, answer.stream)
  }
  if (answer.bytes !== undefined) {
    response.writeHead(answer.status, [...headers, 'Content-Length', String(answer.bytes.length)])
    return sendStream(response, pieces(answer.bytes))
  }
  if (answer.pieces !== undefined) {
    response.writeHead(answer.status, [...headers, 'Content-Length', String(piecesLength(answer.pieces))])
    return sendStream(response, 'bytes' in answer.pieces ? outbox.inTurns(answer.pieces) : answer.pieces)
  }
  const { body } = answer
  if (body !== undefined) headers.push('Content-Length', String(Buffer.byteLength(body)))
  else if (mayHaveBody(answer.status) && response.req.method !== 'HEAD') headers.push('Content-Length', '0')
  if (unread !== undefined) headers.push('Connection', 'close')
  response.writeHead(answer.status, headers)
  if (unread === undefined && body !== undefined && body.length > SLICE) return sendStream(response, slices(body))
  if (unread === undefined) outbox.end(response, body)
  else endGently(response, body, unread)
  return undefined
}

/** What is handed to the socket at a time: a long text would be there twice, and encoded in one go. */
const SLICE = 256 * 1024

/** Cuts a text where no character is cut in two. */
function* slices(text: string): Iterable<string> {
  for (let at = 0; at < text.length;) {
    const end = at + SLICE
    const isCut = text.charCodeAt(end - 1) >= 0xd800 && text.charCodeAt(end - 1) < 0xdc00
    const next = isCut ? end + 1 : end
    yield text.slice(at, next)
    at = next
  }
}

function* pieces(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE)
}

function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 304
}

const LINGER_MS = 500
const LINGER_BYTES = 256 * 1024

/**
 * Sends the answer in full and closes a moment later: a connection that is closed while the peer still sends is reset, and the peer may
 * never see the answer. What comes in meanwhile is dropped; past `LINGER_BYTES` it is not read any more, which holds the peer back while it
 * reads the answer.
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
    if (dropped > LINGER_BYTES) unread.pause()
  })
  unread.once('end', finish)
  unread.once('close', finish)
  unread.resume()
}

/** A reader that takes nothing for so long has gone. */
const STALL_MS = 30_000

/**
 * Sends a text in pieces, each made when the one before has left. Stops when the reader has gone. After a failure the connection ends without the end
 * of the answer, so that it is not taken for the whole.
 */
async function sendStream(response: ServerResponse, stream: AsyncIterable<string> | Iterable<string | Uint8Array>): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    response.once('close', resolve)
  })
  response.setTimeout(STALL_MS, () => response.destroy())
  try {
    for await (const chunk of stream) {
      await Promise.race([gone, written(response, chunk)])
      if (response.destroyed) return
    }
    response.setTimeout(0)
    response.end()
  } catch {
    response.destroy()
  }
}

function written(response: ServerResponse, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    response.write(chunk, () => resolve())
  })
}

/** Responses that only have to be sent: the ends of those that are ready at almost the same time, one after the other. */
export interface Outbox {
  /** Ends a response whose head was given, with its body, once the sockets that are ready have been read. */
  end(response: ServerResponse, body: string | undefined): void
  /** Called for each new request: what waits for long enough does not wait for that one, too. */
  requestArrives(): void
  /**
   * The pieces of a text that is made while it is sent, a few of all such texts between two looks at the sockets: many readers at once do not block
   * others.
   */
  inTurns(pieces: Iterable<string>): AsyncIterable<string>
}

/** Most that wait; a reader of the first should not wait for the work of many others. */
const MOST = 16
/** Longest wait in milliseconds before other work begins. */
const LONGEST_MS = 1

/**
 * Makes the outbox of a process. A peer that sleeps until an answer comes has to be woken by it, which costs the sender more than the writing does; while answers
 * follow each other closely, it is woken once for several.
 */
export function createOutbox(): Outbox {
  let waiting: Ending[] = []
  let since = 0
  const turn = createTurns()
  const send = (): void => {
    const ready = waiting
    waiting = []
    for (const ending of ready) finish(ending)
  }
  return {
    end(response, body) {
      if (waiting.push({ response, body }) === MOST) return send()
      if (waiting.length > 1) return
      since = performance.now()
      setImmediate(send)
    },
    requestArrives() {
      if (waiting.length > 0 && performance.now() - since > LONGEST_MS) send()
    },
    async *inTurns(pieces) {
      const iterator = pieces[Symbol.iterator]()
      for (;;) {
        await turn()
        const { done, value } = iterator.next()
        if (done === true) return
        yield value
      }
    },
  }
}

/** Pieces between two looks at the sockets; each takes about half a millisecond. */
const PIECES_A_TURN = 2

function createTurns(): () => Promise<void> {
  let waiting: (() => void)[] = []
  const next = (): void => {
    const ready = waiting.slice(0, PIECES_A_TURN)
    waiting = waiting.slice(PIECES_A_TURN)
    if (waiting.length > 0) setImmediate(next)
    for (const begin of ready) begin()
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(next)
    })
}

/** Middleware may have put an `end` of its own into the response: what that throws is for its peer, who sees a closed connection, and not for the others. */
function finish({ response, body }: Ending): void {
  if (response.destroyed || response.writableEnded) return
  try {
    response.end(body)
  } catch {
    response.destroy()
  }
}

interface Ending {
  readonly response: ServerResponse
  readonly body: string | undefined
}
