import { OperationError } from 'fhir-ops/errors'

/** A regular file of an archive. */
export interface TarFile {
  readonly name: string
  readonly bytes: Buffer
}

const BLOCK = 512
/** Far above any definition; a length beyond it is damage. */
const MAX_FILE_BYTES = 256 * 1024 * 1024

/**
 * The regular files of a tar archive, in its order, one at a time in memory. Knows the names of ustar and the longer ones of pax and GNU.
 *
 * @throws {OperationError} `body-invalid` when the archive is cut off or damaged.
 */
export async function* tarFiles(archive: AsyncIterable<Buffer>): AsyncGenerator<TarFile> {
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
function longNameIn(kind: string, bytes: Buffer): string | undefined {
  if (kind === 'L') return textIn(bytes, 0, bytes.length)
  return kind === 'x' ? /^\d+ path=(.+)$/m.exec(bytes.toString('utf8'))?.[1] : undefined
}

function nameIn(header: Buffer): string {
  const prefix = textIn(header, 257, 5) === 'ustar' ? textIn(header, 345, 155) : ''
  return prefix === '' ? textIn(header, 0, 100) : `${prefix}/${textIn(header, 0, 100)}`
}

function sizeIn(header: Buffer): number {
  const size = Number.parseInt(textIn(header, 124, 12), 8)
  if (size >= 0 && size <= MAX_FILE_BYTES) return size
  throw new OperationError('body-invalid', 'The archive is damaged: an entry has no sensible length.')
}

function textIn(bytes: Buffer, start: number, length: number): string {
  const field = bytes.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.subarray(0, end < 0 ? length : end).toString('utf8')
}

/** Gives the next so many bytes of a stream. */
function takerOf(stream: AsyncIterable<Buffer>): (length: number) => Promise<Buffer> {
  const chunks = stream[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  return async (length) => {
    const parts = [rest]
    let held = rest.length
    while (held < length) {
      const { value, done } = await chunks.next()
      if (done === true) throw new OperationError('body-invalid', 'The archive ends in the middle.')
      parts.push(value)
      held += value.length
    }
    const bytes = parts.length === 1 ? rest : Buffer.concat(parts)
    rest = bytes.subarray(length)
    return bytes.subarray(0, length)
  }
}
