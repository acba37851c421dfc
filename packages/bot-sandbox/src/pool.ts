import { OperationError } from 'fhir-ops/errors'
import type { BotTask } from 'fhir-ops/internal/execute'
import { aborted, type BotRun, type Ended, MOST_RUNS } from './given-runs.js'
import { grantsOf, writeEvent } from './wire.js'
import { notStarted, startWorker, type PooledWorker } from './pooled-worker.js'

/** The threads, and the runs that wait for them. */
export interface Pool {
  /** Number of runs that it accepts in addition to one per thread. */
  readonly ahead: number
  /** Executes a run. @throws {OperationError} `aborted`, `unavailable`, and `throttled` if it does not start within its time limit. */
  run(task: BotTask, how?: RunKind): Promise<Ended>
  /** Accepts no more runs, and ends waiting runs and idle threads; the other threads end after their current runs. */
  readonly close: () => Promise<void>
}

/** Whether the code is run or only compiled. */
type RunKind = 'run' | 'compile'

/** Interval of the check of time limits while there are runs. */
const LOOK_MS = 50

/** Creates the pool of a runtime. */
export function createPool(size: CrewSize): Pool {
  const line = createLine()
  let asked = 0
  let isClosed = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const serve = (): void => {
    line.add(crew.takeFromLate())
    line.serve((run) => crew.give(run))
    if (isClosed) void crew.closeIdle()
    else crew.share()
  }
  const crew = createCrew(size, {
    onRoom: serve,
    onLeft(unbegun) {
      line.add(unbegun)
      serve()
    },
  })
  /** Ends runs that have exceeded their time limit, also while they wait. */
  const look = (): void => {
    timer = undefined
    crew.checkTime()
    line.add(crew.takeFromLate())
    const now = performance.now()
    for (const run of line.take(({ askedAt, task }) => now - askedAt > task.limits.timeoutMs)) run.fail(throttled(run))
    serve()
    watch()
  }
  const watch = (): void => {
    if (!line.isEmpty() || crew.isBusy()) timer ??= setTimeout(look, LOOK_MS)
  }
  const abort = (run: BotRun): void => {
    if (line.take((one) => one === run).length > 0) run.fail(aborted())
    else crew.abort(run)
  }
  return {
    // With runs in advance, a thread continues before the host has seen the end of its run.
    ahead: size.usual * (MOST_RUNS - 1),
    async run(task, how = 'run') {
      if (isClosed) throw closed()
      if (task.signal?.aborted === true) throw aborted()
      const { promise, resolve, reject } = Promise.withResolvers<Ended>()
      const work = workOf(task, how)
      const run = { id: asked++, task, work, askedAt: performance.now(), end: resolve, fail: reject }
      const onAbort = (): void => abort(run)
      task.signal?.addEventListener('abort', onAbort)
      line.add([run])
      serve()
      watch()
      return promise.finally(() => task.signal?.removeEventListener('abort', onAbort))
    },
    async close() {
      isClosed = true
      for (const run of line.take(() => true)) run.fail(closed())
      await crew.closeIdle()
    },
  }
}

/** Runs that are not assigned to a thread, in the order of their requests. */
interface Line {
  isEmpty(): boolean
  add(runs: readonly BotRun[]): void
  take(is: (run: BotRun) => boolean): readonly BotRun[]
  /** Offers the first run, and so on until one is not accepted. */
  serve(give: (run: BotRun) => boolean): void
}

function createLine(): Line {
  let runs: readonly BotRun[] = []
  return {
    isEmpty: () => runs.length === 0,
    add(more) {
      if (runs.length === 0 && more.length < 2) runs = more
      else if (more.length > 0) runs = [...runs, ...more].toSorted((a, b) => a.id - b.id)
    },
    take(is) {
      const taken = runs.filter(is)
      if (taken.length > 0) runs = runs.filter((run) => !taken.includes(run))
      return taken
    },
    serve(give) {
      while (runs[0] !== undefined && give(runs[0])) runs = runs.slice(1)
    },
  }
}

function workOf(task: BotTask, how: RunKind): BotRun['work'] {
  const { code, capabilities, limits } = task
  return { code, isOnlyCompiled: how === 'compile', event: writeEvent(task), grants: grantsOf(capabilities), limits }
}

function closed(): OperationError {
  return new OperationError('unavailable', 'The runtime of bots is closed.')
}

function throttled({ task }: BotRun): OperationError {
  return new OperationError('throttled', 'Too many bots are running.', { retryAfterSeconds: Math.ceil(task.limits.timeoutMs / 1000) })
}

/** The threads of a runtime. */
interface Crew {
  /** Assigns the run to the thread that will reach it first, or fails it if there is none and none starts. False if no thread has room. */
  give(run: BotRun): boolean
  /** Takes the runs that late threads have not begun. */
  takeFromLate(): readonly BotRun[]
  /** Lets idle threads take over runs that others have not begun. */
  share(): void
  abort(run: BotRun): void
  /** Kills threads whose run is over its time limit. */
  checkTime(): void
  isBusy(): boolean
  closeIdle(): Promise<void>
}

