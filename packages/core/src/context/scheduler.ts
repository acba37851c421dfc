import { OperationError } from '../errors/index.js'

/** How long an operation may run before others do, in milliseconds. */
const STRETCH_MS = 8

/** How long an operation may run before its first turn while others wait for theirs. */
const CROWDED_STRETCH_MS = 1

/** The first part of an operation is not counted: most operations end within it, so that they cost the scheduler nothing. */
const UNCOUNTED_MS = 0.25

/** An operation that has used more time than this is long. */
const LONG_MS = 32

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
    if (!isArmed) setTimeout(serve, 0)
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
