import { compare, compareTemporals, isUncertain, less, lessOrEqual, type Order } from './compare.js'
import { extreme, neighbour, pointTypeOf } from './point.js'
import type { Precision } from './temporal.js'
import type { UnitConversion } from './units.js'
import { isInterval, isTemporal, type Interval, type PointType, type Value } from './value.js'

/** The parts of which an interval is created. */
export interface Bounds {
  readonly low: Value
  readonly high: Value
  readonly lowClosed: boolean
  readonly highClosed: boolean
  readonly pointType?: PointType | undefined
}

/** Creates an interval. Default of the point type: that of a bound. */
export function intervalOf({ low, high, lowClosed, highClosed, pointType }: Bounds): Interval {
  return { kind: 'interval', low, high, lowClosed, highClosed, pointType: pointType ?? pointTypeOf(low) ?? pointTypeOf(high) }
}

/** Creates a closed interval. */
export function closedInterval(low: Value, high: Value, pointType?: PointType): Interval {
  return intervalOf({ low, high, lowClosed: true, highClosed: true, pointType })
}

/** The first point of an interval: the least value of the type for a closed null bound, null if it is unknown. */
export function startOf({ low, high, lowClosed, pointType }: Interval): Value {
  if (low === null) return lowClosed ? (extreme(pointType, -1, high) ?? null) : null
  return lowClosed ? low : (neighbour(low, 1) ?? null)
}

/** The last point of an interval: the greatest value of the type for a closed null bound, null if it is unknown. */
export function endOf({ low, high, highClosed, pointType }: Interval): Value {
  if (high === null) return highClosed ? (extreme(pointType, 1, low) ?? null) : null
  return highClosed ? high : (neighbour(high, -1) ?? null)
}

/** How an operator compares points: completely, or down to a precision. */
export interface PointOrder {
  /** Returns -1, 0, 1, or null if unknown. */
  readonly order: (a: Value, b: Value) => Order
  readonly precision: Precision | undefined
  readonly convert: UnitConversion
}

/** Creates a comparison of points, down to `precision` if given. */
export function pointOrder(convert: UnitConversion, precision: Precision | undefined, offset: number): PointOrder {
  return {
    precision,
    convert,
    order: (a, b) =>
      precision !== undefined && isTemporal(a) && isTemporal(b) ? compareTemporals(a, b, precision, offset) : compare(a, b, convert),
  }
}

/** Three-valued `a < b`. */
export function isBefore(a: Value, b: Value, { order, convert }: PointOrder): boolean | null {
  if (isUncertain(a) || isUncertain(b)) return less(a, b, convert)
  const result = order(a, b)
  return result === null ? null : result < 0
}

/** Three-valued `a <= b`. */
export function isAtMost(a: Value, b: Value, { order, convert }: PointOrder): boolean | null {
  if (isUncertain(a) || isUncertain(b)) return lessOrEqual(a, b, convert)
  const result = order(a, b)
  return result === null ? null : result <= 0
}

/** Three-valued `a = b` of points. */
export function isSame(a: Value, b: Value, { order }: PointOrder): boolean | null {
  const result = order(a, b)
  return result === null ? null : result === 0
}

/** Three-valued `and`. */
export function both(a: boolean | null, b: boolean | null): boolean | null {
  if (a === false || b === false) return false
  return a === null || b === null ? null : true
}

/** Three-valued `or`. */
export function either(a: boolean | null, b: boolean | null): boolean | null {
  if (a === true || b === true) return true
  return a === null || b === null ? null : false
}

/** Three-valued `not`. */
export function negated(a: boolean | null): boolean | null {
  return a === null ? null : !a
}

/** Whether an interval begins at the point or before it; null if unknown. */
function beginsBy({ low, lowClosed }: Interval, point: Value, by: PointOrder): boolean | null {
  if (low === null) return lowClosed ? true : null
  return lowClosed ? isAtMost(low, point, by) : isBefore(low, point, by)
}

/** Whether an interval ends at the point or after it; null if unknown. */
function endsFrom({ high, highClosed }: Interval, point: Value, by: PointOrder): boolean | null {
  if (high === null) return highClosed ? true : null
  return highClosed ? isAtMost(point, high, by) : isBefore(point, high, by)
}

/** Whether the point is in the interval. The first and the last point are, even if the other one is unknown (CQL reference, Contains). */
export function pointIn(point: Value, interval: Interval, by: PointOrder): boolean | null {
  if (point === null) return null
  const between = both(beginsBy(interval, point, by), endsFrom(interval, point, by))
  if (between !== null) return between
  return isSame(point, startOf(interval), by) === true || isSame(point, endOf(interval), by) === true ? true : null
}

