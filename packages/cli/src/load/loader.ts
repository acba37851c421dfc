import type { PackageManifest } from 'fhir-ops/packages'
import type { Storage } from 'fhir-ops/storage'
import { batchWriter } from './batch-writer.js'
import { packageBooks, type PackageBooks } from './package-books.js'
import type { Prepare, Prepared, Refusal } from './prepare.js'
import { entriesIn, type Source } from './sources.js'
import { withoutUnchanged } from './unchanged.js'

/** What a load did. */
export interface LoadSummary {
  readonly loaded: number
  /** How many of each type were loaded, in the order of first appearance. */
  readonly types: ReadonlyMap<string, number>
  /** How many were there already with the same content, and left as they are; 0 unless the load was to `resume`. */
  readonly unchanged: number
  readonly refused: readonly Refusal[]
  readonly packages: readonly PackageManifest[]
  readonly seconds: number
}

/** How far a load has come. */
export interface LoadProgress {
  /** Resources that are in the storage: acknowledged, or found there. */
  readonly stored: number
  /** Resources a second since the last report. */
  readonly perSecond: number
}

/** What `load` works with. */
export interface LoadOptions {
  readonly storage: Storage
  readonly prepare: Prepare
  /** How many batches are prepared at the same time, ahead of the one that is written. Default 0: each when its turn comes. */
  readonly ahead?: number
  /** Leaves alone what is stored already with the same content, so that an aborted load can be repeated. Default false. */
  readonly resume?: boolean
  /** Called about once a second. */
  readonly onProgress?: (progress: LoadProgress) => void
}

const BATCH = 500
const PROGRESS_MS = 1_000

/**
 * Stores every resource of the paths, in batches that are stored as a whole or not at all. While the storage writes, the next ones are
 * prepared. A resource that cannot be stored is refused with its place and does not stop the others.
 *
 * @throws {OperationError} when a path cannot be read or the storage fails; what was written before stays.
 */
export async function load(paths: readonly string[], options: LoadOptions): Promise<LoadSummary> {
  const { storage, resume = false } = options
  const start = performance.now()
  const refused: Refusal[] = []
  const types = new Map<string, number>()
  const books = packageBooks()
  const writer = batchWriter(storage)
  const progress = progressTo(options)
  let unchanged = 0
  for await (const prepared of preparedBatches(batches(paths, books), options)) {
    refused.push(...prepared.refused)
    await writer.ready(prepared.entries)
    const batch = resume ? await withoutUnchanged(prepared.entries, storage) : prepared.entries
    unchanged += prepared.entries.length - batch.length
    writer.write(batch)
    for (const { type } of batch) types.set(type, (types.get(type) ?? 0) + 1)
    progress(writer.written() + unchanged)
  }
  await writer.done()
  return { loaded: writer.written(), types, unchanged, refused, packages: books.manifests(), seconds: (performance.now() - start) / 1_000 }
}

/** In the order of the sources. */
async function* preparedBatches(sources: AsyncIterable<readonly Source[]>, { prepare, ahead = 0 }: LoadOptions): AsyncGenerator<Prepared> {
  const underWay: Promise<Prepared>[] = []
  for await (const batch of sources) {
    const prepared = Promise.resolve(prepare(batch))
    // Whoever waits for it hears of a failure; until then it is nobody's.
    prepared.catch(() => {})
    underWay.push(prepared)
    if (underWay.length > ahead) yield* await first(underWay)
  }
  while (underWay.length > 0) yield* await first(underWay)
}

async function first(underWay: Promise<Prepared>[]): Promise<readonly Prepared[]> {
  const next = await underWay.shift()
  return next === undefined ? [] : [next]
}

async function* batches(paths: readonly string[], books: PackageBooks): AsyncGenerator<readonly Source[]> {
  let batch: Source[] = []
  for (const path of paths) {
    for await (const source of entriesIn(path)) {
      batch.push(books.enter(source))
      if (batch.length < BATCH) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

function progressTo({ onProgress }: LoadOptions): (stored: number) => void {
  let said = { at: performance.now(), stored: 0 }
  return (stored) => {
    const at = performance.now()
    if (at - said.at < PROGRESS_MS) return
    onProgress?.({ stored, perSecond: ((stored - said.stored) * 1_000) / (at - said.at) })
    said = { at, stored }
  }
}
