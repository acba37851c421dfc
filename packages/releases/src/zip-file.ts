import { createReadStream } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { crc32, createInflateRaw } from 'node:zlib'
import { OperationError } from 'fhir-ops/errors'

const END = { signature: 0x06054b50, size: 22, maxComment: 0xffff } as const
const CENTRAL = { signature: 0x02014b50, size: 46 } as const
const LOCAL = { signature: 0x04034b50, size: 30 } as const
const LOCATOR = { signature: 0x07064b50, size: 20 } as const
const END_64 = { signature: 0x06064b50, size: 56 } as const
/** Id of the extra field with the numbers of an entry that do not fit into 32 bits. */
const EXTRA_64 = 1
const STORED = 0
const DEFLATED = 8
/** Marks a number that is stated in 64 bits elsewhere. */
const ELSEWHERE = 0xffffffff

interface Entry {
  readonly name: string
  /** CRC-32 of the content. */
  readonly crc: number
  /** Unpacked size in bytes. */
  readonly size: number
  /** CRC-32 and stated sizes, as text. */
  readonly mark: string
  readonly method: number
  readonly compressed: number
  readonly offset: number
}

/** A file in a ZIP archive. */
interface ZipEntry {
  /** Path inside the archive. */
  readonly name: string
  /** Unpacked size in bytes. */
  readonly size: number
  /** Reads the content. @throws {OperationError} `body-invalid` if it is damaged, `not-supported` for compression methods other than deflate. */
  readonly bytes: () => AsyncIterable<Uint8Array>
  /** CRC-32 and stated sizes. */
  readonly mark: string
}

/**
 * Lists the files in a ZIP archive of any size; the content of each is read in pieces and checked against its checksum.
 *
 * @throws {OperationError} `body-invalid` if it is not a ZIP archive, or a damaged one.
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT sections 4.3.14 to 4.3.16 and 4.5.3 for ZIP64
 */
export async function zipEntries(path: string): Promise<readonly ZipEntry[]> {
  const file = await open(path)
  try {
    const entries = readCentral(await centralDirectory(file, path), path)
    return entries
      .filter(({ name }) => !name.endsWith('/'))
      .map((entry) => ({ name: entry.name, size: entry.size, mark: entry.mark, bytes: () => entryBytes(path, entry) }))
  } finally {
    await file.close()
  }
}

async function centralDirectory(file: FileHandle, path: string): Promise<Buffer> {
  const { size } = await file.stat()
  const length = Math.min(size, END.size + END.maxComment)
  const tail = await readAt(file, size - length, length)
  const at = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (at < 0 || at + END.size > tail.length) throw new OperationError('body-invalid', `${path} is not a ZIP archive.`)
  const place = { size: tail.readUInt32LE(at + 12), offset: tail.readUInt32LE(at + 16) }
  const isLarge = place.size === ELSEWHERE || place.offset === ELSEWHERE || tail.readUInt16LE(at + 10) === 0xffff
  const { size: directorySize, offset } = isLarge ? await largeDirectory(file, size - length + at) : place
  if (offset + directorySize > size) throw damaged(path)
  return readAt(file, offset, directorySize)
}

interface DirectoryPlace {
  readonly size: number
  readonly offset: number
}

/** Returns the place of the directory in a ZIP64 archive, from the record to which the locator before the end record points. */
async function largeDirectory(file: FileHandle, end: number): Promise<DirectoryPlace> {
  const locator = await readAt(file, Math.max(0, end - LOCATOR.size), LOCATOR.size)
  if (locator.readUInt32LE(0) !== LOCATOR.signature)
    throw new OperationError('body-invalid', 'The ZIP64 archive has no end of central directory locator.')
  const record = await readAt(file, Number(locator.readBigUInt64LE(8)), END_64.size)
  if (record.readUInt32LE(0) !== END_64.signature)
    throw new OperationError('body-invalid', 'The ZIP64 archive has no end of central directory record.')
  return { size: Number(record.readBigUInt64LE(40)), offset: Number(record.readBigUInt64LE(48)) }
}

function readCentral(directory: Buffer, path: string): readonly Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at + CENTRAL.size <= directory.length;) {
    if (directory.readUInt32LE(at) !== CENTRAL.signature) throw damaged(path)
    const nameEnd = at + CENTRAL.size + directory.readUInt16LE(at + 28)
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30)
    const end = extraEnd + directory.readUInt16LE(at + 32)
    if (end > directory.length) throw damaged(path)
    const header = directory.subarray(at, at + CENTRAL.size)
    const [size = 0, compressed = 0, offset = 0] = entryNumbers(header, directory.subarray(nameEnd, extraEnd))
    const name = directory.toString('utf8', at + CENTRAL.size, nameEnd)
    const crc = header.readUInt32LE(16)
    const mark = `${crc.toString(16)} ${size} ${compressed}`
    entries.push({ name, size, crc, mark, method: header.readUInt16LE(10), compressed, offset })
    at = end
  }
  return entries
}

/** Returns unpacked size, packed size and offset of an entry; values that do not fit are in the extra field, in this order. */
function entryNumbers(header: Buffer, extra: Buffer): readonly number[] {
  let large = largeNumbers(extra)
  return [24, 20, 42].map((place) => {
    const stated = header.readUInt32LE(place)
    if (stated !== ELSEWHERE || large.length < 8) return stated
    const number = Number(large.readBigUInt64LE(0))
    large = large.subarray(8)
    return number
  })
}

function largeNumbers(extra: Buffer): Buffer {
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === EXTRA_64) return extra.subarray(at + 4, end)
    at = end
  }
  return extra.subarray(0, 0)
}

function damaged(path: string): OperationError {
  return new OperationError('body-invalid', `${path} is a damaged ZIP archive.`)
}

async function* entryBytes(path: string, entry: Entry): AsyncGenerator<Uint8Array> {
  const { name, method } = entry
  if (method !== STORED && method !== DEFLATED) {
    throw new OperationError('not-supported', `${name} in ${path} has an unsupported compression method; extract the archive first.`)
  }
  let crc = 0
  try {
    for await (const piece of unpacked(path, entry)) {
      crc = crc32(piece, crc)
      yield piece
    }
  } catch (cause) {
    throw new OperationError('body-invalid', `${name} in ${path} is damaged.`, { cause })
  }
  if (crc !== entry.crc) throw new OperationError('body-invalid', `${name} in ${path} is damaged: its checksum is different.`)
}

async function* unpacked(path: string, { method, compressed, offset }: Entry): AsyncGenerator<Uint8Array> {
  if (compressed === 0) return
  const start = await contentStart(path, offset)
  const content = createReadStream(path, { start, end: start + compressed - 1 })
  if (method === STORED) return yield* content
  const inflate = createInflateRaw()
  content.once('error', (error) => inflate.destroy(error))
  try {
    // If the iterator destroys a transform before its end, it emits an error that nobody handles.
    yield* content.pipe(inflate).iterator({ destroyOnReturn: false })
  } finally {
    inflate.destroy()
    content.destroy()
  }
}

async function contentStart(path: string, offset: number): Promise<number> {
  const file = await open(path)
  try {
    const header = await readAt(file, offset, LOCAL.size)
    if (header.readUInt32LE(0) !== LOCAL.signature) throw damaged(path)
    return offset + LOCAL.size + header.readUInt16LE(26) + header.readUInt16LE(28)
  } finally {
    await file.close()
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  if (!Number.isSafeInteger(position)) throw new OperationError('body-invalid', 'The ZIP archive refers to a position outside itself.')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw new OperationError('body-invalid', 'The ZIP archive is truncated.')
  return buffer
}
