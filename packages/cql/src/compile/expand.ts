import type { ElmNode } from '../elm/node.js'
import { failedEvaluation } from '../problem.js'
import { compare, convertQuantity } from '../values/compare.js'
import {
  addDecimals,
  decimalOfInteger,
  decimalOfUnits,
  placesOf,
  subtractDecimals,
  truncateDecimal,
  type Decimal,
} from '../values/decimal.js'
import { closedInterval, endOf, isAtMost, overlaps, pointOrder, startOf, unionOf } from '../values/interval.js'
import { integer, long, neighbour } from '../values/point.js'
import { addDuration } from '../values/temporal-arithmetic.js'
import { PRECISIONS, precisionOf, withFields, type Temporal } from '../values/temporal.js'
import { sizeOf } from '../values/size.js'
import { durationUnit, type UnitConversion } from '../values/units.js'
import {
  isDecimal,
  isInterval,
  isList,
  isQuantity,
  isTemporal,
  quantity,
  type Interval,
  type Quantity,
  type Value,
} from '../values/value.js'
import type { Compiler, Evaluation, NodeCompilers } from './compiler.js'
import { partsAt, twoOperands } from './operators.js'

/** Operators on lists of intervals: `collapse` and `expand` (CQL reference, section 9). */
export const EXPANSION: NodeCompilers = {
  Collapse: (node, scope, compiler) => {
    const [list, per] = twoOperands(withStep(node), scope, compiler)
    return (evaluation) => {
      const intervals = list(evaluation)
      evaluation.spend(sizeOf(intervals) * COLLAPSE_STEPS)
      return isList(intervals) ? collapse(intervals.filter(isInterval), per(evaluation), compiler) : null
    }
  },
  Expand: (node, scope, compiler) => {
    const [source, per] = twoOperands(withStep(node), scope, compiler)
    return (evaluation) => {
      const [whole, step] = [source(evaluation), per(evaluation)]
      if (!isInterval(whole) && !isList(whole)) return null
      const bounded = (isInterval(whole) ? [whole] : whole.filter(isInterval)).filter(isBounded)
      const by = isQuantity(step) ? step : defaultStep(bounded)
      const expanded = (interval: Interval): ReturnType<typeof steps> => steps(interval, by, evaluation, compiler)
      if (isInterval(whole)) return bounded.flatMap(expanded).map(([low]) => low)
      evaluation.spend(sizeOf(whole) * COLLAPSE_STEPS)
      return collapse(bounded, null, compiler)
        .filter(isInterval)
        .flatMap(expanded)
        .map(([low, high]) => closedInterval(low, high))
    }
  },
}

/** Whether both bounds are known. Otherwise the interval has no list of points. */
function isBounded({ low, high }: Interval): boolean {
  return low !== null && high !== null
}

/** The node with a Null as its second operand, the step, if that is absent. */
function withStep(node: ElmNode): ElmNode {
  const operand = partsAt(node, 'operand')
  return operand.length === 1 ? { ...node, operand: [...operand, { type: 'Null' }] } : node
}

/** Merges intervals that overlap, meet, or are at most `per` apart, and orders the results. */
function collapse(intervals: readonly Interval[], per: Value, compiler: Compiler): readonly Value[] {
  const by = pointOrder(compiler.convert, undefined, compiler.offset)
  const [unknown, known] = [intervals.filter((one) => startOf(one) === null), intervals.filter((one) => startOf(one) !== null)]
  const sorted = [...unknown, ...known.toSorted((a, b) => compare(startOf(a), startOf(b), compiler.convert) ?? 0)]
  const result: Interval[] = []
  for (const interval of sorted) {
    const last = result.at(-1)
    if (last === undefined || (overlaps(reach(last, per, compiler), interval, by) !== true && unionOf(last, interval, by) === null)) {
      result.push(interval)
      continue
    }
    const ends = isAtMost(endOf(interval), endOf(last), by) === true ? last : interval
    result[result.length - 1] = { ...last, high: ends.high, highClosed: ends.highClosed }
  }
  return result
}

