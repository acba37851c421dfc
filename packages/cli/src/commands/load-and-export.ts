import { availableParallelism } from 'node:os'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Command, InvalidArgumentError } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { isResourceType, allMatches, type Condition, type Storage } from 'fhir-ops/storage'
import { resourceTypes } from 'fhir-ops/internal/storage'
import { withNearest } from 'fhir-ops/internal/text'
import { openEngine, withEngine, type Engine } from '../engine.js'
import { Exit, type Io, counted } from '../io.js'
import { load, type LoadOptions, type LoadSummary, loadReports } from '../load/loader.js'
import { indexingThreads, prepare } from '../load/prepare.js'
import { progressOn } from '../progress.js'
import { filesIn, isStandardInput, readingInput, readingOf, type Reading } from '../load/sources.js'
import { SAMPLE_PATH, makeFolder } from '../files.js'
import { checkIsKept, notBlank, wholeNumber, wordsOption } from './options.js'

interface LoadCommandOptions {
  readonly storage: string
  readonly resume?: boolean
  readonly threads: number
  readonly words?: boolean
}

/** Number of indexing threads: one core reads, one writes, the others index. */
const THREADS = Math.max(0, availableParallelism() - 2)

/** Limit on threads, because each uses about 20 MB of memory. */
const MAX_THREADS = 64

/** `fhir-ops load`. */
export function loadCommand(io: Io): Command {
  return new Command('load')
    .description('Load resources into a storage. Exit status 1 when some were refused; the others are loaded.')
    .argument(
      '<paths...>',
      'JSON, Bundle or NDJSON files (also .gz), FHIR packages (.tgz), or folders of them; - for a resource, a Bundle or NDJSON from standard input',
    )
    .requiredOption('--storage <storage>', 'sqlite:FILE, postgres:URL or http:URL')
    .addOption(wordsOption())
    .option('--resume', 'skip resources that are already stored with the same content, for example to resume an aborted load')
    .option('--threads <n>', 'number of indexing threads; with 0 the reading thread indexes', wholeNumber(0, MAX_THREADS), THREADS)
    .addHelpText('after', `\nExample:\n  fhir-ops load ${SAMPLE_PATH} --storage sqlite:content.db`)
    .action((paths: readonly string[], options: LoadCommandOptions) => loadInto(paths, options, io))
}

async function loadInto(paths: readonly string[], options: LoadCommandOptions, io: Io): Promise<void> {
  checkIsKept(options.storage, ', or use serve --load')
  // Before the storage is opened, so that a wrong path does not create a file.
  const reading = isStandardInput(paths) ? readingInput(io) : readingOf(await filesIn(paths))
  const engine = await openEngine({ storage: options.storage, create: true, toFill: true, words: options.words }, io)
  try {
    const { refused } = await loadWith(reading, options, { engine, io })
    if (refused.length > 0) throw new Exit(1)
  } finally {
    await close(engine, io)
  }
}

/** Closes the engine. A SQLite file then gets its indexes, which may take a third of the time of the load. */
async function close(engine: Engine, io: Io): Promise<void> {
  const start = performance.now()
  await engine.close()
  const seconds = (performance.now() - start) / 1_000
  if (seconds >= 1) io.err(`closed the storage in ${seconds.toFixed(1)} s`)
}

interface Place {
  readonly engine: Engine
  readonly io: Io
}

async function loadWith(
  reading: Reading,
  { threads: count, resume = false, words = false }: LoadCommandOptions,
  { engine, io }: Place,
): Promise<LoadSummary> {
  const { ctx, indexer } = engine
  const common: Omit<LoadOptions, 'prepare'> = {
    storage: ctx.storage,
    resume,
    ...loadReports(io),
  }
  if (count === 0) return load(reading, { ...common, prepare: (sources) => prepare(sources, indexer) })
  const threads = indexingThreads(count, { words })
  try {
    return await load(reading, { ...common, prepare: async (sources) => threads.prepare(sources), ahead: count * BATCHES_PER_THREAD })
  } finally {
    await threads.close()
  }
}

/** Batches per thread: one being processed, and one waiting. */
const BATCHES_PER_THREAD = 2

