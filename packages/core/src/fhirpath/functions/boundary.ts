import { decimal, type Decimal } from '../decimal.js'
import { isDecimal, isQuantity, isTemporal, NOTHING, type SystemValue } from '../item.js'
import { compareQuantities } from '../quantity.js'
import { daysInMonth, HOUR, type Temporal } from '../temporal.js'
import { integerArgument, singleValue, truthFunction, valueFunction, type FunctionDefinition } from './definition.js'

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
