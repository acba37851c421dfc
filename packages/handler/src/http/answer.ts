import { createPace, type Pace } from 'fhir-ops/internal/context'
import type { LongText } from 'fhir-ops/internal/operation'
import { utf8Length } from 'fhir-ops/internal/text'
import { OperationError } from 'fhir-ops/errors'
import type { OperationContext } from 'fhir-ops/context'
import type { Work } from 'fhir-ops/internal/work'

/** A response before it is written. */
export interface Answer {
  readonly status: number
  /** Headers in addition to those of every answer. */
  readonly headers: readonly (readonly [string, string])[]
  /** Absent without a body; its type is in the headers. */
  readonly body?: string | undefined
  /** Instead of `body`: a long text in pieces that are never joined. */
  readonly pieces?: readonly string[] | LongText | undefined
  /** Instead of `body`: content that is not text. */
  readonly bytes?: Uint8Array | undefined
  /** Instead of `body`: a text that is made while it is sent; if it fails, the answer is cut off. */
  readonly stream?: AsyncIterable<string> | undefined
}

/** The place of an answer in the cache, for identical requests. */
export interface CachedAnswer {
  /** Absent if there was no such request since the definitions changed. */
  readonly answer: Answer | undefined
  /** Stores an answer that is a success and not long. */
  store(answer: Answer): void
}

export const NDJSON = 'application/fhir+ndjson'
export const FHIR_JSON = 'application/fhir+json; charset=utf-8'
const PLAIN_JSON = 'application/json;charset=UTF-8'

/** Headers of every answer. */
const ALWAYS: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
]

/** Returns an answer with the JSON text of a FHIR resource. */
export function fhirText(status: number, text: string, headers: Answer['headers'] = []): Answer {
  return { status, headers: [['Content-Type', FHIR_JSON], ...headers], body: text }
}

/** Maximum number of characters up to which a text in pieces is joined. */
export const SHORT_TEXT: number = 1024 * 1024

/** Returns an answer with the JSON text of a FHIR resource in pieces; short texts are joined. */
export function fhirPieces(status: number, pieces: readonly string[] | LongText, headers: Answer['headers'] = []): Answer {
  const length = 'bytes' in pieces ? pieces.bytes : pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length <= SHORT_TEXT) return fhirText(status, [...pieces].join(''), headers)
  return { status, headers: [['Content-Type', FHIR_JSON], ...headers], pieces }
}

/** Characters handed to the socket at a time. A long text in one piece would be in memory twice and be encoded in one go. */
export const SLICE: number = 256 * 1024

/** Cuts a text into slices, never in the middle of a surrogate pair. */
export function* slicesOf(text: string): Iterable<string> {
  for (let at = 0; at < text.length;) {
    const end = at + SLICE
    const isCut = text.charCodeAt(end - 1) >= 0xd800 && text.charCodeAt(end - 1) < 0xdc00
    const next = isCut ? end + 1 : end
    yield text.slice(at, next)
    at = next
  }
}

/** Joins the text of an answer, so that it can be embedded or cached; long work is done in steps of the pace. @throws {OperationError} as `Pace.step`. */
export async function assembled({ pieces, ...answer }: Answer, pace: Pace): Promise<Answer> {
  if (pieces === undefined) return answer
  const made: string[] = []
  for (const piece of pieces) {
    made.push(piece)
    await pace.step()
  }
  return { ...answer, body: made.join('') }
}

/** Returns the length of a text in pieces, in UTF-8 bytes. */
export function piecesLength(pieces: readonly string[] | LongText): number {
  return 'bytes' in pieces ? pieces.bytes : pieces.reduce((sum, piece) => sum + utf8Length(piece), 0)
}

/** Returns an answer with a FHIR resource. */
export function fhirAnswer(status: number, resource: object, headers: Answer['headers'] = []): Answer {
  return fhirText(status, JSON.stringify(resource), headers)
}

/** Returns an answer with other JSON. */
export function jsonAnswer(status: number, value: object, headers: Answer['headers'] = []): Answer {
  return jsonText(status, JSON.stringify(value), headers)
}

/** Returns an answer with the text of other JSON. */
export function jsonText(status: number, text: string, headers: Answer['headers'] = []): Answer {
  return { status, headers: [['Content-Type', PLAIN_JSON], ...headers], body: text }
}

/** Returns an answer with lines of NDJSON, each made when the reader is ready for it. */
export function ndjsonAnswer(lines: AsyncIterable<object>): Answer {
  return { status: 200, headers: [['Content-Type', NDJSON]], stream: ndjsonChunks(lines) }
}

/** Allowed characters of a header value (RFC 9110 5.5): one byte each, and no control character except tab. */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/

/** @throws {TypeError} for a header that cannot be written; names the header only, because its value may come from a caller or a bot. */
export function checkHeaders({ headers }: Answer): void {
  for (const [name, value] of headers) if (!WRITABLE.test(value)) throw new TypeError(`The header ${name} cannot be written.`)
}

/** Returns an answer without a body. */
export function emptyAnswer(status: number, headers: Answer['headers'] = []): Answer {
  return { status, headers }
}

/**
 * Completes an answer for sending: adds the headers of every answer and `more`; for a HEAD, replaces the body by its length.
 */
export function answerToSend(answer: Answer, method: string, more: Answer['headers'] = []): Answer {
  const headers = [...ALWAYS, ...answer.headers, ...more]
  if (method !== 'HEAD') return { ...answer, headers }
  const length = lengthOf(answer)
  if (length !== undefined) headers.push(['Content-Length', String(length)])
  return { status: answer.status, headers }
}

