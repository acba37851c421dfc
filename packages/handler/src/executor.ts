import { createLimiter } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { after, withFinally, isPending, type Awaitable } from 'fhir-ops/internal/work'

/** Limits on simultaneous jobs. */
interface ExecutorLimits {
  readonly concurrency: number
  readonly queue: number
  readonly closeMs: number
}

/** The caller of a job, if it can be detected that the caller has gone. */
interface JobCaller {
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined
  /** A cheaper alternative to the signal: calls back when the caller has gone. The returned function unregisters the callback. */
  onGone?(gone: () => void): () => void
}

/** The work of a request. */
export interface Job<T> {
  /** @param signal Aborted when the caller has gone, when time is up, and when the handler is closed. */
  readonly run: (signal: AbortSignal) => Awaitable<T>
  readonly caller?: JobCaller
  /** Time after which the job is abandoned, approximately; no limit if absent. */
  readonly timeoutMs?: number | undefined
}

/** Runs the jobs of requests; limits how many run, how many wait, and for how long. */
export interface Executor {
  /**
   * Runs a job; one that never waits has finished on return. @throws {OperationError} `throttled`, `unavailable` after `close`, `storage-timeout`,
   * `aborted`; and the job's own errors.
   */
  run<T>(job: Job<T>): Awaitable<T>
  /** Refuses new work, waits for running jobs, cancels those that take longer than `closeMs`. */
  close(): Promise<void>
  /** True after `close` was called. */
  isClosed(): boolean
}

/** Creates the executor of a handler. */
export function createExecutor(limits: ExecutorLimits): Executor {
  const limiter = createLimiter({ ...limits, refusal: 'Too many requests at the same time.' })
  const watch = createWatch()
  let closed = false
  return {
    run(job) {
      if (closed) throw new OperationError('unavailable', 'The server is shutting down.', { retryAfterSeconds: 5 })
      return after(limiter.enter(job.caller), () =>
        withFinally(
          () => supervised(job, watch),
          () => limiter.leave(),
        ),
      )
    },
    async close() {
      closed = true
      const timer = setTimeout(watch.endAll, limits.closeMs)
      await limiter.idle()
      clearTimeout(timer)
    },
    isClosed: () => closed,
  }
}

/** Runs the job until it ends, its caller goes, its time is up, or it is cancelled; in all cases but the first, its signal is aborted. */
function supervised<T>({ run, caller, timeoutMs = Infinity }: Job<T>, watch: Watch): Awaitable<T> {
  const controller = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const watched: Watched = {
    until: performance.now() + timeoutMs,
    giveUp(error) {
      reject(error)
      controller.abort()
    },
  }
  const forget = hearOfLeaving(caller, () => watched.giveUp(cancelled()))
  watch.add(watched)
  const begin = (): Awaitable<T> => {
    const result = controller.signal.aborted ? promise : run(controller.signal)
    if (!isPending(result)) return result
    result.then(resolve, reject)
    return promise
  }
  return withFinally(begin, () => {
    watch.delete(watched)
    forget()
  })
}

/** Calls `gone` when the caller goes, or immediately if the caller has already gone. The returned function unregisters the callback. */
function hearOfLeaving(caller: JobCaller | undefined, gone: () => void): () => void {
  if (caller?.onGone !== undefined) return caller.onGone(gone)
  const signal = caller?.signal
  if (signal?.aborted === true) gone()
  signal?.addEventListener('abort', gone)
  return () => signal?.removeEventListener('abort', gone)
}

function cancelled(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

/** A running job. */
interface Watched {
  /** As given by `performance.now()`. */
  readonly until: number
  giveUp(error: OperationError): void
}

/** Ends jobs when their time is up. */
interface Watch {
  add(job: Watched): void
  delete(job: Watched): void
  /** Cancels all jobs. */
  readonly endAll: () => void
}

const LOOK_MS = 50

/** Creates the watch of an executor. All jobs share a timer, because most jobs take less time than setting one. */
function createWatch(): Watch {
  const jobs = new Set<Watched>()
  let timer: ReturnType<typeof setTimeout> | undefined
  /** When the next check is due. It never happens if the host drops timers together with the request that set them. */
  let due = -Infinity
  const look = (): void => {
    const now = performance.now()
    due = -Infinity
    for (const job of jobs) if (now >= job.until) job.giveUp(outOfTime())
    if (jobs.size > 0) arm(now)
  }
  const arm = (now: number): void => {
    if (due > now - LOOK_MS) return
    due = now + LOOK_MS
    clearTimeout(timer)
    timer = setTimeout(look, LOOK_MS)
  }
  return {
    add(job) {
      jobs.add(job)
      if (job.until < Infinity) arm(performance.now())
    },
    delete: (job) => void jobs.delete(job),
    endAll: () => jobs.forEach((job) => job.giveUp(cancelled())),
  }
}

function outOfTime(): OperationError {
  return new OperationError('storage-timeout', 'The operation did not end within its time limit.')
}
