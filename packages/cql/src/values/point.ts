import { addDecimals, decimalOfUnits, MAX_PLACES, subtractDecimals, type Decimal } from './decimal.js'
import { addUnits } from './temporal-arithmetic.js'
import { PRECISIONS, temporalOf, type Precision, type Temporal } from './temporal.js'
import { isDecimal, isQuantity, isTemporal, quantity, type PointType, type Value } from './value.js'

/** The greatest System.Integer. */
export const MAX_INTEGER = 2_147_483_647
/** The least System.Integer. */
const MIN_INTEGER = -2_147_483_648
const MAX_LONG = 9_223_372_036_854_775_807n
const MIN_LONG = -9_223_372_036_854_775_808n
const MAX_UNITS = 10n ** 28n - 1n
const STEP: Decimal = { kind: 'decimal', units: 1, places: 8 }

/** An integer result, or null outside of 32 bits (CQL reference, arithmetic overflow). */
export function integer(value: number): number | null {
  return value >= MIN_INTEGER && value <= MAX_INTEGER ? value + 0 : null
}

/** A long result, or null outside of 64 bits. */
export function long(value: bigint): bigint | null {
  return value >= MIN_LONG && value <= MAX_LONG ? value : null
}

const POINT_TYPES: readonly PointType[] = ['Integer', 'Long', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time']

/** The point type with a name; `undefined` for names of other types. */
export function pointTypeNamed(name: unknown): PointType | undefined {
  return POINT_TYPES.find((type) => type === name)
}

/** The type of a value as a point of intervals; `undefined` for values that are not points. */
export function pointTypeOf(value: Value): PointType | undefined {
  if (typeof value === 'number') return 'Integer'
  if (typeof value === 'bigint') return 'Long'
  if (isDecimal(value)) return 'Decimal'
  if (isQuantity(value)) return 'Quantity'
  if (!isTemporal(value)) return undefined
  return value.kind === 'date' ? 'Date' : value.kind === 'dateTime' ? 'DateTime' : 'Time'
}

/** The least (`-1`) or greatest (`1`) value of a type; `undefined` if the type has none. @param like A quantity with the unit of the result. */
export function extreme(type: PointType | undefined, side: -1 | 1, like: Value = null): Value | undefined {
  switch (type) {
    case 'Integer':
      return side < 0 ? MIN_INTEGER : MAX_INTEGER
    case 'Long':
      return side < 0 ? MIN_LONG : MAX_LONG
    case 'Decimal':
      return extremeDecimal(side)
    case 'Quantity':
      return quantity(extremeDecimal(side), isQuantity(like) ? like.unit : '1')
    case 'Date':
      return side < 0 ? temporalOf('date', [1, 1, 1]) : temporalOf('date', [9999, 12, 31])
    case 'DateTime':
      return side < 0 ? temporalOf('dateTime', [1, 1, 1, 0, 0, 0, 0]) : temporalOf('dateTime', [9999, 12, 31, 23, 59, 59, 999])
    case 'Time':
      return side < 0 ? temporalOf('time', [0, 0, 0, 0]) : temporalOf('time', [23, 59, 59, 999])
    default:
      return undefined
  }
}

function extremeDecimal(side: -1 | 1): Decimal {
  return { kind: 'decimal', units: side < 0 ? -MAX_UNITS : MAX_UNITS, places: 8 }
}

/**
 * The next (`1`) or previous (`-1`) value of the type: by one step of 10^-8 for decimals and quantities, by one of its own precision for dates.
 *
 * @param precision If given, dates that are more precise move by one unit of it.
 * @returns `undefined` beyond the extreme of the type, and for values without neighbours.
 */
export function neighbour(value: Value, side: -1 | 1, precision?: Precision): Value | undefined {
  if (typeof value === 'number') return integer(value + side) ?? undefined
  if (typeof value === 'bigint') return long(value + BigInt(side)) ?? undefined
  if (isDecimal(value)) return neighbourOfDecimal(value, side)
  if (isQuantity(value)) {
    const amount = neighbourOfDecimal(value.value, side)
    return amount === undefined ? undefined : quantity(amount, value.unit)
  }
  return isTemporal(value) ? neighbourOfTemporal(value, side, precision) : undefined
}

function neighbourOfDecimal(value: Decimal, side: -1 | 1): Decimal | undefined {
  const next = side > 0 ? addDecimals(value, STEP) : subtractDecimals(value, STEP)
  return next === undefined ? undefined : decimalOfUnits(next.units, MAX_PLACES)
}

function neighbourOfTemporal(value: Temporal, side: -1 | 1, precision: Precision = value.precision): Temporal | undefined {
  const next = addUnits(value, side, PRECISIONS[precision < value.precision ? precision : value.precision])
  return next === undefined || next.low < value.low === side < 0 ? next : undefined
}
