import { add, divide, integer } from '../arithmetic.js'
import { compareValues, numberOf } from '../comparison.js'
import { decimal, decimalOf, type Decimal } from '../decimal.js'
import { NOTHING, isDecimal, isQuantity, isTemporal, systemTypeOf, toSystem, type Items, type SystemValue } from '../item.js'
import type { Scope } from '../code.js'
import { evaluationProblem } from '../problem.js'
import { integerArgument, itemsFunction, singleValue, valueFunction, truthFunction, type FunctionDefinition } from './definition.js'
import { compareQuantities } from '../quantity.js'
import { daysInMonth, HOUR, type Temporal } from '../temporal.js'

/** Functions on numbers and on collections of numbers. @see https://hl7.org/fhirpath/N1/#math */
export const MATH_FUNCTIONS: readonly FunctionDefinition[] = [
  valueFunction('abs', [0, 0], absolute),
  whole('ceiling', Math.ceil),
  whole('floor', Math.floor),
  whole('truncate', Math.trunc),
  real('exp', Math.exp),
  real('ln', Math.log),
  real('sqrt', Math.sqrt),
  valueFunction('log', [1, 1], (value, [base]) => {
    const root = numberOf(singleValue('log', base ?? NOTHING))
    return root === undefined ? undefined : finite(Math.log(numeric('log', value)) / Math.log(root))
  }),
  valueFunction('power', [1, 1], (value, [exponent]) => power(value, singleValue('power', exponent ?? NOTHING))),
  valueFunction('round', [0, 1], (value, [precision]) => {
    const places = integerArgument('round', precision) ?? 0
    if (places < 0) throw evaluationProblem('round() takes no negative precision')
    return typeof value === 'number' ? value : decimal(numeric('round', value), places)
  }),
  itemsFunction('sum', [0, 0], (input, _, scope) => total(input, scope)),
  itemsFunction('min', [0, 0], (input, _, scope) => extreme(input, -1, scope)),
  itemsFunction('max', [0, 0], (input, _, scope) => extreme(input, 1, scope)),
  itemsFunction('avg', [0, 0], (input, _, scope) => {
    const [sum] = total(input, scope)
    const whole = toSystem(sum)
    const mean = whole === undefined ? undefined : divide(whole, input.length)
    return mean === undefined ? NOTHING : [mean]
  }),
]

function whole(name: string, round: (value: number) => number): FunctionDefinition {
  return valueFunction(name, [0, 0], (value) => integer(round(numeric(name, value))))
}

function real(name: string, apply: (value: number) => number): FunctionDefinition {
  return valueFunction(name, [0, 0], (value) => finite(apply(numeric(name, value))))
}

function numeric(name: string, value: SystemValue): number {
  const number = numberOf(value)
  if (number === undefined) throw evaluationProblem(`${name}() applies to numbers, not to ${systemTypeOf(value)}`)
  return number
}

/** Returns a decimal; `undefined` for a result that is not a finite number. */
function finite(value: number): SystemValue | undefined {
  return Number.isFinite(value) ? decimalOf(value) : undefined
}

function absolute(value: SystemValue): SystemValue {
  if (isQuantity(value)) return { ...value, value: { ...value.value, value: Math.abs(value.value.value) } }
  if (isDecimal(value)) return { ...value, value: Math.abs(value.value) }
  return Math.abs(numeric('abs', value))
}

function power(value: SystemValue, exponent: SystemValue | undefined): SystemValue | undefined {
  if (exponent === undefined) return undefined
  const result = numeric('power', value) ** numeric('power', exponent)
  if (typeof value === 'number' && typeof exponent === 'number' && Number.isInteger(result)) return integer(result)
  return finite(result)
}

function total(items: Items, scope: Scope): Items {
  return folded(items, (left, right) => add(left, right, scope.run.context.host?.convertUnit))
}

/** Returns the least (-1) or greatest (1) value; empty if the order of values is unknown. */
function extreme(items: Items, sign: 1 | -1, scope: Scope): Items {
  return folded(items, (found, value) => {
    const order = compareValues(scope.run, value, found)
    return order === undefined ? undefined : order * sign > 0 ? value : found
  })
}

function folded(items: Items, step: (left: SystemValue, right: SystemValue) => SystemValue | undefined): Items {
  let result: SystemValue | undefined
  for (const item of items) {
    const value = toSystem(item)
    if (value === undefined) throw evaluationProblem('a structure has no sum, average or order')
    result = result === undefined ? value : step(result, value)
    if (result === undefined) return NOTHING
  }
  return result === undefined ? NOTHING : [result]
}

const DECIMAL_PLACES = 8
const MAX_DECIMAL_PLACES = 15

