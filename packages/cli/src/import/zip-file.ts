import { createReadStream } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import { OperationError } from 'fhir-ops/errors'
import type { ReleaseFile } from './release-file.js'

const END = { signature: 0x06054b50, size: 22, maxComment: 0xffff } as const
const CENTRAL = { signature: 0x02014b50, size: 46 } as const
const LOCAL = { signature: 0x04034b50, size: 30 } as const
const STORED = 0
const DEFLATED = 8
const ZIP64 = 0xffffffff

interface Entry {
  readonly name: string
  readonly method: number
  readonly compressed: number
  readonly offset: number
}

/**
 * The files in a ZIP archive, each read as a stream.
 *
 * @throws {OperationError} `body-invalid` when it is none; `not-supported` for archives above 4 GiB and other compressions than deflate.
 */
export async function zipEntries(path: string): Promise<readonly ReleaseFile[]> {
  const file = await open(path)
  try {
    const entries = readCentral(await centralDirectory(file, path), path)
    return entries.filter(({ name }) => !name.endsWith('/')).map((entry) => ({ name: entry.name, open: () => entryStream(path, entry) }))
  } finally {
    await file.close()
  }
}

async function centralDirectory(file: FileHandle, path: string): Promise<Buffer> {
  const { size } = await file.stat()
  const length = Math.min(size, END.size + END.maxComment)
  const tail = await readAt(file, size - length, length)
  const at = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (at < 0 || at + END.size > tail.length) throw new OperationError('body-invalid', `${path} is no ZIP archive.`)
  const [directorySize, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)]
  if (offset === ZIP64 || directorySize === ZIP64) throw new OperationError('not-supported', `${path} is a ZIP64 archive; unpack it first.`)
  return readAt(file, offset, directorySize)
}

function readCentral(directory: Buffer, path: string): readonly Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at + CENTRAL.size <= directory.length;) {
    if (directory.readUInt32LE(at) !== CENTRAL.signature) throw new OperationError('body-invalid', `${path} is a damaged ZIP archive.`)
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) => directory.readUInt16LE(at + place))
    const end = at + CENTRAL.size + (nameLength ?? 0)
    entries.push({
      name: directory.toString('utf8', at + CENTRAL.size, end),
      method: directory.readUInt16LE(at + 10),
      compressed: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    })
    at = end + (extraLength ?? 0) + (commentLength ?? 0)
  }
  return entries
}

async function entryStream(path: string, { name, method, compressed, offset }: Entry): Promise<Readable> {
  if (compressed === ZIP64 || offset === ZIP64 || (method !== STORED && method !== DEFLATED)) {
    throw new OperationError('not-supported', `${name} in ${path} is packed in a way that is not supported; unpack it first.`)
  }
  const start = await contentStart(path, offset)
  if (compressed === 0) return Readable.from([])
  const content = createReadStream(path, { start, end: start + compressed - 1 })
  if (method === STORED) return content
  const inflate = createInflateRaw()
  content.once('error', (error) => inflate.destroy(error))
  return content.pipe(inflate)
}

async function contentStart(path: string, offset: number): Promise<number> {
  const file = await open(path)
  try {
    const header = await readAt(file, offset, LOCAL.size)
    if (header.readUInt32LE(0) !== LOCAL.signature) throw new OperationError('body-invalid', `${path} is a damaged ZIP archive.`)
    return offset + LOCAL.size + header.readUInt16LE(26) + header.readUInt16LE(28)
  } finally {
    await file.close()
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw new OperationError('body-invalid', 'The ZIP archive ends too early.')
  return buffer
}
