import type { PackageManifest } from 'fhir-ops/packages'
import { packageBooks } from './package-books.js'
import { entriesIn, type Source, type SourceFile } from './sources.js'

/** Files on their way into a storage. */
export interface Reading {
  /** @yields Their resources, in order, as many at a time as are stored together. */
  batches(): AsyncGenerator<readonly Source[], void, undefined>
  /** Which part of the bytes was read, from 0 to 1. */
  share(): number
  /** The packages so far, in order. */
  packages(): readonly PackageManifest[]
}

const BATCH = 500

/** Starts to read files. */
export function readingOf(files: readonly SourceFile[]): Reading {
  const books = packageBooks()
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let [bytesBefore, bytesOfFile] = [0, 0]
  async function* sources(): AsyncGenerator<Source, void, undefined> {
    for (const { path, bytes } of files) {
      for await (const source of entriesIn(path)) {
        bytesOfFile = source.readBytes ?? bytes
        yield books.enter(source)
      }
      bytesBefore += bytes
      bytesOfFile = 0
    }
  }
  return {
    async *batches() {
      let batch: Source[] = []
      for await (const source of sources()) {
        batch.push(source)
        if (batch.length < BATCH) continue
        yield batch
        batch = []
      }
      if (batch.length > 0) yield batch
    },
    share: () => (totalBytes === 0 ? 1 : (bytesBefore + bytesOfFile) / totalBytes),
    packages: () => books.manifests(),
  }
}
