import { quoted } from 'fhir-ops/internal/errors'
import type { PackageManifest, OpenDependency } from 'fhir-ops/internal/packages'
import { stampedText } from 'fhir-ops/internal/storage'
import { allMatches, type PutEntry, type Storage, type StoredResource } from 'fhir-ops/storage'
import { openDependencies } from 'fhir-ops/packages'
import { counted, type Io } from '../io.js'
import { progressOn } from '../progress.js'
import type { Prepare, Prepared, Refusal } from './prepare.js'
import type { Reading, Searching, Source } from './sources.js'

/** The result of a load. */
export interface LoadSummary {
  readonly loaded: number
  /** Number of loaded resources by type. */
  readonly types: ReadonlyMap<string, number>
  /** Number of resources that were already stored with the same content and left unchanged; 0 without `resume`. */
  readonly unchanged: number
  readonly refused: readonly Refusal[]
  readonly packages: readonly PackageManifest[]
  /** Resources that refer to others by a search; absent if there is none. */
  readonly searching?: Searching | undefined
  readonly seconds: number
}

/** The progress of a load. */
interface LoadProgress {
  /** Number of resources that are in the storage: acknowledged, or already stored before. */
  readonly stored: number
  /** Fraction of the files that has been read, from 0 to 1; `undefined` if their length is unknown. */
  readonly share: number | undefined
}

/** Options of `load`. */
export interface LoadOptions {
  readonly storage: Storage
  readonly prepare: Prepare
  /** Number of batches to prepare ahead of the one being written. Default 0: each is prepared in its turn. */
  readonly ahead?: number
  /** Skips resources that are already stored with the same content, so that an aborted load can be repeated. Default false. */
  readonly resume?: boolean
  /** Called after each batch. */
  readonly onProgress?: (progress: LoadProgress) => void
  /** Called at the end, also before an error is thrown, when no write is running any longer. */
  readonly onEnd?: (summary: LoadSummary) => void
}

/**
 * Stores all resources that are read, in batches that are stored completely or not at all. While the storage writes, the next batches are
 * prepared. A resource that cannot be stored is refused with its place; the others continue.
 *
 * @throws {OperationError} if something cannot be read, or if the storage fails; resources written before remain.
 */
export async function load(reading: Reading, options: LoadOptions): Promise<LoadSummary> {
  const start = performance.now()
  const writer = batchWriter(options.storage)
  const tally: Tally = { refused: [], unchanged: 0 }
  const summary = (): LoadSummary => ({
    ...tally,
    loaded: sumOf(writer.written()),
    types: writer.written(),
    packages: reading.packages(),
    searching: reading.searching(),
    seconds: (performance.now() - start) / 1_000,
  })
  try {
    await writeAll(reading, { writer, tally, options })
    await writer.done()
    return summary()
  } finally {
    await writer.settled()
    options.onEnd?.(summary())
  }
}

interface Tally {
  readonly refused: Refusal[]
  unchanged: number
}

interface Writing {
  readonly writer: BatchWriter
  readonly tally: Tally
  readonly options: LoadOptions
}

async function writeAll(reading: Reading, { writer, tally, options }: Writing): Promise<void> {
  const { storage, resume = false } = options
  for await (const prepared of preparedBatches(reading.batches(), options)) {
    tally.refused.push(...prepared.refused)
    await writer.ready(prepared.entries)
    const batch = resume ? await withoutUnchanged(prepared.entries, storage) : prepared.entries
    tally.unchanged += prepared.entries.length - batch.length
    writer.write(batch)
    options.onProgress?.({ stored: sumOf(writer.written()) + tally.unchanged, share: reading.share() })
  }
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return counts.values().reduce((sum, count) => sum + count, 0)
}

