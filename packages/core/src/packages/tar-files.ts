import { OperationError, quoted } from '../errors/index.js'
import { joinedBytes } from '../text/index.js'

/** A regular file of an archive. */
export interface TarFile {
  readonly name: string
  readonly bytes: Uint8Array
}

const BLOCK = 512
/** Far above the size of any definition; a greater length means that the archive is damaged. */
const MAX_FILE_BYTES = 256 * 1024 * 1024
/** Maximum size of an entry that states the name of the next file. */
const MAX_NAME_BYTES = 64 * 1024

/**
 * Reads the regular files of a tar archive whose names `isWanted` accepts, in order, with one file at a time in memory; other entries are skipped.
 * Supports the names of ustar and the longer ones of pax and GNU.
 *
 * @throws {OperationError} `body-invalid` if the archive is truncated or damaged.
 */
export async function* tarFiles(archive: ReadableStream<Uint8Array>, isWanted: (name: string) => boolean): AsyncGenerator<TarFile> {
  const reader = byteReader(archive)
  let longName: string | undefined
  for (let header = await reader.take(BLOCK); header[0] !== 0; header = await reader.take(BLOCK)) {
    const [size, kind] = [sizeIn(header), textIn(header, 156, 1)]
    const name = longName ?? nameIn(header)
    longName = undefined
    const isFile = (kind === '' || kind === '0') && isWanted(name)
    const isName = kind === 'L' || kind === 'x'
    if (!isFile && !isName) await reader.skip(size)
    else if (size > (isFile ? MAX_FILE_BYTES : MAX_NAME_BYTES)) throw tooLong(name)
    else if (isFile) yield { name, bytes: await reader.take(size) }
    else longName = longNameIn(kind, await reader.take(size))
    await reader.skip((BLOCK - (size % BLOCK)) % BLOCK)
  }
}

function tooLong(name: string): OperationError {
  return new OperationError('body-invalid', `The archive is damaged: the length of the entry ${quoted(name)} is not plausible.`)
}

/** The name of the next file, as stated by an entry of this kind. */
function longNameIn(kind: string, bytes: Uint8Array): string | undefined {
  const text = textIn(bytes, 0, bytes.length)
  return kind === 'L' ? text : /^\d+ path=(.+)$/m.exec(text)?.[1]
}

function nameIn(header: Uint8Array): string {
  const prefix = textIn(header, 257, 5) === 'ustar' ? textIn(header, 345, 155) : ''
  return prefix === '' ? textIn(header, 0, 100) : `${prefix}/${textIn(header, 0, 100)}`
}

function sizeIn(header: Uint8Array): number {
  const size = Number.parseInt(textIn(header, 124, 12), 8)
  if (size >= 0 && Number.isSafeInteger(size)) return size
  throw new OperationError('body-invalid', 'The archive is damaged: an entry has no valid length.')
}

function textIn(bytes: Uint8Array, start: number, length: number): string {
  const field = bytes.subarray(start, start + length)
  const end = field.indexOf(0)
  return new TextDecoder().decode(field.subarray(0, end < 0 ? length : end))
}

/** Reads a stream in portions of a given number of bytes. */
interface ByteReader {
  /** The next `length` bytes. */
  readonly take: (length: number) => Promise<Uint8Array>
  /** Skips the next `length` bytes. */
  readonly skip: (length: number) => Promise<void>
}

function byteReader(stream: ReadableStream<Uint8Array>): ByteReader {
  const reader = stream.getReader()
  let rest: Uint8Array = new Uint8Array()
  const next = async (): Promise<Uint8Array> => {
    const { value, done } = await reader.read()
    if (done) throw new OperationError('body-invalid', 'The archive is truncated.')
    return value
  }
  return {
    async take(length) {
      const parts = [rest]
      let available = rest.length
      while (available < length) {
        const part = await next()
        parts.push(part)
        available += part.length
      }
      const bytes = parts.length === 1 ? rest : joinedBytes(parts)
      rest = bytes.subarray(length)
      return bytes.subarray(0, length)
    },
    async skip(length) {
      let left = length
      for (; left > rest.length; rest = await next()) left -= rest.length
      rest = rest.subarray(left)
    },
  }
}
