import type { BotRun } from './bot-run.js'
import { hasBegun, offerRun, takeRunBack, type Ticket } from './claims.js'

/** Most runs that a thread is given. */
export const MOST_RUNS = 5

/** A run that a thread has been given. */
export interface Given extends Ticket {
  readonly asked: BotRun
}

/** How busy a thread is. */
export interface Workload {
  /** How many runs it has been given and has not ended. */
  load(): number
  /** How long it has been at its first run, in milliseconds; 0 without one, and before it has started. */
  busyMs(): number
  /** How long it has had no run, in milliseconds; 0 with one. */
  idleMs(): number
}

/** The runs that a thread has been given and has not ended, in the order in which it does them. */
export interface GivenRuns {
  all(): readonly Given[]
  readonly workload: Workload
  /** The same as they were asked for. */
  asked(): readonly BotRun[]
  find(is: (run: Given) => boolean): Given | undefined
  /** Adds the run at the end, and offers it to the thread. */
  add(run: BotRun): Given
  remove(run: Given): void
  /** Removes the first runs that have not begun, at most `most`. */
  takeBack(most: number): readonly BotRun[]
  /** The thread has started. */
  start(): void
  isStarted(): boolean
  /** The first of them, when its code has run for longer than its time limit and that many milliseconds, or does not begin at all. */
  overdue(graceMs: number): Given | undefined
}

const MOST_NUMBER = 2 ** 31 - 1

/** What a thread needs before the code of a run begins, its engine, is there long before, however busy the machine is. */
const MOST_PREPARING_MS = 10_000

/** Makes the list of a thread. @param onEmpty Called when the last was removed. */
export function givenRuns(claims: Int32Array, onEmpty: () => void): GivenRuns {
  let runs: readonly Given[] = []
  let numbered = 0
  let begunAt = performance.now()
  let isStarted = false
  /** The run whose code is known to have begun, and since when. */
  let begun: { readonly run: Given; readonly since: number } | undefined
  const beginNow = (): void => void (begunAt = performance.now())
  const busyMs = (): number => (isStarted && runs.length > 0 ? performance.now() - begunAt : 0)
  const freeSlot = (): number => {
    for (let slot = 0; ; slot++) if (!runs.some((run) => run.slot === slot)) return slot
  }
  const remove = (run: Given): void => {
    if (runs[0] === run) beginNow()
    runs = runs.filter((one) => one !== run)
    if (runs.length === 0) onEmpty()
  }
  return {
    all: () => runs,
    workload: { load: () => runs.length, busyMs, idleMs: () => (runs.length === 0 ? performance.now() - begunAt : 0) },
    asked: () => runs.map(({ asked }) => asked),
    find: (is) => runs.find(is),
    add(asked) {
      if (runs.length === 0) beginNow()
      numbered = numbered === MOST_NUMBER ? 1 : numbered + 1
      const given = { run: numbered, slot: freeSlot(), asked }
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
      beginNow()
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