interface ExportCommandOptions {
  readonly storage: string
  readonly type?: readonly string[]
  readonly since?: number
  readonly out?: string
}

/** `fhir-ops export`. */
export function exportCommand(io: Io): Command {
  return new Command('export')
    .description('Write the resources of a storage as NDJSON, with their versions and times, which `load` ignores.')
    .requiredOption('--storage <storage>', 'sqlite:FILE, postgres:URL or http:URL')
    .option('--type <type>', 'only this type; repeatable', resourceType)
    .option('--since <instant>', 'only what was written at this time or later, such as 2026-01-31T00:00:00Z', instant)
    .option('--out <folder>', 'write a file <Type>.ndjson for each type, instead of printing all', notBlank)
    .addHelpText('after', '\nExample:\n  fhir-ops export --storage sqlite:content.db --out ./exported')
    .action((options: ExportCommandOptions) => exportFrom(options, io))
}

async function exportFrom({ storage, type: types = resourceTypes(), since, out }: ExportCommandOptions, io: Io): Promise<void> {
  if (storage === 'memory') throw new OperationError('parameter-value', 'There is nothing in memory to export: name another storage.')
  await withEngine({ storage }, io, async ({ ctx }) => {
    const progress = progressOn(io)
    const onProgress = (done: number): void => progress.show({ doing: 'exporting', done, thing: 'resource' })
    const sink = out === undefined ? lines(io.out) : await folder(out)
    const counts = await exportResources(ctx.storage, { types, since, sink, onProgress })
    progress.end()
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    io.err(
      `exported ${counted(total, 'resource')}${counts.size > 0 ? ` (${[...counts].map(([type, count]) => `${type} ${count}`).join(', ')})` : ''}`,
    )
  })
}

function resourceType(text: string, before: readonly string[] = []): readonly string[] {
  if (!isResourceType(text)) throw new InvalidArgumentError(withNearest('It must be a resource type of R4, or Bot.', text, resourceTypes()))
  return [...before, text]
}

function instant(text: string): number {
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a date, or a time with seconds and zone.')
  return time
}

/** What to export, and the destination. */
interface ExportOptions {
  readonly types: readonly string[]
  /** Exports only resources written at this time or later, in milliseconds since 1970; all if absent. */
  readonly since?: number | undefined
  readonly sink: Sink
  /** Called for each resource, with the number of resources so far. */
  readonly onProgress?: (done: number) => void
}

/** Resources per page, which is how many are in memory at a time. */
const PAGE = 500

/**
 * Passes the current resources to the sink, type by type, as texts with numbers as stored. Resources written meanwhile may
 * or may not be included.
 *
 * @returns The number of resources of each type that has any.
 */
export async function exportResources(
  storage: Storage,
  { types, since, sink, onProgress }: ExportOptions,
): Promise<ReadonlyMap<string, number>> {
  const where: Condition = since === undefined ? { kind: 'and', conditions: [] } : { kind: 'lastUpdated', from: since }
  const counts = new Map<string, number>()
  let done = 0
  async function* texts(type: string): AsyncGenerator<string> {
    for await (const { text } of allMatches(storage, { type, where, limit: PAGE })) {
      counts.set(type, (counts.get(type) ?? 0) + 1)
      onProgress?.(++done)
      yield text
    }
  }
  for (const type of types) await sink(type, texts(type))
  return counts
}

/** Receives the resources of a type, one text after the other. */
type Sink = (type: string, texts: AsyncIterable<string>) => Promise<void>

/** Prints every resource as a line. */
export function lines(out: (line: string) => void): Sink {
  return async (_type, texts) => {
    for await (const text of texts) out(text)
  }
}

/** Writes a file `<Type>.ndjson` for each type that has resources. A file appears under its name when it is complete. */
export async function folder(path: string): Promise<Sink> {
  await makeFolder(path)
  return async (type, texts) => {
    const part = join(path, `${type}.ndjson.part`)
    let isEmpty = true
    async function* lineByLine(): AsyncGenerator<string> {
      for await (const text of texts) {
        isEmpty = false
        yield `${text}\n`
      }
    }
    try {
      await pipeline(lineByLine, createWriteStream(part))
      await (isEmpty ? rm(part) : rename(part, join(path, `${type}.ndjson`)))
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }
}
