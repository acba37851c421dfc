import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { OperationError } from 'fhir-ops/errors'
import { zipEntries } from './zip-file.js'

/** A file of a release, in a folder or in a ZIP archive. */
export interface ReleaseFile {
  /** Path inside the release. */
  readonly name: string
  /** In bytes, unpacked. */
  readonly size: number
  /** Its content. @throws {OperationError} `not-found` when it cannot be read, `body-invalid` when the archive is damaged there. */
  readonly bytes: () => AsyncIterable<Uint8Array>
  /** A text that identifies the content: SHA-256 of a file, CRC-32 and sizes of an entry in an archive. */
  readonly mark: () => Promise<string>
}

const READ_AT_ONCE = 1 << 18

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
  const files: ReleaseFile[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = join(entry.parentPath, entry.name)
    const bytes = (): AsyncIterable<Uint8Array> => fileBytes(file)
    files.push({ name: relative(folder, file), size: (await stat(file)).size, bytes, mark: async () => hashOf(bytes()) })
  }
  return files
}

async function* fileBytes(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: READ_AT_ONCE })
  } catch (cause) {
    throw new OperationError('not-found', `${file} cannot be read.`, { cause })
  }
}

async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytes) hash.update(piece)
  return hash.digest('hex')
}
