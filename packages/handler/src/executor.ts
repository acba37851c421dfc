import { createLimiter } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { after, attemptTo, isPending, type Awaitable } from 'fhir-ops/internal/work'

/** Bounds on the jobs at one time. */
export interface ExecutorLimits {
  readonly concurrency: number
  readonly queue: number
  readonly closeMs: number
}

/** Who asks for a job, as far as it can be known whether they still wait for it. */
export interface JobCaller {
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined
  /** The same by a call, where that takes less; the function that is returned ends it. */
  onGone?(gone: () => void): () => void
}

/** What a request is to do. */
export interface Job<T> {
  /** @param signal Aborted when the caller has gone, when time is up, and when the handler is closed. */
  readonly run: (signal: AbortSignal) => Awaitable<T>
  readonly caller?: JobCaller
  /** Time after which the job is given up, approximately; no limit when absent. */
  readonly timeoutMs?: number | undefined
}

/** Runs the jobs of requests, with limits on how many run, how many wait, and for how long. */
export interface Executor {
  /** A job that waits for nothing is done when this returns. @throws {OperationError} `throttled`, `unavailable` after `close`, `storage-timeout`, `aborted`; and what the job throws. */
  run<T>(job: Job<T>): Awaitable<T>
  /** Refuses new work, waits for what is under way, cancels what takes longer than `closeMs`. */
  close(): Promise<void>
  /** True once `close` was called. */
  isClosed(): boolean
}

/** Makes the executor of a handler. */
export function createExecutor(limits: ExecutorLimits): Executor {
  const limiter = createLimiter({ ...limits, refusal: 'Too many requests at the same time.' })
  const watch = createWatch()
  let closed = false
  return {
    run(job) {
      if (closed) throw new OperationError('unavailable', 'The server is shutting down.', { retryAfterSeconds: 5 })
      return after(limiter.enter(job.caller), () =>
        attemptTo(
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

/** Runs the job until it ends, its caller goes, its time is up, or it is cancelled; in all but the first, its signal is aborted. */
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
  return attemptTo(begin, () => {
    watch.delete(watched)
    forget()
  })
}

/** Calls back when the caller goes, at once when that was before; the function that is returned ends it. */
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

/** A job that is under way. */
interface Watched {
  /** On the clock of `performance.now()`. */
  readonly until: number
  giveUp(error: OperationError): void
}

/** Ends jobs whose time is up. */
interface Watch {
  add(job: Watched): void
  delete(job: Watched): void
  /** Cancels all of them. */
  readonly endAll: () => void
}

const LOOK_MS = 50

/** Makes the watch of an executor: one timer for all jobs, since few live as long as it takes to set one. */
function createWatch(): Watch {
  const jobs = new Set<Watched>()
  let timer: ReturnType<typeof setTimeout> | undefined
  /** When the next look is due. Where the host drops timers together with the request that set them, it does not come. */
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