/** The interval with its end moved by `per`, so that it overlaps intervals that begin within that distance. */
function reach(interval: Interval, per: Value, compiler: Compiler): Interval {
  const end = endOf(interval)
  if (!isQuantity(per) || end === null) return interval
  return { ...interval, high: moved(end, per, compiler.convert) ?? end, highClosed: true }
}

/** A point moved by an amount; `undefined` if not possible, such as a number and an amount with a unit. */
function moved(point: Value, by: Quantity, convert: UnitConversion): Value | undefined {
  if (isTemporal(point)) return addDuration(point, by.value, by.unit, 1)
  if (!isQuantity(point) && by.unit !== '1') return undefined
  const amount = isQuantity(point) ? convertQuantity(by, point.unit, convert) : by
  if (amount === undefined) return undefined
  if (isQuantity(point)) {
    const sum = addDecimals(point.value, amount.value)
    return sum === undefined ? undefined : quantity(sum, point.unit)
  }
  if (isDecimal(point)) return addDecimals(point, amount.value)
  const whole = Number(BigInt(amount.value.units) / 100_000_000n)
  if (typeof point === 'number') return integer(point + whole) ?? undefined
  return typeof point === 'bigint' ? (long(point + BigInt(whole)) ?? undefined) : undefined
}

/** Additional steps of merging an interval, compared with one comparison. */
const COLLAPSE_STEPS = 2

/** Steps of a point, relative to an Integer. */
const DECIMAL_STEPS = 2
const QUANTITY_STEPS = 5
const TEMPORAL_STEPS = 12

/** The first and last points of the parts of length `per` of an interval; a shorter rest is left out. */
function steps(
  interval: Interval,
  per: Quantity,
  evaluation: Evaluation,
  { convert, offset }: Compiler,
): readonly (readonly [Value, Value])[] {
  const [start, end] = [startOf(interval), endOf(interval)]
  if (start === null || end === null) return []
  const step = stepIn(start, per, convert)
  const fitted = step === undefined ? undefined : fitPoints(start, end, step)
  if (step === undefined || fitted === undefined) return []
  const by = pointOrder(convert, undefined, offset)
  const result: (readonly [Value, Value])[] = []
  const perPoint = isTemporal(fitted.start)
    ? TEMPORAL_STEPS
    : isQuantity(fitted.start)
      ? QUANTITY_STEPS
      : isDecimal(fitted.start)
        ? DECIMAL_STEPS
        : 1
  let low: Value = fitted.start
  for (;;) {
    evaluation.spend(perPoint)
    const next: Value | undefined = moved(low, step, convert)
    if (next === undefined || compare(next, low, convert) !== 1) return result
    const high = beforeNext(next, fitted.gap)
    if (high === undefined || isAtMost(high, fitted.end, by) !== true) return result
    result.push([low, high])
    low = next
  }
}

/** The step in the unit of the points. */
function stepIn(start: Value, step: Quantity, convert: UnitConversion): Quantity | undefined {
  if (!isQuantity(start) || step.unit === start.unit) return step
  const converted = convertQuantity(step, start.unit, convert)
  return converted && quantity({ ...converted.value, places: placesOf(converted.value.units) }, start.unit)
}

function beforeNext(next: Value, step: Decimal | undefined): Value | undefined {
  if (step === undefined) return neighbour(next, -1)
  if (isDecimal(next)) return subtractDecimals(next, step)
  if (!isQuantity(next)) return undefined
  const value = subtractDecimals(next.value, step)
  return value === undefined ? undefined : quantity(value, next.unit)
}

interface FittedPoints {
  readonly start: Value
  readonly end: Value
  /** Distance of neighbouring points at the precision of the step; `undefined` for that of the type. */
  readonly gap: Decimal | undefined
}

