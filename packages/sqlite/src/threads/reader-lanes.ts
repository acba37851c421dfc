import { LRUCache } from 'lru-cache'
import { OperationError } from 'fhir-ops/errors'
import { type WorkerTask, monotonicMs } from './write-group.js'
import { workerLane, type WorkerLane } from './worker-lane.js'

/** Time limits of searches. */
interface ReaderLimits {
  /** Turn on the quick thread, in milliseconds. Default 100. */
  readonly quickMs?: number
  /** Total time in milliseconds, including the time in the queue. */
  readonly timeoutMs: number
}

/**
 * The threads for reading: one for quick and one for slow searches, and one for scans, of which each page needs what the first one read. A search that
 * does not finish within its turn on the quick thread restarts on the slow one, after those already waiting there, with a turn ten times as long. For a
 * while, the same call starts directly on the slow thread, whose cache then has what it reads. Calls may also reject with `storage-timeout`.
 */
export function readerLanes(task: Omit<WorkerTask, 'role'>, { quickMs = 100, timeoutMs }: ReaderLimits): WorkerLane {
  const quick = workerLane({ ...task, role: 'reader' })
  const long = workerLane({ ...task, role: 'reader' }, { idleMs: SLOW_MS })
  const scans = workerLane({ ...task, role: 'reader' }, { idleMs: SLOW_MS })
  const underWay = new Set<Promise<unknown>>()
  const slow = new LRUCache<string, true>({
    max: MAX_SLOW,
    ttl: SLOW_MS,
    maxSize: MAX_SLOW_CHARACTERS,
    sizeCalculation: (_, key) => key.length,
  })
  const inTurns: WorkerLane['call'] = async (command, args) => {
    const until = monotonicMs() + timeoutMs
    if (command.lane === 'scan') return scans.call(command, args, { ms: timeoutMs, until })
    const key = JSON.stringify([command.name, args])
    let turn = slow.has(key) ? { lane: long, ms: longer(quickMs) } : { lane: quick, ms: quickMs }
    for (;;) {
      try {
        return await turn.lane.call(command, args, { ms: turn.ms, until })
      } catch (error) {
        if (!isTimeout(error) || monotonicMs() >= until) throw error
        slow.set(key, true)
        turn = { lane: long, ms: longer(turn.ms) }
      }
    }
  }
  return {
    async call(command, args) {
      const answer = inTurns(command, args)
      underWay.add(answer)
      try {
        return await answer
      } finally {
        underWay.delete(answer)
      }
    },
    async close() {
      await Promise.allSettled(underWay)
      await quick.close()
      await long.close()
      await scans.close()
    },
  }
}

/** Calls that recently ran on the slow thread, and how long they are remembered. When none is, the slow thread ends; that for scans ends after this time, too. */
const MAX_SLOW = 256
const MAX_SLOW_CHARACTERS = 1_000_000
const SLOW_MS = 60_000

function longer(ms: number): number {
  return 10 * ms + 100
}

function isTimeout(error: unknown): boolean {
  return error instanceof OperationError && error.code === 'storage-timeout'
}
