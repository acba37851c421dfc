import { OperationError } from '../errors/index.js'

/** Bounds the number of tasks that run at the same time, or their total weight, and the number of those that wait. */
export interface Limiter {
  /**
   * Runs the task when a place is free, in the order of the calls.
   *
   * @throws {OperationError} as `enter`, and as the task.
   */
  run<T>(work: () => Promise<T>, caller?: WaitingCaller): Promise<T>
  /**
   * Takes places, which `leave` frees. Returns a promise when the caller has to wait for them.
   *
   * @param weight Number of places, at most `concurrency`. Default 1.
   * @throws {OperationError} `throttled` when too many wait already or no place becomes free in time, `aborted` when the caller has disconnected.
   */
  enter(caller?: WaitingCaller, weight?: number): Promise<void> | undefined
  leave(weight?: number): void
  /** Resolves when nothing runs. */
  idle(): Promise<void>
}

/** A caller whose aborted signal ends the wait. The signal is read only when the caller has to wait. */
interface WaitingCaller {
  readonly signal?: AbortSignal | undefined
}

/** Bounds of a limiter. */
export interface LimiterOptions {
  /** Maximum number of tasks that run at the same time, or of places that they take. */
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
  const waiting = new Set<Waiting>()
  const idlers: (() => void)[] = []
  const throttled = (): OperationError =>
    new OperationError('throttled', refusal, { retryAfterSeconds: Math.max(1, Math.ceil((waitMs ?? 0) / 1000)) })
  const isRoomFor = (weight: number): boolean => running + weight <= concurrency
  /** Lets those in that wait the longest, until one does not fit. */
  const admit = (): void => {
    for (const { weight, begin } of waiting) {
      if (!isRoomFor(weight)) return
      running += weight
      begin()
    }
  }
  const room = (caller: WaitingCaller | undefined, weight: number): Promise<void> =>
    begun({ signal: caller?.signal, waitMs, throttled }, (begin) => {
      const one: Waiting = { weight, begin }
      waiting.add(one)
      return () => {
        waiting.delete(one)
        admit()
      }
    })
  const leave = (weight = 1): void => {
    running -= weight
    admit()
    if (running === 0) for (const idler of idlers.splice(0)) idler()
  }
  const enter = (caller?: WaitingCaller, weight = 1): Promise<void> | undefined => {
    if (waiting.size === 0 && isRoomFor(weight)) {
      running += weight
      return undefined
    }
    if (waiting.size >= queue) throw throttled()
    return room(caller, weight)
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

/** A task that waits. */
interface Waiting {
  readonly weight: number
  readonly begin: () => void
}

/** What ends a wait before the task begins. */
interface WaitEnd extends Pick<LimiterOptions, 'waitMs'>, WaitingCaller {
  readonly throttled: () => OperationError
}

/**
 * Waits until the task may begin, at most `waitMs`.
 *
 * @param queue Adds the task, given a function that lets it begin; returns a function that is called when the wait has ended.
 */
function begun({ signal, waitMs, throttled }: WaitEnd, queue: (begin: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) throw aborted()
    const settle = (end: () => void) => () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      end()
      ended()
    }
    const onAbort = settle(() => reject(aborted()))
    const onTime = settle(() => reject(throttled()))
    const timer = waitMs === undefined ? undefined : setTimeout(onTime, waitMs)
    signal?.addEventListener('abort', onAbort)
    const ended = queue(settle(resolve))
  })
}

function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

/** Runs tasks that share a key one after the other, in the order of the calls. */
export type KeyedLock = <T>(keys: readonly string[], work: () => Promise<T>) => Promise<T>

/** Creates a keyed lock. A task takes all its keys together, so that no two tasks wait for each other. */
export function createKeyedLock(): KeyedLock {
  /** The end of the last task that holds a key or waits for it. */
  const held = new Map<string, Promise<void>>()
  return (keys, work) => {
    const done = Promise.all(keys.flatMap((key) => held.get(key) ?? [])).then(work)
    const end = done.then(ignored, ignored)
    for (const key of keys) held.set(key, end)
    void end.then(() => {
      for (const key of keys) if (held.get(key) === end) held.delete(key)
    })
    return done
  }
}

function ignored(): void {}