/** Truncates the bounds to the precision of the step: dates to its unit, decimals to its places. `undefined` if the step is finer than a bound. */
function fitPoints(start: Value, end: Value, step: Quantity): FittedPoints | undefined {
  if (isTemporal(start) && isTemporal(end)) return fitDates(start, end, step)
  if (isWhole(start) && isWhole(end)) return placesOf(step.value.units) === 0 ? { start, end, gap: undefined } : fitWhole(start, end, step)
  const [low, high] = [amountOf(start), amountOf(end)]
  if (low === undefined || high === undefined) return undefined
  const places = step.value.places
  const spacing = decimalOfUnits(10 ** (8 - places), places)
  const [first, last] = [truncateDecimal(low, places), truncateDecimal(high, places)]
  if (first === undefined || last === undefined) return undefined
  const made = (value: Decimal): Value => (isQuantity(start) ? quantity(value, start.unit) : value)
  return { start: made(first), end: made(last), gap: spacing }
}

/** Whole numbers in steps that are finer: the points are decimals, up to the last one before the whole number after the end. */
function fitWhole(start: number | bigint, end: number | bigint, step: Quantity): FittedPoints | undefined {
  const places = placesOf(step.value.units)
  const gap = decimalOfUnits(10 ** (8 - places), places)
  const [first, after] = [start, BigInt(end) + 1n].map((whole) => decimalOfInteger(whole))
  if (first === undefined || after === undefined || gap === undefined) return undefined
  const last = subtractDecimals(after, gap)
  return last === undefined ? undefined : { start: { ...first, places }, end: last, gap }
}

function isWhole(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function amountOf(value: Value): Decimal | undefined {
  return isQuantity(value) ? value.value : isDecimal(value) ? value : undefined
}

function fitDates(start: Temporal, end: Temporal, step: Quantity): FittedPoints | undefined {
  const unit = durationUnit(step.unit)
  const precision = precisionOf(PRECISIONS.findIndex((name) => name === (unit === 'week' ? 'day' : unit)))
  if (precision === undefined || precision > start.precision || precision > end.precision) return undefined
  const [low, high] = [withFields(start, start.fields, precision), withFields(end, end.fields, precision)]
  return low === undefined || high === undefined ? undefined : { start: low, end: high, gap: undefined }
}

const ONE = decimalOfInteger(1)

/** One unit of the precision of the coarsest bound. Open bounds count as well. */
function defaultStep(intervals: readonly Interval[]): Quantity {
  const one: Decimal = ONE ?? { kind: 'decimal', units: 100_000_000, places: 0 }
  const bounds = intervals.flatMap(({ low, high }) => [low, high])
  const dates = bounds.filter(isTemporal)
  if (dates.length > 0) return quantity(one, PRECISIONS[Math.min(...dates.map(({ precision }) => precision))] ?? 'day')
  const amounts = bounds.flatMap((bound) => amountOf(bound) ?? [])
  if (amounts.length === 0) return quantity(one)
  const places = Math.min(...amounts.map((amount) => amount.places))
  return quantity({ kind: 'decimal', units: 10 ** (8 - places), places }, bounds.find(isQuantity)?.unit)
}

/** The distance between the bounds (`width`), or that plus one point (`size`). */
export function quantityWidth(interval: Interval, convert: UnitConversion, what: 'width' | 'size', node: ElmNode): Value {
  const [start, end] = [startOf(interval), endOf(interval)]
  if (start === null || end === null) return null
  if (isTemporal(start)) throw failedEvaluation(`${what} is not defined for intervals of dates and times.`, node)
  const last = what === 'size' ? neighbour(end, 1) : end
  return last === undefined ? null : distance(start, last, convert)
}

function distance(start: Value, end: Value, convert: UnitConversion): Value {
  if (typeof start === 'number' && typeof end === 'number') return integer(end - start)
  if (typeof start === 'bigint' && typeof end === 'bigint') return long(end - start)
  if (isDecimal(start) && isDecimal(end)) return subtractDecimals(end, start) ?? null
  if (!isQuantity(start) || !isQuantity(end)) return null
  const last = convertQuantity(end, start.unit, convert)
  const value = last === undefined ? undefined : subtractDecimals(last.value, start.value)
  return value === undefined ? null : quantity(value, start.unit)
}
