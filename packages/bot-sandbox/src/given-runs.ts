import { hasBegun, offerRun, takeRunBack, type LogLine, type Outcome, type RunMessage, type Ticket } from './protocol.js'
import { OperationError } from 'fhir-ops/errors'
import type { BotTask } from 'fhir-ops/internal/execute'

/** How a run ended. */
export interface Ended {
  readonly outcome: Outcome
  readonly log: readonly LogLine[]
}

/** A requested run that has not ended. */
export interface BotRun {
  /** Greater for later runs. */
  readonly id: number
  readonly task: BotTask
  /** The data that a thread needs to run it. */
  readonly work: Pick<RunMessage, 'code' | 'event' | 'grants' | 'isOnlyCompiled' | 'limits'>
  /** Time of the request, by `performance.now()`. */
  readonly askedAt: number
  readonly end: (ended: Ended) => void
  readonly fail: (error: OperationError) => void
}

/** The error of a run that its caller cancelled. */
export function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

/** Maximum number of runs that a thread has at the same time. */
export const MOST_RUNS = 5

/** A run that was assigned to a thread. */
export interface Given extends Ticket {
  readonly asked: BotRun
}

/** How busy a thread is. */
export interface Workload {
  /** Number of its runs that have not ended. */
  load(): number
  /** Duration of its first run so far, in milliseconds; 0 without one, and before the thread has started. */
  busyMs(): number
  /** Time since it last had no run, in milliseconds; 0 without one, and before the thread has started. */
  occupiedMs(): number
  /** Time since its last run, in milliseconds; 0 if it has one. */
  idleMs(): number
}

/** The runs of a thread that have not ended, in the order of their execution. */
export interface GivenRuns {
  all(): readonly Given[]
  readonly workload: Workload
  /** The requests of all runs. */
  asked(): readonly BotRun[]
  find(is: (run: Given) => boolean): Given | undefined
  /** Adds the run at the end, and offers it to the thread. */
  add(run: BotRun): Given
  remove(run: Given): void
  /** Removes the first runs that have not begun, at most `most`. */
  takeBack(most: number): readonly BotRun[]
  /** Called when the thread has started. */
  start(): void
  isStarted(): boolean
  /** The first run, if its code has exceeded its time limit by more than `graceMs`, or has not begun for too long. */
  overdue(graceMs: number): Given | undefined
}

const MOST_NUMBER = 2 ** 31 - 1

/** Maximum time before the code of a run begins. The engine is ready long before, even on a busy machine. */
const MOST_PREPARING_MS = 10_000

/** Creates the list of a thread. @param onEmpty Called when the last run was removed. */
export function givenRuns(claims: Int32Array, onEmpty: () => void): GivenRuns {
  let runs: readonly Given[] = []
  let numbered = 0
  let begunAt = performance.now()
  let occupiedAt = begunAt
  let isStarted = false
  /** The run whose code is known to have begun, and the time of that. */
  let begun: { readonly run: Given; readonly since: number } | undefined
  const beginNow = (): void => void (begunAt = performance.now())
  const beginAnew = (): void => void (occupiedAt = begunAt = performance.now())
  const since = (moment: number): number => (isStarted && runs.length > 0 ? performance.now() - moment : 0)
  const busyMs = (): number => since(begunAt)
  const remove = (run: Given): void => {
    if (runs[0] === run) beginNow()
    runs = runs.filter((one) => one !== run)
    if (runs.length === 0) onEmpty()
  }
  return {
    all: () => runs,
    workload: {
      load: () => runs.length,
      busyMs,
      occupiedMs: () => since(occupiedAt),
      idleMs: () => (runs.length === 0 ? performance.now() - begunAt : 0),
    },
    asked: () => runs.map(({ asked }) => asked),
    find: (is) => runs.find(is),
    add(asked) {
      if (runs.length === 0) beginAnew()
      numbered = numbered === MOST_NUMBER ? 1 : numbered + 1
      const given = { run: numbered, slot: freeSlot(runs), asked }
      runs = [...runs, given]
      offerRun(claims, given)
      return given
    },
    remove,
    takeBack(most) {
      const taken: BotRun[] = []
      for (const run of runs) {
        if (taken.length === most || !takeRunBack(claims, run)) continue
        remove(run)
        taken.push(run.asked)
      }
      return taken
    },
    start() {
      isStarted = true
      beginAnew()
    },
    isStarted: () => isStarted,
    overdue(graceMs) {
      const [first] = runs
      if (first === undefined) return undefined
      if (begun?.run !== first) begun = hasBegun(claims, first) ? { run: first, since: performance.now() } : undefined
      const late = begun === undefined ? busyMs() - MOST_PREPARING_MS : performance.now() - begun.since - graceMs
      return late > first.asked.task.limits.timeoutMs ? first : undefined
    },
  }
}

function freeSlot(runs: readonly Given[]): number {
  for (let slot = 0; ; slot++) if (!runs.some((run) => run.slot === slot)) return slot
}
