import { OperationError } from '../errors/index.js'
import { writeInPieces, type JsonObject } from '../json/index.js'
import { LONG_TEXT, type StoredResource } from '../storage/index.js'
import type { Work } from '../work/index.js'
import { beginUse, type Scheduler, type ThreadUse } from './scheduler.js'

/** Most steps between two looks at the clock. */
const MAX_STEPS = 16

/** Keeps long work polite: it ends when the caller has gone or time is up, and lets others run in between. */
export interface Pace {
  /**
   * Counts a step of work, which should take less than a millisecond. Mostly it returns `undefined`, and the work continues; otherwise it lets other
   * work run, and is to be awaited. `await pace.step()` does both; where a step takes microseconds, await only what is defined.
   *
   * @throws {OperationError} `aborted`, `computation-timeout`; and the promise `throttled`, when too many long operations wait.
   */
  step(): Promise<void> | undefined
  /** Lets other work run, before a stretch of some milliseconds that many may begin together. @throws {OperationError} as `step`. */
  turn(): Promise<void>
  /** Does the work of a leaf, other work in between. @throws {OperationError} as `step`. */
  run<T>(work: Work<T>): Promise<T>
  /** For work that cannot be awaited. @throws {OperationError} `aborted` or `computation-timeout`. */
  check(): void
}

/** What a pace watches over. */
export interface PaceOptions {
  readonly signal?: AbortSignal | undefined
  /** On the clock of `performance.now()`. */
  readonly deadline?: number | undefined
  /** Shared by all operations of a process, so that what they do does not follow each other without a gap. */
  readonly scheduler: Scheduler
  /** What the request has used so far; nothing when absent. */
  readonly threadUse?: ThreadUse | undefined
}

/** Makes the pace of one operation, or of a part of it. */
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
  const pause = async (): Promise<void> => {
    await scheduler.turn({ use, signal, deadline })
    lookedAt = performance.now()
    use.stretchMs = 0
    use.turns++
    checkpoint(options)
  }
  const step = (): Promise<void> | undefined => {
    if (++steps < stepsToLook) return undefined
    const mayGoOn = look()
    checkpoint(options)
    return mayGoOn ? undefined : pause()
  }
  return {
    step,
    turn: pause,
    async run(work) {
      for (;;) {
        const next = work.next()
        if (next.done === true) return next.value
        const wait = step()
        if (wait !== undefined) await wait
      }
    },
    check: () => checkpoint(options),
  }
}

/** Ends an operation whose caller has gone or whose time is up. @throws {OperationError} `aborted`, `computation-timeout`. */
export function checkpoint({ signal, deadline }: Pick<PaceOptions, 'signal' | 'deadline'>): void {
  if (signal?.aborted) throw new OperationError('aborted', 'The request was cancelled.')
  if (deadline !== undefined && performance.now() > deadline) {
    throw new OperationError('computation-timeout', 'The operation took longer than its time limit.')
  }
}

/** The parsed resource; a long text is parsed while other work runs in between. Others may wait for it, so it has no time limit. */
export async function pacedResource(stored: StoredResource, scheduler: Scheduler): Promise<JsonObject> {
  if (stored.parsing === undefined || stored.text.length <= LONG_TEXT) return stored.resource
  return createPace({ scheduler }).run(stored.parsing())
}

/**
 * The JSON text of an answer; a long one is written while other work runs in between.
 *
 * @throws {OperationError} as `Pace.step`.
 */
export function pacedText(ctx: PaceOptions, resource: JsonObject): Promise<string> | string {
  return paced(ctx, writeInPieces(resource))
}

/** Does the work of a leaf as `Pace.run` does. Most work is a single piece, which is done at once and needs no pace. @throws {OperationError} as `Pace.run` */
export function paced<T>(ctx: PaceOptions, work: Work<T>): Promise<T> | T {
  const first = work.next()
  return first.done === true ? first.value : createPace(ctx).run(work)
}
