import type { BotRun } from './bot-run.js'
import { MOST_RUNS } from './given-runs.js'
import { startWorker, type PooledWorker } from './pooled-worker.js'

/** The threads of a runtime. */
export interface Crew {
  /** Gives the run to the thread that comes to it first. False when none has room. */
  give(run: BotRun): boolean
  /** What threads that are late have not begun. */
  takeFromLate(): readonly BotRun[]
  /** Lets threads that have nothing to do take over what others have not begun. */
  share(): void
  abort(run: BotRun): void
  /** Kills threads whose run is over its time limit. */
  checkTime(): void
  isBusy(): boolean
  closeIdle(): Promise<void>
}

/** Who hears of the threads. */
export interface CrewOwner {
  /** A thread has room. */
  readonly onRoom: () => void
  /** A thread is gone that has not begun these. */
  readonly onLeft: (unbegun: readonly BotRun[]) => void
}

/** How many threads there are. */
export interface CrewSize {
  /** So many share what is short. More would only take turns on the cores. */
  readonly usual: number
  /** Others start while some are held by what they run, and end when they are not. */
  readonly most: number
}

/** A thread that is longer than this at one run is given no more, and what it has not begun is for the others. */
const LATE_MS = 5
/** In place of one that is longer at one run another starts, which takes some 50 ms of processor time: the run loops, or waits for what it has called. */
const HELD_MS = 250
/** How often threads that are too many are looked for. */
const REST_MS = 5_000

/** Makes the crew of a runtime. Its threads start when there is something to run. */
export function createCrew({ usual, most }: CrewSize, { onRoom, onLeft }: CrewOwner): Crew {
  const threads = new Set<PooledWorker>()
  const start = (): PooledWorker => {
    const onGone = (thread: PooledWorker, unbegun: readonly BotRun[]): void => {
      threads.delete(thread)
      onLeft(unbegun)
    }
    const thread = startWorker({ onEnd: onRoom, onGone })
    threads.add(thread)
    return thread
  }
  const inTime = (): readonly PooledWorker[] => [...threads].filter((thread) => thread.busyMs() < LATE_MS)
  const withRoom = (): PooledWorker | undefined => {
    const [least] = inTime().slice(0, usual).toSorted(byLoad)
    if (least?.load() === 0) return least
    const held = [...threads].filter((thread) => thread.busyMs() >= HELD_MS).length
    if (threads.size - held < usual && threads.size < most) return start()
    return least !== undefined && least.load() < MOST_RUNS ? least : undefined
  }
  let isDismissing = false
  /** Ends, a while later, what was started in place of threads that are in time again: each has an engine of its own. */
  const dismissLater = (): void => {
    if (isDismissing || threads.size <= usual) return
    isDismissing = true
    setTimeout(() => {
      isDismissing = false
      for (const spare of inTime().slice(usual)) if (spare.load() === 0) void spare.close()
      dismissLater()
    }, REST_MS).unref()
  }
  return {
    give(run) {
      const thread = withRoom()
      thread?.give(run)
      return thread !== undefined
    },
    takeFromLate: () =>
      [...threads].flatMap((thread) => (thread.load() > 1 && thread.busyMs() >= LATE_MS ? thread.takeBack(MOST_RUNS) : [])),
    share() {
      dismissLater()
      for (const idle of inTime().slice(0, usual)) {
        const busiest = [...threads].toSorted(byLoad).at(-1)
        if (idle.load() > 0 || busiest === undefined || busiest.load() < 2) continue
        for (const run of busiest.takeBack(1)) idle.give(run)
      }
    },
    abort(run) {
      for (const thread of threads) thread.abort(run)
    },
    checkTime() {
      for (const thread of threads) thread.checkTime()
    },
    isBusy: () => [...threads].some((thread) => thread.load() > 0),
    async closeIdle() {
      await Promise.all([...threads].filter((thread) => thread.load() === 0).map((thread) => thread.close()))
    },
  }
}

function byLoad(a: PooledWorker, b: PooledWorker): number {
  return a.load() - b.load()
}
