import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OperationError } from 'fhir-ops/errors'
import { zipEntries } from './zip-file.js'

/** A file of a release, in a folder or in a ZIP archive. */
export interface ReleaseFile {
  /** Path inside the release. */
  readonly name: string
  readonly open: () => Promise<Readable>
  /** A text that stands for the content: SHA-256 of a file, CRC-32 and sizes of an entry in an archive. */
  readonly mark: () => Promise<string>
}

/** Every file below a folder, or in a ZIP archive, by name. @throws {OperationError} `not-found` when there is no such path. */
export async function releaseFiles(path: string): Promise<readonly ReleaseFile[]> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new OperationError('not-found', `${path} cannot be read.`, { cause })
  })
  const files = found.isDirectory() ? await folderFiles(path) : await zipEntries(path)
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

async function folderFiles(folder: string): Promise<readonly ReleaseFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name)
      return { name: relative(folder, file), open: async () => createReadStream(file), mark: async () => hashOf(file) }
    })
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  return hash.digest('hex')
}
