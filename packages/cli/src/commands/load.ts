import { availableParallelism } from 'node:os'
import { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { openEngine, type Engine } from '../engine.js'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'
import { indexingThreads } from '../load/indexing-threads.js'
import { load, type LoadOptions, type LoadSummary } from '../load/loader.js'
import { prepare } from '../load/prepare.js'
import { reportLoad, reportProgress } from '../load/report.js'
import { filesIn } from '../load/sources.js'
import { wholeNumber, wordsOption } from './options.js'

interface LoadCommandOptions {
  readonly storage: string
  readonly resume?: boolean
  readonly threads: number
  readonly words?: boolean
}

/** One core reads, one writes; the others index. */
const THREADS = Math.max(0, availableParallelism() - 2)

/** Each takes some 20 MB of memory. */
const MAX_THREADS = 64

/** `fhir-ops load`. */
export function loadCommand(io: Io): Command {
  return new Command('load')
    .description('Load resources into a storage. Exit status 1 when some were refused; the others are loaded.')
    .argument('<paths...>', 'JSON, Bundle or NDJSON files (also .gz), FHIR packages (.tgz), or folders of them')
    .requiredOption('--storage <storage>', 'sqlite:FILE, postgres:URL or http:URL')
    .addOption(wordsOption())
    .option('--resume', 'leave alone what is stored already with the same content, to go on with a load that was aborted')
    .option('--threads <n>', 'threads that index, beside the one that reads; with 0 that one does', wholeNumber(0, MAX_THREADS), THREADS)
    .addHelpText('after', '\nExample:\n  fhir-ops load packages/cli/sample --storage sqlite:content.db')
    .action((paths: readonly string[], options: LoadCommandOptions) => loadInto(paths, options, io))
}

async function loadInto(paths: readonly string[], options: LoadCommandOptions, io: Io): Promise<void> {
  if (options.storage === 'memory')
    throw new OperationError(
      'parameter-value',
      'What is loaded into memory is gone when the command ends: name another storage, or use --load of serve.',
    )
  // Before the storage is opened: a name that is wrong makes no file.
  await filesIn(paths)
  const engine = await openEngine({ storage: options.storage, create: true, toFill: true, words: options.words }, io)
  try {
    const { refused } = await loadWith(paths, options, { engine, io })
    if (refused.length > 0) throw new Exit(1)
  } finally {
    await close(engine, io)
  }
}

/** A SQLite file gets its indexes now, so this may take as long as a third of the load. */
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
  paths: readonly string[],
  { threads: count, resume = false, words = false }: LoadCommandOptions,
  { engine, io }: Place,
): Promise<LoadSummary> {
  const { ctx, indexer } = engine
  const common: Omit<LoadOptions, 'prepare'> = {
    storage: ctx.storage,
    resume,
    onProgress: (progress) => reportProgress(progress, io),
    onEnd: (summary) => reportLoad(summary, io),
  }
  if (count === 0) return load(paths, { ...common, prepare: (sources) => prepare(sources, indexer) })
  const threads = indexingThreads(count, { words })
  try {
    return await load(paths, { ...common, prepare: async (sources) => threads.prepare(sources), ahead: count * BATCHES_PER_THREAD })
  } finally {
    await threads.close()
  }
}

/** One that it works on, and one that waits. */
const BATCHES_PER_THREAD = 2
