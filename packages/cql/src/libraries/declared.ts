import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { quoted } from 'fhir-ops/internal/errors'
import { isOfType } from '../compile/of-type.js'
import { textAt, type ElmNode } from '../elm/node.js'
import { isSystem, resultTypeOf, statedType, SYSTEM, type TupleElements, type TypeSpecifier } from '../elm/type-specifier.js'
import { decimalOf } from '../values/compare.js'
import { wholePart } from '../values/decimal.js'
import { intervalOf } from '../values/interval.js'
import { integer, long } from '../values/point.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { DAY, temporalOf } from '../values/temporal.js'
import {
  isCode,
  isInterval,
  isList,
  isQuantity,
  isTemporal,
  isTuple,
  quantity,
  type Interval,
  type PointType,
  type Tuple,
  type Value,
} from '../values/value.js'

/** The type that a parameter declares, of an interval that of its points: `Date`. */
export function parameterType(def: ElmNode): string | undefined {
  const type = statedType(def, 'parameter')
  const point = type?.kind === 'interval' ? type.point : type
  return point?.kind === 'named' ? point.name : undefined
}

/**
 * A value that was read from FHIR as the type that a parameter declares: FHIR has one type for several of CQL, and nothing that tells a list of one from its
 * item.
 *
 * @throws {OperationError} `parameter-value` for a value that is of another type.
 */
export function declaredValue(value: Value, def: ElmNode, model: TypeModel): Value {
  const type = statedType(def, 'parameter') ?? resultTypeOf(def)
  const declared = asDeclared(value, type, model)
  if (declared === null || type === undefined || !isOwnType(type) || isOfType(declared, type, model)) return declared
  const name = quoted(textAt(def, 'name') ?? '')
  throw new OperationError('parameter-value', `The value of the parameter ${name} is not of the type that the library declares.`, {
    expression: ['parameters'],
  })
}

/** What the type does not fit stays as it is. */
function asDeclared(value: Value, type: TypeSpecifier | undefined, model: TypeModel): Value {
  if (value === null || type === undefined) return value
  if (type.kind === 'list') return (isList(value) ? value : [value]).map((item) => asDeclared(item, type.element, model))
  if (type.kind === 'interval') return isInterval(value) ? intervalOfPoints(value, type.point, model) : value
  if (type.kind === 'tuple') return isTuple(value) ? tupleOf(value, type.elements, model) : value
  if (type.kind === 'choice') return chosen(value, type.choices, model)
  return type.kind === 'named' && type.namespace === SYSTEM ? (READINGS.get(type.name)?.(value) ?? value) : value
}

/** The value as it is where one of the types takes it so, else as the first that it can be read as. */
function chosen(value: Value, choices: readonly TypeSpecifier[], model: TypeModel): Value {
  const readings = [value, ...choices.map((choice) => asDeclared(value, choice, model))]
  return readings.find((reading) => choices.some((choice) => isOfType(reading, choice, model))) ?? value
}

/** Elements that are not given are null; those that are not declared stay, and are refused. */
function tupleOf({ elements: given }: Tuple, types: TupleElements, model: TypeModel): Tuple {
  const declared = types.map(([name, type]) => [name, asDeclared(given.get(name) ?? null, type, model)] as const)
  return { kind: 'tuple', elements: new Map([...given, ...declared]) }
}

/** Whether a type is made of CQL's own. */
function isOwnType(type: TypeSpecifier): boolean {
  if (type.kind === 'list') return isOwnType(type.element)
  if (type.kind === 'interval') return isOwnType(type.point)
  if (type.kind === 'tuple') return type.elements.every(([, element]) => isOwnType(element))
  if (type.kind === 'choice') return type.choices.every(isOwnType)
  return type.kind === 'named' && type.namespace === SYSTEM && (READINGS.has(type.name) || READ_AS_THEY_ARE.has(type.name))
}

/** Types of CQL of which FHIR has one, too. */
const READ_AS_THEY_ARE: ReadonlySet<string> = new Set(['Boolean', 'String', 'Code', 'Ratio'])

const POINT_TYPES: readonly PointType[] = ['Integer', 'Long', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time']

function intervalOfPoints(value: Interval, point: TypeSpecifier, model: TypeModel): Interval {
  const pointType = POINT_TYPES.find((name) => isSystem(point, name))
  if (pointType === undefined) return value
  return intervalOf({ ...value, low: asDeclared(value.low, point, model), high: asDeclared(value.high, point, model), pointType })
}

/** A value as one of CQL's own types; `undefined` where it is none. */
const READINGS: ReadonlyMap<string, (value: Value) => Value | undefined> = new Map([
  ['Integer', integerOf],
  ['Long', longOf],
  ['Decimal', (value) => decimalOf(isQuantity(value) && value.unit === '1' ? value.value : value)],
  ['Quantity', quantityOf],
  ['Date', (value) => (isTemporal(value) ? dateOf(value) : undefined)],
  ['DateTime', momentOf],
  ['Time', timeOf],
  ['Concept', (value) => (isCode(value) ? { kind: 'concept', codes: [value], display: null } : undefined)],
])

function momentOf(value: Value): Value | undefined {
  if (!isTemporal(value) || value.kind !== 'date') return undefined
  return temporalOf('dateTime', value.fields.slice(0, value.precision + 1))
}

function timeOf(value: Value): Value | undefined {
  if (!isTemporal(value) || value.kind !== 'dateTime') return undefined
  return temporalOf('time', value.fields.slice(DAY + 1, value.precision + 1))
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
  if (isQuantity(value)) return value
  const amount = decimalOf(value)
  return amount === undefined ? undefined : quantity(amount)
}
