import { OperationError } from '../errors/index.js'
import { writeInPieces, type JsonObject } from '../json/index.js'
import { LONG_TEXT, type StoredResource } from '../storage/index.js'
import type { Work } from '../work/index.js'
import { beginUse, type Scheduler, type ThreadUse } from './scheduler.js'

/** Maximum number of steps between two reads of the clock. */
const MAX_STEPS = 16

/** An operation that has not run for this long waits for something else: no stretch of work is that long. */
const WAITING_MS = 100

/** Lets other work run during long work, and ends it when the caller has disconnected or the time limit has passed. */
export interface Pace {
  /**
   * Counts a step of work, which should take less than a millisecond. Usually returns `undefined`, and the work continues; otherwise returns a promise
   * that lets other work run when awaited. `await pace.step()` handles both; where a step takes microseconds, await only a promise.
   *
   * @throws {OperationError} as `checkpoint`; the promise also rejects with `throttled` when too many long operations wait.
   */
  step(): Promise<void> | undefined
  /** Lets other work run. Call it before some milliseconds of work that many requests may begin together. @throws {OperationError} as `step`. */
  turn(): Promise<void>
  /** Runs work in steps while other work runs in between. @throws {OperationError} as `step`. */
  run<T>(work: Work<T>): Promise<T>
  /** Checks signal and deadline, for work that cannot wait. @throws {OperationError} as `checkpoint`. */
  check(): void
}

/** Options of `createPace`. */
export interface PaceOptions {
  readonly signal?: AbortSignal | undefined
  /** On the clock of `performance.now()`. */
  readonly deadline?: number | undefined
  /** Shared by all operations of a process, so that their work leaves gaps for other work. */
  readonly scheduler: Scheduler
  /** Thread time that the request has used so far; none when absent. */
  readonly threadUse?: ThreadUse | undefined
}

/** Creates the pace of an operation, or of a part of it. */
export function createPace(options: PaceOptions): Pace {
  const { signal, deadline, scheduler, threadUse: use = beginUse() } = options
  let lookedAt = performance.now()
  let steps = 0
  let stepsToLook = 1
  const look = (): boolean => {
    const now = performance.now()
    const ms = now - lookedAt
    lookedAt = now
    steps = 0
    if (ms < 0.25) stepsToLook = Math.min(stepsToLook * 2, MAX_STEPS)
    else if (ms > 1) stepsToLook = 1
    return scheduler.mayGoOn(use, ms)
  }
  const check = (): void => checkpoint({ signal, deadline, threadUse: use })
  const pause = async (): Promise<void> => {
    await scheduler.turn({ use, signal, deadline })
    lookedAt = performance.now()
    use.stretchMs = 0
    use.turns++
    use.lastRan = lookedAt
    check()
  }
  const step = (): Promise<void> | undefined => {
    if (++steps < stepsToLook) return undefined
    const mayGoOn = look()
    check()
    return mayGoOn ? undefined : pause()
  }
  return {
    step,
    turn: pause,
    async run(work) {
      // Its steps may take longer than those before it.
      stepsToLook = 1
      for (;;) {
        const next = work.next()
        if (next.done === true) return next.value
        const wait = step()
        if (wait !== undefined) await wait
      }
    },
    check,
  }
}

/**
 * Ends an operation whose caller has disconnected or whose time limit has passed.
 *
 * @throws {OperationError} `aborted`; `computation-timeout`, or `storage-timeout` if it was waiting, and not for its turn, when its time limit passed.
 */
export function checkpoint({ signal, deadline, threadUse }: Omit<PaceOptions, 'scheduler'>): void {
  if (signal?.aborted) throw new OperationError('aborted', 'The request was cancelled.')
  if (deadline === undefined) return
  const now = performance.now()
  if (now <= deadline) {
    if (threadUse !== undefined) threadUse.lastRan = now
    return
  }
  if (threadUse !== undefined && deadline - threadUse.lastRan > WAITING_MS) {
    throw new OperationError('storage-timeout', 'The operation waited for the storage until its time limit had passed.')
  }
  throw new OperationError('computation-timeout', 'The operation took longer than its time limit.')
}

/** Returns the parsed resource; other work runs while a long text is parsed. No time limit, because other requests may wait for the same result. */
export async function pacedResource(stored: StoredResource, scheduler: Scheduler): Promise<JsonObject> {
  if (stored.parsing === undefined || stored.text.length <= LONG_TEXT) return stored.resource
  return createPace({ scheduler }).run(stored.parsing())
}

/**
 * Returns the JSON text of an answer; other work runs while a long one is written.
 *
 * @throws {OperationError} as `Pace.step`.
 */
export function pacedText(ctx: PaceOptions, resource: JsonObject): Promise<string> | string {
  return paced(ctx, writeInPieces(resource))
}

/** Runs work in steps, as `Pace.run`. Most work is a single step, which runs immediately and needs no pace. @throws {OperationError} as `Pace.run` */
export function paced<T>(ctx: PaceOptions, work: Work<T>): Promise<T> | T {
  const first = work.next()
  return first.done === true ? first.value : createPace(ctx).run(work)
}
