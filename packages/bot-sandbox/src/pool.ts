import { OperationError } from 'fhir-ops/errors'
import type { BotTask } from 'fhir-ops/internal/execute'
import { aborted, type BotRun, type Ended } from './bot-run.js'
import { createCrew, type CrewSize } from './crew.js'
import { MOST_RUNS } from './given-runs.js'
import { grantsOf, writeEvent } from './wire.js'

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