/** Returns the length of the body in bytes; `undefined` without a body, or if the length is not known yet. */
function lengthOf({ bytes, body, pieces }: Answer): number | undefined {
  if (bytes !== undefined) return bytes.length
  if (body !== undefined) return utf8Length(body)
  return pieces && piecesLength(pieces)
}

/** Converts an answer to a web-standard response. */
export function toWebResponse(answer: Answer): Response {
  const headers = new Headers()
  for (const [name, value] of answer.headers) headers.append(name, value)
  return new Response(webBody(answer), { status: answer.status, headers })
}

function webBody({ body, bytes, pieces, stream }: Answer): ConstructorParameters<typeof Response>[0] {
  if (stream !== undefined) return byteStream(stream)
  if (pieces !== undefined) return byteStream(pieces)
  return body ?? (bytes && new Uint8Array(bytes)) ?? null
}

/** Lines are sent together, up to about this many characters. */
const CHUNK = 32 * 1024

/**
 * Writes objects as lines of NDJSON, each only when it is requested.
 *
 * @yields several lines at a time
 * @throws any error of the source, after all lines before it.
 */
async function* ndjsonChunks(lines: AsyncIterable<object>): AsyncGenerator<string, void, undefined> {
  let chunk = ''
  try {
    for await (const line of lines) {
      chunk += `${JSON.stringify(line)}\n`
      if (chunk.length < CHUNK) continue
      const full = chunk
      chunk = ''
      yield full
    }
  } catch (error) {
    if (chunk !== '') yield chunk
    throw error
  }
  if (chunk !== '') yield chunk
}

/** Creates a web-standard stream from a text in pieces; each piece is requested when the reader is ready. */
function byteStream(chunks: AsyncIterable<string> | Iterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Limits on the size of an answer. */
interface AnswerBounds {
  /** UTF-8 bytes. */
  readonly maxBytes: number
  /** A sentence at the end of the error: how the caller can stay below the limit. */
  readonly advice: string
}

/** Measures the text of an answer while it is collected. */
interface AnswerSize {
  /** @throws {OperationError} `too-costly` if the text and `reserve` more UTF-8 bytes would make the answer too long. */
  add(text: string, reserve?: number): void
  /** As `add`, but if the text would be too long, returns false and does not add it. */
  takes(text: string, reserve?: number): boolean
}

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const WIDEST = 3

/**
 * Counts UTF-8 bytes. Most answers are so far below the limit that the number of characters is sufficient; bytes are counted, once each, only
 * if they could exceed it.
 */
export function createAnswerSize({ maxBytes, advice }: AnswerBounds): AnswerSize {
  let counted = 0
  let uncounted: string[] = []
  let atLeast = 0
  let atMost = 0
  const isWithin = (more: number): boolean => {
    if (atMost + more <= maxBytes) return true
    for (const text of uncounted) counted += utf8Length(text)
    uncounted = []
    atLeast = atMost = counted
    return counted + more <= maxBytes
  }
  const takes = (text: string, reserve = 0): boolean => {
    if (atLeast + text.length + reserve > maxBytes) return false
    uncounted.push(text)
    atLeast += text.length
    atMost += text.length * WIDEST
    if (isWithin(reserve)) return true
    counted -= utf8Length(text)
    atLeast = atMost = counted
    return false
  }
  return {
    takes,
    add(text, reserve) {
      if (!takes(text, reserve)) throw new OperationError('too-costly', `The answer would be longer than ${maxBytes} bytes. ${advice}`)
    },
  }
}

/**
 * Lays out an answer. It stays as it is if it is long (people do not read it), if the result would be too long, or if there is no time left: the layout
 * only changes white space, and the work that the answer reports is done.
 */
export async function prettyAnswer(ctx: OperationContext, answer: Answer): Promise<Answer> {
  const isJson = answer.headers.some(([name, value]) => name === 'Content-Type' && value.includes('json'))
  if (!isJson || answer.body === undefined || answer.body.length > SHORT_TEXT) return answer
  try {
    const body = await createPace(ctx).run(prettyJson(answer.body, ctx.limits.maxAnswerBytes))
    return body === undefined ? answer : { ...answer, body }
  } catch (error) {
    if (error instanceof OperationError) return answer
    throw error
  }
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|\{\}|\[\]|[{}[\],:]|[^{}[\],:"]+/g

/** Number of tokens laid out without a pause. */
const PIECE = 2_000

/** Deeper levels are not indented further, which bounds the spaces per line. */
const DEEPEST = 12

/**
 * Lays out JSON in lines without parsing it, so that numbers keep their digits.
 *
 * @param text JSON without white space between tokens.
 * @param maxLength Maximum length of the result in characters.
 * @returns `undefined` if the result would be longer.
 */
export function* prettyJson(text: string, maxLength: number): Work<string | undefined> {
  const pieces: string[] = []
  let piece = ''
  let length = 0
  let depth = 0
  let tokens = 0
  const line = (): string => `\n${'  '.repeat(Math.min(depth, DEEPEST))}`
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++
    if (token === '}' || token === ']') depth--
    piece += laidOut(token, line)
    if (++tokens % PIECE !== 0) continue
    length += piece.length
    if (length > maxLength) return undefined
    pieces.push(piece)
    piece = ''
    yield
  }
  return length + piece.length > maxLength ? undefined : pieces.join('') + piece
}

function laidOut(token: string, line: () => string): string {
  switch (token) {
    case ':':
      return ': '
    case ',':
    case '{':
    case '[':
      return token + line()
    case '}':
    case ']':
      return line() + token
    default:
      return token
  }
}
