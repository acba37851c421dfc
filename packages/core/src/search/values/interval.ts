/** A span of numbers or of milliseconds since 1970. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** Open ends of times: the first and the last that `Date` knows. */
export const ALL_TIME: Interval = { low: -8_640_000_000_000_000, high: 8_640_000_000_000_000 }

/** Open ends of numbers. */
export const ALL_NUMBERS: Interval = { low: -Number.MAX_VALUE, high: Number.MAX_VALUE }

/** The smallest interval that holds both. */
export function hull(a: Interval, b: Interval): Interval {
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) }
}
