import { OperationError } from '../errors/index.js'

/** A regular file of an archive. */
export interface TarFile {
  readonly name: string
  readonly bytes: Uint8Array
}

const BLOCK = 512
/** Far above any definition; a length beyond it is damage. */
const MAX_FILE_BYTES = 256 * 1024 * 1024

/**
 * The regular files of a tar archive, in its order, one at a time in memory. Knows the names of ustar and the longer ones of pax and GNU.
 *
 * @throws {OperationError} `body-invalid` when the archive is cut off or damaged.
 */
export async function* tarFiles(archive: ReadableStream<Uint8Array>): AsyncGenerator<TarFile> {
  const take = takerOf(archive)
  let longName: string | undefined
  for (let header = await take(BLOCK); header[0] !== 0; header = await take(BLOCK)) {
    const bytes = await take(sizeIn(header))
    await take((BLOCK - (bytes.length % BLOCK)) % BLOCK)
    const kind = textIn(header, 156, 1)
    if (kind === '' || kind === '0') yield { name: longName ?? nameIn(header), bytes }
    longName = longNameIn(kind, bytes)
  }
}

/** The name that an entry of this kind gives to the file behind it. */
function longNameIn(kind: string, bytes: Uint8Array): string | undefined {
  const text = textIn(bytes, 0, bytes.length)
  if (kind === 'L') return text
  return kind === 'x' ? /^\d+ path=(.+)$/m.exec(text)?.[1] : undefined
}

function nameIn(header: Uint8Array): string {
  const prefix = textIn(header, 257, 5) === 'ustar' ? textIn(header, 345, 155) : ''
  return prefix === '' ? textIn(header, 0, 100) : `${prefix}/${textIn(header, 0, 100)}`
}

function sizeIn(header: Uint8Array): number {
  const size = Number.parseInt(textIn(header, 124, 12), 8)
  if (size >= 0 && size <= MAX_FILE_BYTES) return size
  throw new OperationError('body-invalid', 'The archive is damaged: an entry has no sensible length.')
}

function textIn(bytes: Uint8Array, start: number, length: number): string {
  const field = bytes.subarray(start, start + length)
  const end = field.indexOf(0)
  return new TextDecoder().decode(field.subarray(0, end < 0 ? length : end))
}

/** Gives the next so many bytes of a stream. */
function takerOf(stream: ReadableStream<Uint8Array>): (length: number) => Promise<Uint8Array> {
  const reader = stream.getReader()
  let rest: Uint8Array = new Uint8Array()
  return async (length) => {
    const parts = [rest]
    let held = rest.length
    while (held < length) {
      const { value, done } = await reader.read()
      if (done) throw new OperationError('body-invalid', 'The archive ends in the middle.')
      parts.push(value)
      held += value.length
    }
    const bytes = parts.length === 1 ? rest : joined(parts, held)
    rest = bytes.subarray(length)
    return bytes.subarray(0, length)
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
