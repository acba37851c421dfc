import { OperationError } from '../errors/index.js'
import { writeInPieces, type JsonObject } from '../json/index.js'
import { LONG_TEXT, type StoredResource } from '../storage/index.js'
import type { Work } from '../work/index.js'

/** How long an operation may run before others do, in milliseconds. */
const STRETCH_MS = 8

/** How long an operation may run before its first turn while others wait for theirs. */
const CROWDED_STRETCH_MS = 1

/** The first part of an operation is not counted: most operations end within it, so that they cost the scheduler nothing. */
const UNCOUNTED_MS = 0.25

/** An operation that has used more time than this is long. */
const LONG_MS = 32

/** The timer of the platform, even where a test replaces timers later: a turn does not depend on the time, and would never come. */
const nextTask = setTimeout

/** One of this many turns goes to the operations that are not long yet, when there are any. */
const TURNS_OF_A_ROUND = 4

/** The thread time that an operation has used. All paces of a request share one record. */
export interface ThreadUse {
  /** Total. */
  usedMs: number
  /** Since other work could last run. */
  stretchMs: number
  turns: number
  /** Turns that it had as a long operation. */
  longTurns: number
  /** When the operation was last known to run or to wait for a turn, on the clock of `performance.now()`. */
  lastRan: number
  /** Position in the order of arrival; absent until it first waits for a turn. */
  place?: number
}

/** Creates the record of an operation that begins now. */
export function beginUse(): ThreadUse {
  return { usedMs: 0, stretchMs: 0, turns: 0, longTurns: 0, lastRan: performance.now() }
}

/** An operation that waits for its next turn. */
export interface Waiter {
  readonly use: ThreadUse
  readonly signal?: AbortSignal | undefined
  /** On the clock of `performance.now()`. Work without a deadline is never refused: others may wait for its result. */
  readonly deadline?: number | undefined
}

/**
 * Shares the thread among the long operations of a process. Each runs for about 8 ms, then other work runs. Among the waiting operations, the one that
 * arrived first continues, so that started operations finish; every fourth turn goes to those that have used little time. An operation that cannot finish
 * before its time limit is refused before it begins.
 */
export interface Scheduler {
  /** Records time that an operation has used. Returns false when it must wait for a turn: it has run for long or, before its first turn, others wait. */
  mayGoOn(use: ThreadUse, ms: number): boolean
  /**
   * Resolves when it is the operation's turn, or when its time limit has passed.
   *
   * @throws {OperationError} `throttled`, with the seconds after which to try again, when its time limit would pass before those ahead are done.
   */
  turn(waiter: Waiter): Promise<void>
}

interface Waiting extends Waiter {
  readonly resume: () => void
  readonly refuse: (error: OperationError) => void
}

/** Creates the scheduler of a process. */
export function createScheduler(): Scheduler {
  const waiting = new Set<Waiting>()
  const forecast = createForecast()
  let isArmed = false
  let turns = 0
  let arrivals = 0
  /** Time that operations have used before their first turn, since the last pass of the event loop. */
  let firstMs = 0
  // One timer for each turn: timers that are due together would run without a gap.
  const arm = (): void => {
    if (!isArmed) nextTask(serve)
    isArmed = true
  }
  const take = (one: Waiting): Waiting => {
    waiting.delete(one)
    return one
  }
  const serve = (): void => {
    isArmed = false
    firstMs = 0
    for (const one of waiting) if (isOver(one)) take(one).resume()
    const line = lineOf(waiting)
    for (const [one, error] of forecast.refusals(line)) take(one).refuse(error)
    const [first, second] = ++turns % TURNS_OF_A_ROUND === 0 ? [line.short, line.long] : [line.long, line.short]
    const next = first.find((one) => waiting.has(one)) ?? second.find((one) => waiting.has(one))
    if (next === undefined) return
    take(next)
    if (waiting.size > 0) arm()
    forecast.note(next)
    next.resume()
  }
  return {
    mayGoOn(use, ms) {
      use.usedMs += Math.min(ms, STRETCH_MS) // the rest was most likely spent waiting
      use.stretchMs += ms
      if (use.turns > 0) return use.stretchMs <= STRETCH_MS
      if (use.stretchMs <= UNCOUNTED_MS) return true
      firstMs += Math.min(ms, STRETCH_MS)
      arm()
      return use.stretchMs <= (waiting.size > 0 ? CROWDED_STRETCH_MS : STRETCH_MS) && firstMs <= STRETCH_MS
    },
    turn: (waiter) =>
      new Promise((resume, refuse) => {
        waiter.use.place ??= arrivals++
        waiting.add({ ...waiter, resume, refuse })
        arm()
      }),
  }
}

