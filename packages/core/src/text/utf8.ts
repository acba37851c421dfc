import { OperationError } from '../errors/index.js'

/** Made once, because making it takes longer than most texts. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The text of bytes in strict UTF-8; one leading byte order mark is skipped.
 *
 * @param what What the bytes are of, which begins the message.
 * @throws {OperationError} `body-invalid` for bytes in another encoding: UTF-16, UTF-32 and gzip are named, for all others the line where it shows.
 */
export function decodeUtf8(bytes: Uint8Array, what: string = 'The body'): string {
  refuseOthers(bytes, what)
  try {
    return UTF_8.decode(bytes)
  } catch (cause) {
    throw notUtf8(what, lineOfFault(bytes), cause)
  }
}

/** As `decodeUtf8`, of bytes that come in pieces, which may end anywhere. */
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

/** Bytes of the longest character. */
const LONGEST = 4
/** Bytes in the range before this one continue with a character, bytes from here on begin one of several bytes. */
const BEGINNING = 0xc0
const CONTINUED = 0x80
const LINE_FEED = 0x0a

/** What bytes end with, where that is a character of several bytes, or a part of one. */
function lastCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findLastIndex((byte) => byte < CONTINUED || byte >= BEGINNING)
  return (bytes[start] ?? 0) >= BEGINNING && bytes.length - start < LONGEST ? bytes.slice(start) : new Uint8Array()
}

/** The bytes of the parts, one after the other. */
export function joinedBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
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

/** The beginnings of texts in encodings of two and four bytes: their byte order marks, or an ASCII character with its zero bytes, twice. */
const WIDE: readonly (readonly [encoding: string, pattern: RegExp])[] = [
  ['UTF-32', /^(?:\u00FF\u00FE\0\0|\0\0\u00FE\u00FF|(?:[\u0001-\u007F]\0\0\0){2}|(?:\0\0\0[\u0001-\u007F]){2})/],
  ['UTF-16', /^(?:\u00FF\u00FE|\u00FE\u00FF|(?:[\u0001-\u007F]\0){2}|(?:\0[\u0001-\u007F]){2})/],
]
const MARK = 0xfe

/** What a compressed file or body begins with. */
const GZIP = [0x1f, 0x8b]

function refuseOthers(bytes: Uint8Array, what: string): void {
  if (GZIP.every((byte, index) => bytes[index] === byte))
    throw new OperationError('body-invalid', `${what} is compressed with gzip; text in UTF-8 is expected.`)
  // All of them have a zero byte, or a byte of a mark, at once.
  if (bytes[0] !== 0 && bytes[1] !== 0 && (bytes[0] ?? 0) < MARK) return
  const start = String.fromCharCode(...bytes.subarray(0, 8))
  const encoding = WIDE.find(([, pattern]) => pattern.test(start))?.[0]
  if (encoding !== undefined) throw new OperationError('body-invalid', `${what} is in ${encoding}; UTF-8 is expected.`)
}

/** From 1. A lenient reading has something else in the place of what is not UTF-8. */
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

/** Code units that are counted one by one as fast as they are encoded. */
const SHORT = 500

/** Code units that are encoded at a time to count their bytes. */
const STRETCH = 16_384

/** UTF-8 bytes of one UTF-16 code unit at most. */
const WIDEST = 3

/** UTF-8 bytes of a text; half of a surrogate pair is encoded as U+FFFD. The platform encodes a long text in a fiftieth of the time in which its units are looked at. */
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
