import { OperationError } from '../errors/index.js'

/** Created once, because creating it takes longer than decoding most texts. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Decodes bytes as strict UTF-8; skips one leading byte order mark.
 *
 * @param what Name of the source, with which error messages begin.
 * @throws {OperationError} `body-invalid` for bytes in another encoding. The message names UTF-16, UTF-32 and gzip, else the line of the first bad byte.
 */
export function decodeUtf8(bytes: Uint8Array, what: string = 'The body'): string {
  refuseOthers(bytes, what)
  try {
    return UTF_8.decode(bytes)
  } catch (cause) {
    throw notUtf8(what, lineOfFault(bytes), cause)
  }
}

/** Decodes as `decodeUtf8` does, for bytes that arrive in pieces, which may end within a character. */
export async function* decodingUtf8(pieces: AsyncIterable<Uint8Array>, what: string): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 0
  let unfinished: Uint8Array = new Uint8Array()
  for await (const piece of pieces) {
    if (line === 0) refuseOthers(piece, what)
    line ||= 1
    let text = ''
    try {
      text = decoder.decode(piece, { stream: true })
    } catch (cause) {
      throw notUtf8(what, line + lineOfFault(joinedBytes([unfinished, piece])) - 1, cause)
    }
    line += lineFeedsIn(text)
    unfinished = lastCharacter(piece.length < LONGEST ? joinedBytes([unfinished, piece]) : piece)
    yield text
  }
  try {
    decoder.decode()
  } catch (cause) {
    throw notUtf8(what, line, cause)
  }
}

/** Length of the longest character in bytes. */
const LONGEST = 4
/** Bytes from `CONTINUED` up to this value continue a character; bytes from this value on begin one of several bytes. */
const BEGINNING = 0xc0
const CONTINUED = 0x80
const LINE_FEED = 0x0a

/** The last character of the bytes, or the part of it that is there; empty unless it consists of several bytes and may be unfinished. */
function lastCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findLastIndex((byte) => byte < CONTINUED || byte >= BEGINNING)
  return (bytes[start] ?? 0) >= BEGINNING && bytes.length - start < LONGEST ? bytes.slice(start) : new Uint8Array()
}

/** Concatenates the parts. */
export function joinedBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function notUtf8(what: string, line: number, cause: unknown): OperationError {
  return new OperationError('body-invalid', `${what} is not UTF-8: line ${line} has a byte of another encoding.`, { cause })
}

/** First bytes of texts in encodings of two and four bytes: a byte order mark, or two ASCII characters with their zero bytes. */
const WIDE: readonly (readonly [encoding: string, pattern: RegExp])[] = [
  ['UTF-32', /^(?:\u00FF\u00FE\0\0|\0\0\u00FE\u00FF|(?:[\u0001-\u007F]\0\0\0){2}|(?:\0\0\0[\u0001-\u007F]){2})/],
  ['UTF-16', /^(?:\u00FF\u00FE|\u00FE\u00FF|(?:[\u0001-\u007F]\0){2}|(?:\0[\u0001-\u007F]){2})/],
]
const MARK = 0xfe

/** First bytes of a compressed file or body. */
const GZIP = [0x1f, 0x8b]

function refuseOthers(bytes: Uint8Array, what: string): void {
  if (GZIP.every((byte, index) => bytes[index] === byte))
    throw new OperationError('body-invalid', `${what} is compressed with gzip; text in UTF-8 is expected.`)
  // All of these encodings have a zero byte or a byte of a mark among the first two bytes.
  if (bytes[0] !== 0 && bytes[1] !== 0 && (bytes[0] ?? 0) < MARK) return
  const start = String.fromCharCode(...bytes.subarray(0, 8))
  const encoding = WIDE.find(([, pattern]) => pattern.test(start))?.[0]
  if (encoding !== undefined) throw new OperationError('body-invalid', `${what} is in ${encoding}; UTF-8 is expected.`)
}

/** Number of the line with the first bad byte, from 1: the first difference after lenient decoding and encoding. */
function lineOfFault(bytes: Uint8Array): number {
  const written = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  let line = 1
  for (let index = 0; index < bytes.length && bytes[index] === written[index]; index++) if (bytes[index] === LINE_FEED) line++
  return line
}

function lineFeedsIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

const ENCODER = new TextEncoder()

/** Maximum length of a text that is counted unit by unit; for longer texts, encoding is faster. */
const SHORT = 500

/** Number of code units that are encoded at a time to count their bytes. */
const STRETCH = 16_384

/** Maximum number of UTF-8 bytes of one UTF-16 code unit. */
const WIDEST = 3

/** Number of UTF-8 bytes of a text; a lone surrogate counts as U+FFFD. For long texts, encoding takes a fiftieth of the time of counting unit by unit. */
export function utf8Length(text: string): number {
  if (text.length <= SHORT) return lengthOfShort(text)
  const into = new Uint8Array(Math.min(text.length, STRETCH) * WIDEST)
  let bytes = 0
  for (let at = 0; at < text.length;) {
    const end = at + STRETCH - (isHighSurrogate(text.charCodeAt(at + STRETCH - 1)) ? 1 : 0)
    bytes += ENCODER.encodeInto(text.slice(at, end), into).written
    at = end
  }
  return bytes
}

function lengthOfShort(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) continue
    bytes += unit < 0x800 ? 1 : 2
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) at++
  }
  return bytes
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

/**
 * Iterates over the chunks of a stream. In WebKit, streams are not iterable. If its reader stops early, the stream is cancelled, so that the sender does
 * not wait.
 *
 * @param signal Ends the wait for the next chunk, which may never come if the sender is gone.
 * @throws the reason of the signal, when it is aborted before the end
 */
export async function* chunksOf(
  stream: ReadableStream<Uint8Array> | null,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (stream === null) return
  signal?.throwIfAborted()
  // The bodies of node-fetch are streams of Node.
  if (!('getReader' in stream)) return yield* iterable(stream)
  const reader = stream.getReader()
  const cancel = (): Promise<void> => reader.cancel().catch(() => {})
  const onAbort = (): void => void cancel()
  signal?.addEventListener('abort', onAbort)
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
    signal?.throwIfAborted()
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await cancel()
  }
}

function iterable(stream: object): AsyncIterable<Uint8Array, void, undefined> {
  if (isIterable(stream)) return stream
  throw new TypeError('A body is not a stream.')
}

function isIterable(stream: object): stream is AsyncIterable<Uint8Array, void, undefined> {
  return Symbol.asyncIterator in stream
}

/** The body of a request as a stream, `null` if there is none. In Firefox, requests have no stream, so the body is read first. */
export function bodyStream(request: Request): ReadableStream<Uint8Array> | null | Promise<ReadableStream<Uint8Array> | null> {
  return 'body' in request ? request.body : readBody(request)
}

async function readBody(request: Pick<Request, 'arrayBuffer'>): Promise<ReadableStream<Uint8Array> | null> {
  const bytes = await request.arrayBuffer()
  return bytes.byteLength === 0 ? null : new Response(bytes).body
}
