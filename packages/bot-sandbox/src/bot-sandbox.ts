import { OperationError } from 'fhir-ops/errors'
import type { BotRuntime } from 'fhir-ops/execute'
import type { BotTask } from 'fhir-ops/internal/execute'
import { checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'
import { availableParallelism } from 'node:os'
import { startWorker, type PooledWorker } from './pooled-worker.js'
import { readAnswer } from './wire.js'

/** What `openBotSandbox` takes. */
export interface BotSandboxOptions {
  /** Threads, each of which runs one bot at a time. Default: one for each core, at most 8. On Linux they yield to the other threads of the process. */
  readonly workers?: number
}

const MOST_WORKERS = 8

const SHAPE: InputShape = inputShape<BotSandboxOptions>({
  workers: { words: 'a whole number, 1 or more', is: (count) => Number.isSafeInteger(count) && Number(count) >= 1 },
})

/**
 * A runtime for stored bots: JavaScript in QuickJS compiled to WebAssembly, in a few worker threads. The code has no network, no files, no host
 * objects and no module but itself; only JSON text goes in and out. After a run the whole memory of the engine is set back, so that every run
 * begins in the same realm, with random numbers of its own. A thread starts with the first run that needs it, and is replaced after a run that
 * came to a limit, broke the engine or made its memory grow.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 */
export function openBotSandbox(options: BotSandboxOptions = {}): BotRuntime {
  checkOptions('openBotSandbox', SHAPE, options)
  const concurrency = options.workers ?? Math.min(availableParallelism(), MOST_WORKERS)
  const free: Promise<PooledWorker>[] = []
  const waiting: ((worker: Promise<PooledWorker>) => void)[] = []
  let started = 0
  let isClosed = false
  const acquire = (): Promise<PooledWorker> => {
    const idle = free.pop()
    if (idle !== undefined) return idle
    if (started === concurrency) return new Promise((resolve) => waiting.push(resolve))
    started += 1
    return startWorker()
  }
  const release = (worker: Promise<PooledWorker>) => {
    const next = waiting.shift()
    if (next === undefined) free.push(worker)
    else next(worker)
  }
  return {
    concurrency,
    async run(task) {
      if (isClosed) throw new OperationError('unavailable', 'The runtime of bots is closed.')
      const acquired = acquire()
      try {
        return await runOn(await acquired, task)
      } finally {
        release(acquired.then(aliveOrNew, startWorker))
      }
    },
    async close() {
      isClosed = true
      await Promise.all(free.splice(0).map(async (worker) => (await worker).close()))
    },
  }
}

async function runOn(worker: PooledWorker, task: BotTask): Promise<unknown> {
  const { outcome, log } = await worker.run(task)
  for (const { level, text } of log) task.log(level, text)
  if ('head' in outcome) return readAnswer(outcome)
  const { code, message, diagnostics } = outcome
  throw new OperationError(code, message, diagnostics === undefined ? {} : { diagnostics })
}

function aliveOrNew(worker: PooledWorker): PooledWorker | Promise<PooledWorker> {
  return worker.isAlive() ? worker : startWorker()
}
