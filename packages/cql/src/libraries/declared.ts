import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { quoted } from 'fhir-ops/internal/errors'
import { CONVERSIONS } from '../compile/conversions.js'
import { isOfType } from '../compile/of-type.js'
import { textAt, type ElmNode } from '../elm/node.js'
import { resultTypeOf, statedType, SYSTEM, type TupleElements, type TypeSpecifier } from '../elm/type-specifier.js'
import type { HelperContext } from '../model/fhir-helpers.js'
import { decimalOf } from '../values/compare.js'
import { wholePart } from '../values/decimal.js'
import { integer, long, pointTypeNamed } from '../values/point.js'
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
  type Tuple,
  type Value,
} from '../values/value.js'

/** The type that a parameter declares; for an interval, the type of its points: `Date`. */
export function parameterType(def: ElmNode): string | undefined {
  const type = statedType(def, 'parameter')
  const point = type?.kind === 'interval' ? type.point : type
  return point?.kind === 'named' ? point.name : undefined
}

/**
 * Converts a value that was read from FHIR to the type that a parameter declares: FHIR has one type for several types of CQL, and does not distinguish a
 * list of one item from the item.
 *
 * @throws {OperationError} `parameter-value` for a value of another type.
 */
export function declaredValue(value: Value, def: ElmNode, model: TypeModel): Value {
  const type = statedType(def, 'parameter') ?? resultTypeOf(def)
  const declared = asDeclared(value, type, { model, read: readingOf })
  if (declared === null || type === undefined || !isOwnType(type) || isOfType(declared, type, model)) return declared
  const name = quoted(textAt(def, 'name') ?? '')
  throw new OperationError('parameter-value', `The value of the parameter ${name} is not of the type that the library declares.`, {
    expression: ['parameters'],
  })
}

/**
 * Converts the result of a function of the host to the type that the function declares, as for parameters; also texts that CQL can convert (`'2024-05-01'`
 * to a Date, `"5.4 'mg'"` to a Quantity). `undefined` for a value of another type.
 */
export function resultAs(value: Value, type: TypeSpecifier | undefined, { model, offset }: HelperContext): Value | undefined {
  const read: Read = (name, given) =>
    typeof given === 'string' && OF_TEXTS.has(name) ? (CONVERSIONS[name]?.(given, offset) ?? undefined) : readingOf(name, given)
  const result = asDeclared(value, type, { model, read })
  return result === null || type === undefined || isOfType(result, type, model) ? result : undefined
}

/** Types that have no JavaScript values, and that CQL writes as texts. */
const OF_TEXTS: ReadonlySet<string> = new Set(['Long', 'Decimal', 'Date', 'DateTime', 'Time', 'Quantity', 'Ratio'])

/** Converts a value to a System type; `undefined` if that is not possible. */
type Read = (type: string, value: Value) => Value | undefined

interface Reading {
  readonly model: TypeModel
  readonly read: Read
}

/** Converts a value to a declared type. A value that does not fit stays as it is. */
function asDeclared(value: Value, type: TypeSpecifier | undefined, reading: Reading): Value {
  if (value === null || type === undefined) return value
  if (type.kind === 'list') return (isList(value) ? value : [value]).map((item) => asDeclared(item, type.element, reading))
  if (type.kind === 'interval') return isInterval(value) ? intervalOfPoints(value, type.point, reading) : value
  if (type.kind === 'tuple') return isTuple(value) ? tupleOf(value, type.elements, reading) : value
  if (type.kind === 'choice') return chosen(value, type.choices, reading)
  return type.kind === 'named' && type.namespace === SYSTEM ? (reading.read(type.name, value) ?? value) : value
}

/** The value itself if it is of one of the types; otherwise the first type to which it can be converted applies. */
function chosen(value: Value, choices: readonly TypeSpecifier[], reading: Reading): Value {
  const readings = [value, ...choices.map((choice) => asDeclared(value, choice, reading))]
  return readings.find((one) => choices.some((choice) => isOfType(one, choice, reading.model))) ?? value
}

/** Missing elements become null; elements that are not declared stay, and are refused later. */
function tupleOf({ elements: given }: Tuple, types: TupleElements, reading: Reading): Tuple {
  const declared = types.map(([name, type]) => [name, asDeclared(given.get(name) ?? null, type, reading)] as const)
  return { kind: 'tuple', elements: new Map([...given, ...declared]) }
}

/** Whether a type consists of CQL's own types. */
function isOwnType(type: TypeSpecifier): boolean {
  if (type.kind === 'list') return isOwnType(type.element)
  if (type.kind === 'interval') return isOwnType(type.point)
  if (type.kind === 'tuple') return type.elements.every(([, element]) => isOwnType(element))
  if (type.kind === 'choice') return type.choices.every(isOwnType)
  return type.kind === 'named' && type.namespace === SYSTEM && (READINGS.has(type.name) || READ_AS_THEY_ARE.has(type.name))
}

/** Types of CQL that FHIR also has. */
const READ_AS_THEY_ARE: ReadonlySet<string> = new Set(['Boolean', 'String', 'Code', 'Ratio'])

function intervalOfPoints(value: Interval, point: TypeSpecifier, reading: Reading): Interval {
  const pointType = point.kind === 'named' && point.namespace === SYSTEM ? pointTypeNamed(point.name) : undefined
  if (pointType === undefined) return value
  return { ...value, low: asDeclared(value.low, point, reading), high: asDeclared(value.high, point, reading), pointType }
}

function readingOf(type: string, value: Value): Value | undefined {
  return READINGS.get(type)?.(value)
}

/** Conversions of values to CQL's own types; `undefined` if not possible. */
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