/** Prepares batches and yields them in the order of the sources. */
async function* preparedBatches(sources: AsyncIterable<readonly Source[]>, { prepare, ahead = 0 }: LoadOptions): AsyncGenerator<Prepared> {
  const underWay: Promise<Prepared>[] = []
  for await (const batch of sources) {
    const prepared = Promise.resolve(prepare(batch))
    // The code that awaits it handles the failure; until then, it must not count as unhandled.
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

/** Number of ids that fit into the address of a search on another server. */
const IDS_AT_ONCE = 100

/** Removes entries whose resource is stored with the same content; if several entries have the same address, all are kept. */
async function withoutUnchanged(entries: readonly PutEntry[], storage: Storage): Promise<readonly PutEntry[]> {
  const stored = new Map<string, StoredResource>()
  for (const [type, ofType] of Map.groupBy(entries, (entry) => entry.type)) {
    const ids = ofType.map(({ id }) => id)
    for await (const found of resourcesOf(storage, type, ids)) stored.set(addressOf(found), found)
  }
  const byAddress = Map.groupBy(entries, addressOf)
  return entries.filter((entry) => {
    const found = stored.get(addressOf(entry))
    return found === undefined || !isSame(found, entry) || byAddress.get(addressOf(entry))?.length !== 1
  })
}

function isSame({ type, id, versionId, lastUpdated, text }: StoredResource, entry: PutEntry): boolean {
  return text === stampedText({ type, id, versionId, lastUpdated, text: entry.text })
}

async function* resourcesOf(storage: Storage, type: string, ids: readonly string[]): AsyncGenerator<StoredResource> {
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    yield* allMatches(storage, { type, where: { kind: 'id', ids: ids.slice(at, at + IDS_AT_ONCE) } })
  }
}

function addressOf({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${type}/${id}`
}

/** Writes batches, a few at the same time, so that the storage is never idle; batches with common resources are written one after the other. */
interface BatchWriter {
  /** Resolves when the batch may be written. @throws {OperationError} if an earlier batch failed. */
  ready(batch: readonly PutEntry[]): Promise<void>
  /** Starts to write a batch that is ready, or part of it. */
  write(batch: readonly PutEntry[]): void
  /** Waits for all batches. @throws {OperationError} if one failed. */
  done(): Promise<void>
  /** Waits until no batch is being written, regardless of the outcome. */
  settled(): Promise<void>
  /** Returns the number of entries by type that the storage has acknowledged. */
  written(): ReadonlyMap<string, number>
}

interface UnderWay {
  readonly addresses: ReadonlySet<string>
  /** Number of entries by type. */
  readonly types: ReadonlyMap<string, number>
  readonly ended: Promise<void>
}

/** Limit on simultaneous batches. SQLite combines waiting writes in one transaction, which writes each page only once. */
const MOST_AT_ONCE = 8

/** Creates a writer of batches. */
function batchWriter(storage: Storage): BatchWriter {
  let underWay: readonly UnderWay[] = []
  const written = new Map<string, number>()
  // Takes no reference to the batch, which would otherwise live until the storage has acknowledged it: collecting old objects is expensive.
  const acknowledged = async (writing: Promise<unknown>, { addresses, types }: Pick<UnderWay, 'addresses' | 'types'>): Promise<void> => {
    await writing
    underWay = underWay.filter((other) => other.addresses !== addresses)
    for (const [type, count] of types) written.set(type, (written.get(type) ?? 0) + count)
  }
  return {
    async ready(batch) {
      const addresses = addressesOf(batch)
      const mustWait = (): boolean =>
        underWay.length === MOST_AT_ONCE || underWay.some((other) => !other.addresses.isDisjointFrom(addresses))
      while (mustWait()) await underWay[0]?.ended
    },
    write(batch) {
      if (batch.length === 0) return
      const [addresses, types] = [addressesOf(batch), typesOf(batch)]
      const ended = acknowledged(storage.write(batch), { addresses, types })
      // The code that awaits it handles the failure; until then, it must not count as unhandled.
      ended.catch(() => {})
      underWay = [...underWay, { addresses, types, ended }]
    },
    async done() {
      for (const { ended } of underWay) await ended
    },
    async settled() {
      await Promise.allSettled(underWay.map(({ ended }) => ended))
    },
    written: () => written,
  }
}

function addressesOf(batch: readonly PutEntry[]): ReadonlySet<string> {
  return new Set(batch.map(({ type, id }) => `${type}/${id}`))
}

function typesOf(batch: readonly PutEntry[]): ReadonlyMap<string, number> {
  const types = new Map<string, number>()
  for (const { type } of batch) types.set(type, (types.get(type) ?? 0) + 1)
  return types
}

const MAX_REFUSALS = 20

/** Reports the progress and the result of a load. @param options With `knowsPackages`, the caller reports missing packages. */
export function loadReports(
  io: Io,
  { knowsPackages = false }: { readonly knowsPackages?: boolean | undefined } = {},
): Required<Pick<LoadOptions, 'onProgress' | 'onEnd'>> {
  const progress = progressOn(io)
  return {
    onProgress: ({ stored, share }) => progress.show({ doing: 'loading', done: stored, thing: 'resource', share }),
    onEnd: (summary) => {
      progress.end()
      reportLoad(knowsPackages ? { ...summary, packages: [] } : summary, io)
    },
  }
}

/** Reports what was loaded and what was refused. */
function reportLoad(summary: LoadSummary, io: Io): void {
  const { loaded, unchanged, refused, searching, seconds } = summary
  const types = [...summary.types].map(([type, count]) => `${type} ${count}`)
  io.err(`loaded ${counted(loaded, 'resource')} in ${seconds.toFixed(1)} s${types.length > 0 ? ` (${types.join(', ')})` : ''}`)
  if (unchanged > 0) io.err(`left ${unchanged} unchanged, already stored`)
  for (const open of openDependencies(summary.packages)) io.err(dependencyNote(open))
  if (searching !== undefined) io.err(searchingNote(searching))
  if (refused.length === 0) return
  io.err(`refused ${refused.length}:`)
  for (const { place, reason } of refused.slice(0, MAX_REFUSALS)) io.err(`  ${place}: ${reason}`)
  const rest = refused.length - MAX_REFUSALS
  if (rest > 0) io.err(`  and ${rest} more`)
}

function searchingNote({ count, example, place }: Searching): string {
  const some = count === 1 ? '1 resource refers' : `${count} resources refer`
  return `${some} to others by a search, such as ${quoted(example)} (${place}). A load stores this as it is; a transaction that is sent to a server resolves it`
}

/** Says that a package is missing, or present in another version. */
export function dependencyNote({ by, name, version, given }: OpenDependency): string {
  return given === undefined
    ? `${by} needs ${name} ${version}, which is not given`
    : `${by} was made with ${name} ${version}; ${given} is given`
}
