import { isSystem, SYSTEM, type TypeSpecifier } from '../elm/type-specifier.js'
import { decimalOf } from '../values/compare.js'
import { wholePart } from '../values/decimal.js'
import { intervalOf } from '../values/interval.js'
import { integer, long } from '../values/point.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { DAY, temporalOf } from '../values/temporal.js'
import { isCode, isInterval, isList, isQuantity, isTemporal, quantity, type Interval, type PointType, type Value } from '../values/value.js'

/**
 * A value that was read from FHIR as the type that a parameter declares: FHIR has one type for several of CQL, and nothing that tells a list of one from its
 * item. What the type does not fit stays as it is.
 */
export function asDeclared(value: Value, type: TypeSpecifier | undefined): Value {
  if (value === null || type === undefined) return value
  if (type.kind === 'list') return (isList(value) ? value : [value]).map((item) => asDeclared(item, type.element))
  if (type.kind === 'interval') return isInterval(value) ? intervalOfPoints(value, type.point) : value
  return type.kind === 'named' && type.namespace === SYSTEM ? (named(value, type.name) ?? value) : value
}

const POINT_TYPES: readonly PointType[] = ['Integer', 'Long', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time']

function intervalOfPoints(value: Interval, point: TypeSpecifier): Interval {
  const pointType = POINT_TYPES.find((name) => isSystem(point, name))
  if (pointType === undefined) return value
  return intervalOf({ ...value, low: asDeclared(value.low, point), high: asDeclared(value.high, point), pointType })
}

/** A value as one of CQL's own types; `undefined` where it is none. */
function named(value: Value, name: string): Value | undefined {
  switch (name) {
    case 'Integer':
      return integerOf(value)
    case 'Long':
      return longOf(value)
    case 'Decimal':
      return decimalOf(isQuantity(value) && value.unit === '1' ? value.value : value)
    case 'Quantity':
      return isQuantity(value) ? value : quantityOf(value)
    case 'Date':
      return isTemporal(value) ? dateOf(value) : undefined
    case 'DateTime':
      return isTemporal(value) && value.kind === 'date' ? temporalOf('dateTime', value.fields.slice(0, value.precision + 1)) : undefined
    case 'Time':
      return isTemporal(value) && value.kind === 'dateTime' ? temporalOf('time', value.fields.slice(DAY + 1, value.precision + 1)) : undefined
    case 'Concept':
      return isCode(value) ? { kind: 'concept', codes: [value], display: null } : undefined
    default:
      return undefined
  }
}

function integerOf(value: Value): Value | undefined {
  const amount = isQuantity(value) && value.unit === '1' ? value.value : undefined
  if (amount === undefined) return undefined
  const { whole, rest } = wholePart(amount)
  return rest === 0 ? (integer(Number(whole)) ?? undefined) : undefined
}

function longOf(value: Value): Value | undefined {
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'string' && /^[+-]?\d{1,19}$/.test(value)) return long(BigInt(value)) ?? undefined
  const whole = integerOf(value)
  return typeof whole === 'number' ? BigInt(whole) : undefined
}

function quantityOf(value: Value): Value | undefined {
  const amount = decimalOf(value)
  return amount === undefined ? undefined : quantity(amount)
}
