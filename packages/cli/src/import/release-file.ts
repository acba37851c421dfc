import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { OperationError } from 'fhir-ops/errors'
import { zipEntries } from './zip-file.js'

/** A file of a release, in a folder or in a ZIP archive. */
export interface ReleaseFile {
  /** Path inside the release. */
  readonly name: string
  readonly open: () => Promise<Readable>
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
      const name = join(entry.parentPath, entry.name)
      return { name, open: async () => createReadStream(name) }
    })
}