/** Whether the first interval has all points of the second. */
export function includes(a: Interval, b: Interval, by: PointOrder): boolean | null {
  return both(isAtMost(startOf(a), startOf(b), by), isAtMost(endOf(b), endOf(a), by))
}

/** Whether two intervals have a point in common. */
export function overlaps(a: Interval, b: Interval, by: PointOrder): boolean | null {
  return both(isAtMost(startOf(a), endOf(b), by), isAtMost(startOf(b), endOf(a), by))
}

/** Whether the second interval begins immediately after the end of the first; with a precision, at its next unit. */
export function meetsBefore(a: Interval, b: Interval, by: PointOrder): boolean | null {
  const [end, start] = [endOf(a), startOf(b)]
  if (end === null || start === null) return cannotPrecede(a, b, by) ? false : null
  const next = neighbour(end, 1, by.precision)
  return next === undefined ? false : isSame(next, start, by)
}

/** Whether the known bounds show that the first interval does not end before the second begins; an interval does not end before its own start. */
function cannotPrecede(a: Interval, b: Interval, by: PointOrder): boolean {
  const ofA = [startOf(a), endOf(a)]
  return [startOf(b), endOf(b)].some((bound) => ofA.some((own) => isAtMost(bound, own, by) === true))
}

/** The union of two intervals that overlap or meet; null for others. */
export function unionOf(a: Interval, b: Interval, by: PointOrder): Interval | null {
  const joined = either(overlaps(a, b, by), either(meetsBefore(a, b, by), meetsBefore(b, a, by)))
  if (joined !== true) return null
  const low = isAtMost(startOf(a), startOf(b), by) === true ? a : b
  const high = isAtMost(endOf(b), endOf(a), by) === true ? a : b
  return span(low, high, a.pointType ?? b.pointType)
}

/** The intersection of two intervals; null if it is empty or unknown. */
export function intersectionOf(a: Interval, b: Interval, by: PointOrder): Interval | null {
  if (overlaps(a, b, by) === false) return null
  const low = laterStart(a, b, by)
  const high = earlierEnd(a, b, by)
  return low === undefined || high === undefined ? null : span(low, high, a.pointType ?? b.pointType)
}

function laterStart(a: Interval, b: Interval, by: PointOrder): Interval | undefined {
  const [first, second] = [startOf(a), startOf(b)]
  if (first === null) return a
  if (second === null) return b
  const order = by.order(first, second)
  return order === null ? undefined : order >= 0 ? a : b
}

function earlierEnd(a: Interval, b: Interval, by: PointOrder): Interval | undefined {
  const [first, second] = [endOf(a), endOf(b)]
  if (first === null) return a
  if (second === null) return b
  const order = by.order(first, second)
  return order === null ? undefined : order <= 0 ? a : b
}

/** The part of the first interval that is not in the second, if that is one interval; null otherwise. */
export function differenceOf(a: Interval, b: Interval, by: PointOrder): Interval | null {
  const common = overlaps(a, b, by)
  if (common === null) return null
  if (!common) return a
  const startsBefore = isBefore(startOf(a), startOf(b), by)
  const endsAfter = isBefore(endOf(b), endOf(a), by)
  if (startsBefore === true && endsAfter === false) return intervalOf({ ...a, high: neighbour(startOf(b), -1) ?? null, highClosed: true })
  if (startsBefore === false && endsAfter === true) return intervalOf({ ...a, low: neighbour(endOf(b), 1) ?? null, lowClosed: true })
  return null
}

function span(low: Interval, high: Interval, pointType: PointType | undefined): Interval {
  return intervalOf({ low: low.low, lowClosed: low.lowClosed, high: high.high, highClosed: high.highClosed, pointType })
}

/** Whether the bounds are in order. Not true for `Interval[5, 3]`, `Interval[5, 5)`, and intervals that end before the first point of their type. */
export function isValidInterval(interval: Interval, convert: UnitConversion): boolean {
  const [start, end] = [startOf(interval), endOf(interval)]
  if ((start === null && interval.low !== null) || (end === null && interval.high !== null)) return false
  return start === null || end === null || less(end, start, convert) !== true
}

/** Converts a point to the interval that contains only it; returns an interval as it is. */
export function asInterval(value: Value): Interval | null {
  if (value === null) return null
  return isInterval(value) ? value : closedInterval(value, value)
}
