import { Worker } from 'node:worker_threads'
import type { Prepared } from './prepare.js'
import type { Source } from './sources.js'

/** Threads that make write entries, so that the calling one is left to read and the storage to write. */
export interface IndexingThreads {
  prepare(sources: readonly Source[]): Promise<Prepared>
  close(): Promise<void>
}

interface Thread {
  ask(sources: readonly Source[]): Promise<Prepared>
  end(): Promise<unknown>
}

/** What the threads index by. */
export interface IndexingOptions {
  /** Whether words are indexed, too. */
  readonly words: boolean
}

/** @param count At least 1. */
export function indexingThreads(count: number, options: IndexingOptions): IndexingThreads {
  const threads = Array.from({ length: count }, () => startThread(options))
  let turn = 0
  return {
    async prepare(sources) {
      const [thread] = threads.slice(turn++ % count)
      if (thread === undefined) throw new TypeError('There are no threads.')
      return thread.ask(sources)
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.end()))
    },
  }
}

function startThread(workerData: IndexingOptions): Thread {
  const worker = new Worker(workerFile(), { workerData, env: {}, execArgv: [] })
  /** In the order of sending, which is that of the answers. */
  const waiting: PromiseWithResolvers<Prepared>[] = []
  let failure: Error | undefined
  worker.on('message', (prepared: Prepared) => waiting.shift()?.resolve(prepared))
  worker.on('error', (error) => {
    failure = error
    for (const answer of waiting.splice(0)) answer.reject(error)
  })
  return {
    async ask(sources) {
      if (failure !== undefined) throw failure
      const answer = Promise.withResolvers<Prepared>()
      waiting.push(answer)
      worker.postMessage(sources)
      return answer.promise
    },
    end: async () => worker.terminate(),
  }
}

/** Beside the built program; tests run the sources, which use the built thread. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/load/indexing-thread.js' : './load/indexing-thread.js', import.meta.url)
}
