import { startThread, type Thread } from '../thread.js'
import type { Prepared } from './prepare.js'
import type { Source } from './sources.js'

/** Threads that make write entries, so that the calling one is left to read and the storage to write. */
export interface IndexingThreads {
  prepare(sources: readonly Source[]): Promise<Prepared>
  close(): Promise<void>
}

/** What the threads index by. */
export interface IndexingOptions {
  /** Whether words are indexed, too. */
  readonly words: boolean
}

/** @param count At least 1. */
export function indexingThreads(count: number, options: IndexingOptions): IndexingThreads {
  const threads = Array.from({ length: count }, (): Thread<readonly Source[], Prepared> => startThread('load/indexing-thread', options))
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