/** Callbacks about the threads. */
interface CrewOwner {
  /** A thread has room. */
  readonly onRoom: () => void
  /** A thread has ended without beginning these runs. */
  readonly onLeft: (unbegun: readonly BotRun[]) => void
}

/** Number of threads. */
interface CrewSize {
  /** Maximum number of threads that share the short runs. More would only compete for the cores. */
  readonly usual: number
  /** Maximum number. Further threads start while some are held by their runs, and end when these are not. */
  readonly most: number
  /** Time without a run after which a thread ends. Default: a minute. */
  readonly idleMs?: number
}

/** A thread that takes longer than this for one run gets no more, and other threads take over the runs that it has not begun. */
const LATE_MS = 5
/**
 * Another thread starts when all that are in time have had runs for so long without a pause. One thread keeps up with most requests of short runs, and each
 * further one takes some 50 ms of processor time and 13 MB.
 */
const OCCUPIED_MS = 500
/** Interval of the search for superfluous and idle threads. */
const REST_MS = 5_000
const IDLE_MS = 60_000

/** Creates the crew of a runtime. Its threads start when there is something to run. */
export function createCrew({ usual, most, idleMs = IDLE_MS }: CrewSize, { onRoom, onLeft }: CrewOwner): Crew {
  const threads = new Set<PooledWorker>()
  const onGone = (thread: PooledWorker, unbegun: readonly BotRun[]): void => {
    threads.delete(thread)
    onLeft(unbegun)
  }
  /** `undefined` where the system has no more threads: those that run do the work. @throws {OperationError} `unavailable` if there is none. */
  const start = (): PooledWorker | undefined => {
    try {
      const thread = startWorker({ onEnd: onRoom, onGone })
      threads.add(thread)
      return thread
    } catch (cause) {
      if (threads.size > 0) return undefined
      throw notStarted(cause)
    }
  }
  const leastLoaded = (): PooledWorker | undefined => leastOf(threads, usual)
  const withRoom = (run: BotRun): PooledWorker | undefined => {
    const least = leastLoaded()
    if (least?.load() === 0) return least
    const isNeeded = least === undefined || least.occupiedMs() >= OCCUPIED_MS
    const further = isNeeded && threads.size < most && threads.size - heldIn(threads) < usual ? start() : undefined
    if (further !== undefined) return further
    return least !== undefined && least.load() < MOST_RUNS && !isLong(run) ? least : undefined
  }
  const dismissLater = dismissal(threads, { usual, idleMs })
  return {
    give(run) {
      try {
        const thread = withRoom(run)
        thread?.give(run)
        return thread !== undefined
      } catch (error) {
        if (!(error instanceof OperationError)) throw error
        run.fail(error)
        return true
      }
    },
    takeFromLate: () => takenFromLate(threads),
    share() {
      dismissLater()
      for (let idle = leastLoaded(); idle?.load() === 0; idle = leastLoaded()) {
        const busiest = mostLoaded(threads)
        const [run] = busiest !== undefined && busiest.load() > 1 ? busiest.takeBack(1) : []
        if (run === undefined) return
        idle.give(run)
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

/** Number of characters of an event from which on the run is not assigned in advance, because its event would be in memory twice meanwhile. */
const LONG_EVENT = 64 * 1024

function isLong({ work }: BotRun): boolean {
  return work.event.reduce((length, piece) => length + piece.length, 0) >= LONG_EVENT
}

/** Ends, after a while, threads that replaced late ones that are in time again, and threads that were idle for long: each has its own engine. */
function dismissal(threads: ReadonlySet<PooledWorker>, { usual, idleMs }: Required<Omit<CrewSize, 'most'>>): () => void {
  let isWaiting = false
  const look = (): void => {
    isWaiting = false
    const spare = [...threads].filter(isInTime).slice(usual)
    for (const thread of threads) if (thread.idleMs() >= idleMs || (thread.load() === 0 && spare.includes(thread))) void thread.close()
    later()
  }
  const later = (): void => {
    if (isWaiting || threads.size === 0) return
    isWaiting = true
    setTimeout(look, Math.min(REST_MS, idleMs)).unref()
  }
  return later
}

function isInTime(thread: PooledWorker): boolean {
  return thread.busyMs() < LATE_MS
}

/** Among the first threads that are in time, the one with the fewest runs. */
function leastOf(threads: Iterable<PooledWorker>, first: number): PooledWorker | undefined {
  let least: PooledWorker | undefined
  let left = first
  for (const thread of threads) {
    if (!isInTime(thread)) continue
    if (left === 0) break
    left--
    if (least === undefined || thread.load() < least.load()) least = thread
  }
  return least
}

function heldIn(threads: Iterable<PooledWorker>): number {
  let held = 0
  for (const thread of threads) if (thread.isHeld()) held++
  return held
}

function takenFromLate(threads: Iterable<PooledWorker>): readonly BotRun[] {
  const taken: BotRun[] = []
  for (const thread of threads) if (thread.load() > 1 && !isInTime(thread)) taken.push(...thread.takeBack(MOST_RUNS))
  return taken
}

function mostLoaded(threads: Iterable<PooledWorker>): PooledWorker | undefined {
  let most: PooledWorker | undefined
  for (const thread of threads) if (most === undefined || thread.load() >= most.load()) most = thread
  return most
}
