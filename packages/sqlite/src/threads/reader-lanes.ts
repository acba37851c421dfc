import { OperationError } from 'fhir-ops/errors'
import type { WorkerTask } from './worker-task.js'
import { workerLane, type WorkerLane } from './worker-lane.js'
import { monotonicMs } from './write-group.js'

/** How long searches may take. */
export interface ReaderLimits {
  /** Of the thread that others wait for. Default 100. */
  readonly quickMs?: number
  /** With the time that it waits for others. */
  readonly timeoutMs: number
}

/**
 * The threads that search: one for what is quick, so that nobody waits long for it, and one for what is not. What does not end there in
 * its turn starts over behind those that wait, with a turn that is ten times as long. Calls reject with `storage-timeout`, too.
 */
export function readerLanes(task: Omit<WorkerTask, 'role'>, { quickMs = 100, timeoutMs }: ReaderLimits): WorkerLane {
  const quick = workerLane({ ...task, role: 'reader' })
  const long = workerLane({ ...task, role: 'reader' })
  const underWay = new Set<Promise<unknown>>()
  const inTurns: WorkerLane['call'] = async (command, args) => {
    const until = monotonicMs() + timeoutMs
    for (let lane = quick, ms = quickMs; ; lane = long, ms = 10 * ms + 100) {
      try {
        return await lane.call(command, args, { ms, until })
      } catch (error) {
        if (!isTimeout(error) || monotonicMs() >= until) throw error
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
    },
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof OperationError && error.code === 'storage-timeout'
}
