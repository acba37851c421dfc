import { OperationError } from 'fhir-ops/errors'
import type { BotRuntime, BotTask } from 'fhir-ops/execute'
import { startWorker, type PooledWorker } from './pooled-worker.js'
import { readAnswer } from './wire.js'

/** What `botSandbox` takes. */
export interface BotSandboxOptions {
  /** Threads, each of which runs one bot at a time. Default 8; on Linux they yield to the other threads of the process. */
  readonly workers?: number
}

const DEFAULT_WORKERS = 8

/**
 * A runtime for stored bots: JavaScript in QuickJS compiled to WebAssembly, a fresh realm for each run, in a few worker threads. The code
 * has no network, no files, no host objects and no module but itself; only JSON text goes in and out. A thread starts with the first
 * run that needs it, and is replaced at once when it dies.
 */
export function botSandbox(options: BotSandboxOptions = {}): BotRuntime {
  const concurrency = options.workers ?? DEFAULT_WORKERS
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
