/** A clock that stands still until a test changes it. */
export interface TestClock {
  /** Returns the current time of the clock; pass it wherever a `now` is accepted. */
  readonly now: () => Date
  /** Sets the time, also backwards. @throws {TypeError} for an invalid time. */
  set(time: Date | string): void
  /** Advances the time by milliseconds. @throws {TypeError} unless the number is finite. */
  advance(milliseconds: number): void
}

/** Creates a clock that stands at `start`. @throws {TypeError} for an invalid time. */
export function testClock(start: Date | string): TestClock {
  let time = timeOf('testClock', start)
  return {
    now: () => new Date(time),
    set: (next) => {
      time = timeOf('set', next)
    },
    advance: (milliseconds) => {
      if (!Number.isFinite(milliseconds)) throw new TypeError('advance: the milliseconds must be a finite number.')
      time += milliseconds
    },
  }
}

function timeOf(caller: string, given: Date | string): number {
  const time = new Date(given).getTime()
  if (Number.isNaN(time))
    throw new TypeError(`${caller}: ${String(given)} is not a time. Use a Date or a text such as 2026-01-31T12:00:00Z.`)
  return time
}

/**
 * Creates a generator of ids: `00000000-0000-4000-8000-000000000001`, then `...2` and so on. The ids have the form of random UUIDs, are ascending, and are
 * the same in each run.
 */
export function testIds(): () => string {
  let made = 0
  return () => {
    made += 1
    return `00000000-0000-4000-8000-${made.toString(16).padStart(12, '0')}`
  }
}
