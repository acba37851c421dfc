/** A clock that stands still until a test moves it. */
export interface TestClock {
  /** What it shows; pass it wherever a `now` is taken. */
  readonly now: () => Date
  /** Sets it, also back. @throws {TypeError} for what is not a time. */
  set(time: Date | string): void
  /** Moves it on by milliseconds. @throws {TypeError} for what is not a finite number. */
  advance(milliseconds: number): void
}

/** Makes a clock that shows `start`. @throws {TypeError} for what is not a time. */
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
 * Makes a source of ids: `00000000-0000-4000-8000-000000000001`, then `...2` and so on. They have the form of random UUIDs, are in order, and the same
 * in each run.
 */
export function testIds(): () => string {
  let made = 0
  return () => {
    made += 1
    return `00000000-0000-4000-8000-${made.toString(16).padStart(12, '0')}`
  }
}