/** Functions on precision. @see https://hl7.org/fhirpath/#boundary-functions */
export const BOUNDARY_FUNCTIONS: readonly FunctionDefinition[] = [
  valueFunction('lowBoundary', [0, 1], (value, [precision]) => boundary(value, -1, integerArgument('lowBoundary', precision))),
  valueFunction('highBoundary', [0, 1], (value, [precision]) => boundary(value, 1, integerArgument('highBoundary', precision))),
  valueFunction('precision', [0, 0], precisionOf),
  truthFunction('comparable', [1, 1], (input, [other = NOTHING], { run }) => {
    const [left, right] = [singleValue('comparable', input), singleValue('comparable', other)]
    if (left === undefined || right === undefined) return undefined
    return isQuantity(left) && isQuantity(right) && compareQuantities(left, right, run.context.host?.convertUnit) !== undefined
  }),
]

type Side = -1 | 1

function boundary(value: SystemValue, side: Side, precision: number | undefined): SystemValue | undefined {
  if (typeof value === 'number') return decimalBoundary({ kind: 'decimal', value, places: 0 }, side, precision)
  if (isDecimal(value)) return decimalBoundary(value, side, precision)
  if (isTemporal(value)) return temporalBoundary(value, side, precision)
  if (!isQuantity(value)) return undefined
  const bound = decimalBoundary(value.value, side, precision)
  return bound === undefined ? undefined : { ...value, value: bound }
}

/** Returns the value plus or minus half a unit in its last place, with the wanted number of places. */
function decimalBoundary({ value, places }: Decimal, side: Side, precision: number | undefined): Decimal | undefined {
  const wanted = precision ?? DECIMAL_PLACES
  if (wanted < 0 || wanted > MAX_DECIMAL_PLACES) return undefined
  const bound = decimal(value + side * 0.5 * 10 ** -places, places + 1).value
  const scale = 10 ** wanted
  const scaled = decimal(bound * scale, 6).value
  return decimal((side < 0 ? Math.floor(scaled) : Math.ceil(scaled)) / scale, wanted)
}

/** Precision of a date or time in digits, by number of fields. */
const DATE_DIGITS: readonly number[] = [4, 6, 8, 10, 12, 17]
const TIME_DIGITS: readonly number[] = [2, 4, 9]
const SECONDS_LENGTH = { date: undefined, dateTime: 6, time: 3 } as const
/** Offsets of the outermost time zones, in minutes east of UTC. */
const WIDEST_EAST = 14 * 60
const WIDEST_WEST = -12 * 60

/** Fills missing fields with their least or greatest values, and a missing time zone with the outermost. */
function temporalBoundary(value: Temporal, side: Side, precision: number | undefined): Temporal | undefined {
  const digits = digitsOf(value)
  const length = precision === undefined ? digits.length : digits.indexOf(precision) + 1
  if (length < 1) return undefined
  const fields = filled(value, side).slice(0, length)
  const kept = { ...value, fields, fraction: length === SECONDS_LENGTH[value.kind] ? 3 : 0 }
  const hasOpenZone = value.kind === 'dateTime' && value.offset === undefined && length > HOUR
  return hasOpenZone ? { ...kept, offset: side < 0 ? WIDEST_EAST : WIDEST_WEST } : kept
}

function digitsOf({ kind }: Temporal): readonly number[] {
  if (kind === 'time') return TIME_DIGITS
  return kind === 'date' ? DATE_DIGITS.slice(0, HOUR) : DATE_DIGITS
}

function filled({ kind, fields }: Temporal, side: Side): number[] {
  const clock = side < 0 ? [0, 0, 0] : [23, 59, 59.999]
  if (kind === 'time') return clock.map((bound, i) => fieldOr(fields[i], bound, side))
  const [year = 1, month = side < 0 ? 1 : 12] = fields
  const day = fields[2] ?? (side < 0 ? 1 : daysInMonth(year, month))
  return [year, month, day, ...clock.map((bound, i) => fieldOr(fields[i + 3], bound, side))]
}

/** Returns a field, or the bound if it is missing. The milliseconds of a whole second count as missing. */
function fieldOr(field: number | undefined, bound: number, side: Side): number {
  if (field === undefined) return bound
  return side > 0 && !Number.isInteger(bound) && Number.isInteger(field) ? field + 0.999 : field
}

function precisionOf(value: SystemValue): number | undefined {
  if (typeof value === 'number') return 0
  if (isDecimal(value)) return value.places
  if (!isTemporal(value)) return undefined
  const digits = digitsOf(value)[value.fields.length - 1]
  const isSecond = value.fields.length === SECONDS_LENGTH[value.kind]
  return digits === undefined || !isSecond ? digits : digits - 3 + value.fraction
}
