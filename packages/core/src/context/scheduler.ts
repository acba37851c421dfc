import { OperationError } from '../errors/index.js'

/** How long an operation may run before others do, in milliseconds. */
const STRETCH_MS = 8

/** How long an operation may run before its first turn while others wait for theirs. */
const CROWDED_STRETCH_MS = 1

/** What an operation uses before this is not counted: most operations end within it, so that they cost the scheduler nothing. */
const UNCOUNTED_MS = 0.25

/** An operation that has used more than this is a long one. */
const LONG_MS = 32

/** One turn of this many goes to the operations that are not long yet, when there are any. */
const TURNS_OF_A_ROUND = 4

/** How much of the thread an operation has used. All paces of a request share one. */
export interface ThreadUse {
  /** In all. */
  usedMs: number
  /** Since others could last run. */
  stretchMs: number
  turns: number
  /** Those of its turns that it had as a long operation. */
  longTurns: number
  /** Its place in the order of arrival; absent until it first waits for a turn. */
  place?: number
}

/** Makes the record of an operation that begins now. */
export function beginUse(): ThreadUse {
  return { usedMs: 0, stretchMs: 0, turns: 0, longTurns: 0 }
}

/** An operation that waits for its next turn. */
export interface Waiter {
  readonly use: ThreadUse
  readonly signal?: AbortSignal | undefined
  /** On the clock of `performance.now()`. Work without one is never refused: others may wait for its result. */
  readonly deadline?: number | undefined
}

/**
 * Shares the thread among the long operations of a process. Each runs for about 8 ms, then other work does. Of those that wait, the one that came
 * first continues, so that what was started is finished; every fourth turn is for those that have used little. What cannot be done before its time
 * limit is refused before it begins.
 */
export interface Scheduler {
  /** Counts what an operation has used; false when it must wait for a turn, because it has run for long or, before its first turn, others wait. */
  mayGoOn(use: ThreadUse, ms: number): boolean
  /**
   * Resolves when it is the operation's turn, or when its time is up.
   *
   * @throws {OperationError} `throttled`, with the seconds after which to try again, when its time would be up before those ahead are done.
   */
  turn(waiter: Waiter): Promise<void>
}

interface Waiting extends Waiter {
  readonly resume: () => void
  readonly refuse: (error: OperationError) => void
}

/** Makes the scheduler of a process. */
export function createScheduler(): Scheduler {
  const waiting = new Set<Waiting>()
  const forecast = createForecast()
  let isArmed = false
  let turns = 0
  let arrivals = 0
  /** What operations have used before their first turn since the event loop last went on. */
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
      use.usedMs += Math.min(ms, STRETCH_MS) // the rest was spent waiting, most likely
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

/** The waiting operations, each list in the order in which they came. */
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

/** Knows what long operations have recently cost, and so which of those that wait cannot be done in time. */
interface Forecast {
  /** Of those that have not begun, with the reason. */
  refusals(line: Line): readonly (readonly [Waiting, OperationError])[]
  /** Notes who has the turn. */
  note(waiter: Waiter): void
}

function createForecast(): Forecast {
  /** What a long operation uses in all: a moving average; 0 when nothing is known. */
  let typicalMs = 0
  let current: ThreadUse | undefined
  const noteEnd = ({ long }: Line): void => {
    // The long operation that had the last turn wants no other: it has ended.
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

/** Those whose time limit would pass before those ahead of them are done, when each uses `eachMs` milliseconds in all. */
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
