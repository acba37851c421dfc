import type { PackageManifest } from 'fhir-ops/internal/packages'
import type { Io } from '../io.js'
import { entriesIn, sourcesOfInput, withEntries, type PackagePlace, type Source, type SourceFile } from './sources.js'

/** Reads files for a load. */
export interface Reading {
  /** @yields their resources in order, in lists of the size of a batch */
  batches(): AsyncGenerator<readonly Source[], void, undefined>
  /** Returns the fraction of bytes that has been read, from 0 to 1; `undefined` if the total is unknown. */
  share(): number | undefined
  /** Returns the packages read so far, in order. */
  packages(): readonly PackageManifest[]
}

const BATCH = 500

/** Starts to read files. */
export function readingOf(files: readonly SourceFile[]): Reading {
  return readingAll(files.map(({ path, bytes }) => ({ bytes, entries: () => entriesIn(path) })))
}

/** Starts to read standard input. */
export function readingInput(io: Pick<Io, 'stdin' | 'stdinPieces'>): Reading {
  return readingAll([{ bytes: 0, entries: () => withEntries(sourcesOfInput(io)) }])
}

/** A part of the input, which is read completely before the next. */
interface Part {
  /** Length in bytes; 0 if unknown. */
  readonly bytes: number
  readonly entries: () => AsyncGenerator<readonly Source[]>
}

function readingAll(files: readonly Part[]): Reading {
  const books = packageBooks()
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let [bytesBefore, bytesOfFile] = [0, 0]
  async function* allEntries(): AsyncGenerator<readonly Source[], void, undefined> {
    for (const { bytes, entries } of files) {
      for await (const sources of entries()) {
        bytesOfFile = sources.at(-1)?.readBytes ?? bytes
        yield sources.map((source) => books.enter(source))
      }
      bytesBefore += bytes
      bytesOfFile = 0
    }
  }
  return {
    async *batches() {
      let batch: Source[] = []
      for await (const sources of allEntries()) {
        for (const source of sources) {
          batch.push(source)
          if (batch.length < BATCH) continue
          yield batch
          batch = []
        }
      }
      if (batch.length > 0) yield batch
    },
    share: () => (totalBytes === 0 ? undefined : (bytesBefore + bytesOfFile) / totalBytes),
    packages: () => books.manifests(),
  }
}

/** Keeps track of the packages in a load. */
interface PackageBooks {
  /** Gives a definition from a package an id that no other definition of the load has. */
  enter(source: Source): Source
  /** Returns the packages so far, in order. */
  manifests(): readonly PackageManifest[]
}

/** Creates the bookkeeping for a load. */
function packageBooks(): PackageBooks {
  const manifests = new Map<string, PackageManifest>()
  const canonicals = new Map<string, string>()
  return {
    enter({ origin, ...source }) {
      if (origin === undefined) return source
      manifests.set(`${origin.manifest.name}#${origin.manifest.version}`, origin.manifest)
      const canonical = `${origin.url}|${origin.version}`
      const place = `${origin.type}/${origin.id}`
      const known = canonicals.get(place) ?? canonical
      canonicals.set(place, known)
      return known === canonical ? source : { ...source, id: otherId(origin) }
    },
    manifests: () => [...manifests.values()],
  }
}

const MAX_ID = 64

function otherId({ id = '', version, manifest }: PackagePlace): string {
  const suffix = `-${version ?? manifest.version}`.replaceAll(/[^A-Za-z0-9.-]/g, '-')
  return id.slice(0, MAX_ID - suffix.length) + suffix
}
