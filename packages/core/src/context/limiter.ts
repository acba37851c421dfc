import { OperationError } from '../errors/index.js'

/** Bounds the number of tasks that run at the same time, and of those that wait. */
export interface Limiter {
  /**
   * Runs the task when a place is free, in the order of the calls.
   *
   * @throws {OperationError} as `enter`, and as the task.
   */
  run<T>(work: () => Promise<T>, caller?: WaitingCaller): Promise<T>
  /**
   * Takes a place, which `leave` frees. Returns a promise when the caller has to wait for it.
   *
   * @throws {OperationError} `throttled` when too many wait already or no place becomes free in time, `aborted` when the caller has disconnected.
   */
  enter(caller?: WaitingCaller): Promise<void> | undefined
  leave(): void
  /** Resolves when nothing runs. */
  idle(): Promise<void>
}

/** A caller whose aborted signal ends the wait. The signal is read only when the caller has to wait. */
interface WaitingCaller {
  readonly signal?: AbortSignal | undefined
}

/** Bounds of a limiter. */
export interface LimiterOptions {
  /** Maximum number of tasks that run at the same time. */
  readonly concurrency: number
  /** Maximum number of waiting tasks; further ones are refused. */
  readonly queue: number
  /** Maximum wait in milliseconds. No limit when absent. */
  readonly waitMs?: number | undefined
  /** Error message for a refused caller. */
  readonly refusal: string
}

/** Creates a limiter. */
export function createLimiter({ concurrency, queue, waitMs, refusal }: LimiterOptions): Limiter {
  let running = 0
  const waiting = new Set<() => void>()
  const idlers: (() => void)[] = []
  const throttled = (): OperationError =>
    new OperationError('throttled', refusal, { retryAfterSeconds: Math.max(1, Math.ceil((waitMs ?? 0) / 1000)) })
  const room = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) throw aborted()
      const settle = (end: () => void) => () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        waiting.delete(onRoom)
        end()
      }
      const onRoom = settle(resolve)
      const onAbort = settle(() => reject(aborted()))
      const timer =
        waitMs === undefined
          ? undefined
          : setTimeout(
              settle(() => reject(throttled())),
              waitMs,
            )
      signal?.addEventListener('abort', onAbort)
      waiting.add(onRoom)
    })
  const leave = (): void => {
    const [next] = waiting
    if (next !== undefined) return next()
    running--
    if (running === 0) for (const idler of idlers.splice(0)) idler()
  }
  const enter = (caller?: WaitingCaller): Promise<void> | undefined => {
    if (running >= concurrency && waiting.size >= queue) throw throttled()
    if (running >= concurrency) return room(caller?.signal)
    running++
    return undefined
  }
  return {
    enter,
    leave,
    async run(work, caller) {
      await enter(caller)
      try {
        return await work()
      } finally {
        leave()
      }
    },
    async idle() {
      if (running > 0) await new Promise<void>((resolve) => idlers.push(resolve))
    },
  }
}

function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

/** Runs tasks that share a key one after the other, in the order of the calls. */
export type KeyedLock = <T>(keys: readonly string[], work: () => Promise<T>) => Promise<T>

/** Creates a keyed lock. A task takes all its keys together, so that no two tasks wait for each other. */
export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<void>>()
  return (keys, work) => {
    const before = Promise.all(keys.map((key) => last.get(key) ?? Promise.resolve()))
    const done = before.then(work)
    const end = done.then(ignored, ignored)
    for (const key of keys) last.set(key, end)
    void end.then(() => {
      for (const key of keys) if (last.get(key) === end) last.delete(key)
    })
    return done
  }
}

function ignored(): void {}
