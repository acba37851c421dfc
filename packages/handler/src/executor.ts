import { createLimiter } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'

/** Bounds on the jobs at one time. */
export interface ExecutorLimits {
  readonly concurrency: number
  readonly queue: number
  readonly closeMs: number
}

/** What a request is to do. */
export interface Job<T> {
  /** @param signal Aborted when the caller has gone, when time is up, and when the handler is closed. */
  readonly run: (signal: AbortSignal) => Promise<T>
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined
  /** After this long the job is given up; no limit when absent. */
  readonly timeoutMs?: number | undefined
}

/** Runs the jobs of requests: so many at the same time, so many waiting, each within its time. */
export interface Executor {
  /** @throws {OperationError} `throttled`, `unavailable` after `close`, `storage-timeout`, `aborted`; and what the job throws. */
  run<T>(job: Job<T>): Promise<T>
  /** Refuses new work, waits for what is under way, cancels what takes longer than `closeMs`. */
  close(): Promise<void>
  /** True once `close` was called. */
  isClosed(): boolean
}

/** Makes the executor of a handler. */
export function createExecutor(limits: ExecutorLimits): Executor {
  const limiter = createLimiter({ ...limits, refusal: 'Too many requests at the same time.' })
  const cancels = new Set<() => void>()
  let closed = false
  return {
    async run(job) {
      if (closed) throw new OperationError('unavailable', 'The server is shutting down.', { retryAfterSeconds: 5 })
      return limiter.run(() => supervised(job, cancels), job.signal)
    },
    async close() {
      closed = true
      const timer = setTimeout(() => cancels.forEach((cancel) => cancel()), limits.closeMs)
      await limiter.idle()
      clearTimeout(timer)
    },
    isClosed: () => closed,
  }
}

/** Runs the job until it ends, its caller goes, its time is up, or it is cancelled; in all but the first, its signal is aborted. */
async function supervised<T>({ run, signal, timeoutMs }: Job<T>, cancels: Set<() => void>): Promise<T> {
  if (signal?.aborted === true) throw cancelled()
  const controller = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const giveUp = (error: OperationError): void => {
    reject(error)
    controller.abort()
  }
  const cancel = (): void => giveUp(cancelled())
  const outOfTime = (): void => giveUp(new OperationError('storage-timeout', 'The operation did not end within its time limit.'))
  const timer = timeoutMs === undefined ? undefined : setTimeout(outOfTime, timeoutMs)
  signal?.addEventListener('abort', cancel)
  cancels.add(cancel)
  try {
    run(controller.signal).then(resolve, reject)
    return await promise
  } finally {
    clearTimeout(timer)
    cancels.delete(cancel)
    signal?.removeEventListener('abort', cancel)
  }
}

function cancelled(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}