/** The waiting operations, each list in order of arrival. */
interface Line {
  readonly short: readonly Waiting[]
  readonly long: readonly Waiting[]
}

function lineOf(waiting: ReadonlySet<Waiting>): Line {
  const all = [...waiting].toSorted((a, b) => (a.use.place ?? 0) - (b.use.place ?? 0))
  return { short: all.filter((one) => !isLong(one)), long: all.filter(isLong) }
}

function isLong({ use }: Waiter): boolean {
  return use.usedMs > LONG_MS
}

/** True for an operation that will end as soon as it continues. */
function isOver({ signal, deadline }: Waiter): boolean {
  return signal?.aborted === true || (deadline !== undefined && performance.now() > deadline)
}

/** Tracks the recent cost of long operations, to tell which of the waiting ones cannot finish in time. */
interface Forecast {
  /** Operations that have not begun and cannot finish in time, each with its error. */
  refusals(line: Line): readonly (readonly [Waiting, OperationError])[]
  /** Records which operation has the turn. */
  note(waiter: Waiter): void
}

function createForecast(): Forecast {
  /** Total time of a long operation, as a moving average; 0 when unknown. */
  let typicalMs = 0
  let current: ThreadUse | undefined
  const noteEnd = ({ long }: Line): void => {
    // The long operation that had the last turn does not wait for another: it has ended.
    if (current === undefined || long.some(({ use }) => use === current)) return
    typicalMs = typicalMs === 0 ? current.usedMs : typicalMs * 0.75 + current.usedMs * 0.25
    current = undefined
  }
  return {
    refusals(line) {
      noteEnd(line)
      const isCrowded = line.long.length + line.short.length > 1
      if (!isCrowded) typicalMs = 0
      return lateOnes(line, Math.max(typicalMs, current?.usedMs ?? 0))
    },
    note(waiter) {
      if (!isLong(waiter)) return
      waiter.use.longTurns++
      current = waiter.use
    },
  }
}

/** Operations whose time limit would pass before those ahead of them are done, if each uses `eachMs` milliseconds in total. */
function lateOnes({ long, short }: Line, eachMs: number): readonly (readonly [Waiting, OperationError])[] {
  const now = performance.now()
  const late: [Waiting, OperationError][] = []
  const isLate = (one: Waiting, ms: number): boolean => {
    if (one.deadline === undefined || now + ms <= one.deadline) return false
    late.push([one, throttled(ms)])
    return true
  }
  let longMs = 0
  for (const one of long) {
    const restMs = Math.max(eachMs - one.use.usedMs, 0)
    if (one.use.longTurns > 0 || !isLate(one, longMs + restMs)) longMs += restMs
  }
  let shortMs = 0
  for (const one of short) {
    const restMs = Math.max(eachMs - one.use.usedMs, 0)
    if (one.use.turns === 0 && isLate(one, Math.min(shortMs * TURNS_OF_A_ROUND, shortMs + longMs))) continue
    shortMs += Math.min(restMs, LONG_MS)
    longMs += Math.max(restMs - LONG_MS, 0)
  }
  return late
}

function throttled(ms: number): OperationError {
  return new OperationError('throttled', 'Too many long operations at the same time.', {
    retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)),
  })
}

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
