import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { piecesLength, SLICE, slicesOf, type Answer } from '../http/answer.js'

/** Options for writing an answer. */
export interface Writing {
  /**
   * The request, if part of its body was not read. The connection is then closed after the answer, because what follows on it cannot be
   * trusted to be a new request.
   */
  readonly unread: IncomingMessage | undefined
  readonly outbox: Outbox
}

/** Writes an answer to the response. */
export function writeAnswer(response: ServerResponse, answer: Answer, { unread, outbox }: Writing): Promise<void> | undefined {
  if (response.destroyed) return undefined
  const headers: string[] = []
  for (const [name, value] of answer.headers) headers.push(name, value)
  // Express adds this header.
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
  if (unread === undefined && body !== undefined && body.length > SLICE) return sendStream(response, slicesOf(body))
  if (unread === undefined) outbox.end(response, body)
  else endGently(response, body, unread)
  return undefined
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
 * Sends the answer in full and closes a moment later: if a connection is closed while the peer still sends, it is reset, and the peer may
 * never see the answer. What arrives meanwhile is dropped; past `LINGER_BYTES` it is no longer read, which holds the peer back while it
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

/** A reader that accepts nothing for this long is considered gone. */
const STALL_MS = 30_000

/**
 * Sends a text in pieces, making each piece when the previous one has been sent. Stops when the reader has gone. After a failure, the connection ends
 * without the end of the answer, so that the reader does not take it for complete.
 */
async function sendStream(response: ServerResponse, stream: AsyncIterable<string> | Iterable<string | Uint8Array>): Promise<void> {
  const hasRoom = roomOf(response)
  limitStalls(response, STALL_MS)
  try {
    for await (const chunk of stream) {
      if (response.destroyed) return
      // As in Node's `pipe`: adapters of functions as a service return nothing.
      if (response.write(chunk) === false) await hasRoom()
    }
    if (response.destroyed) return
    limitStalls(response, 0)
    response.end()
  } catch {
    await allSent(response)
    response.destroy()
  }
}

/** A response that an adapter of functions as a service has made has no connection: its socket collects what is written, and has no time-out. */
function limitStalls(response: ServerResponse, stallMs: number): void {
  if (response.socket !== null && 'setTimeout' in response.socket) response.setTimeout(stallMs, () => response.destroy())
}

const FLUSH_CHECK_MS = 10

/** Waits until what was written has left, or the response is closed: the last line may say what failed. */
async function allSent(response: ServerResponse): Promise<void> {
  while (!response.destroyed && response.writableLength > 0) await pause(FLUSH_CHECK_MS)
}

/**
 * Waits until the response can take more, or is closed. The callback of `write` would say the same, but middleware that compresses replaces
 * `write` and calls none. One listener serves all waits, because such middleware does not remove listeners either.
 */
function roomOf(response: ServerResponse): () => Promise<void> {
  let goOn = (): void => undefined
  const wake = (): void => goOn()
  response.on('close', wake)
  response.on('drain', wake)
  return () =>
    new Promise((resolve) => {
      goOn = resolve
    })
}

/** Responses that are ready to be sent. Those that become ready at almost the same time are ended one after the other. */
interface Outbox {
  /** Ends a response, whose head has been written, with its body, after the sockets that are ready have been read. */
  end(response: ServerResponse, body: string | undefined): void
  /** Called for each new request. Responses that have already waited long enough do not wait for it as well. */
  requestArrives(): void
  /**
   * Yields the pieces of a text that is made while it is sent. Between two polls of the sockets, only a few pieces of all such texts are made, so that
   * many readers at the same time do not block other requests.
   */
  inTurns(pieces: Iterable<string>): AsyncIterable<string>
}

/** Maximum number of waiting responses, so that the first reader does not wait for the work of many others. */
const MOST = 16
/** Longest wait, in milliseconds, before other work begins. */
const LONGEST_MS = 1

/**
 * Creates the outbox of a process. Waking a peer that sleeps until an answer arrives costs the sender more than writing the answer. While answers
 * follow each other closely, the peer is woken once for several.
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

/** Pieces between two polls of the sockets; each takes about half a millisecond. */
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

/** Ends a response. If middleware has replaced `end` and it throws, only its own peer is affected (the connection closes), not the other responses. */
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
