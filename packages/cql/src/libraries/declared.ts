import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { TypeDefinition } from 'fhir-ops/internal/fhirpath'
import { quoted } from 'fhir-ops/internal/errors'
import { CONVERSIONS } from '../compile/conversions.js'
import { isOfType } from '../compile/of-type.js'
import { textAt, type ElmNode } from '../elm/node.js'
import { resultTypeOf, statedType, SYSTEM, type TupleElements, type TypeSpecifier } from '../elm/type-specifier.js'
import type { HelperContext } from '../model/fhir-helpers.js'
import { toParameterEntries } from '../results/parameters.js'
import { decimalOf } from '../values/compare.js'
import { wholePart } from '../values/decimal.js'
import { integer, long, pointTypeNamed } from '../values/point.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { DAY, temporalOf } from '../values/temporal.js'
import {
  isCode,
  isFhir,
  isInterval,
  isList,
  isQuantity,
  isTemporal,
  isTuple,
  quantity,
  type FhirElement,
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

/** A value of FHIR as it was given: `{ type: 'Period', json: { start: '2024' } }`, with the type as in the name of a `value[x]`. */
interface FhirForm {
  readonly type: string
  readonly json: unknown
}

const fhirForms = new WeakMap<object, FhirForm>()

/** Keeps the element of FHIR from which a value of CQL was read, for parameters that are declared with a type of FHIR: the value lacks some of its elements. */
export function keepFhirForm(value: object, form: FhirForm): void {
  fhirForms.set(value, form)
}

/**
 * Converts a value that was read from FHIR to the type that a parameter declares: FHIR has one type for several types of CQL, and does not distinguish a
 * list of one item from the item. For a type of FHIR it is the element that was given.
 *
 * @throws {OperationError} `parameter-value` for a value of another type.
 */
export function declaredValue(value: Value, def: ElmNode, model: TypeModel): Value {
  const type = statedType(def, 'parameter') ?? resultTypeOf(def)
  const declared = asDeclared(value, type, { model, read: readingOf })
  if (declared === null || type === undefined || !isChecked(type, model) || isOfType(declared, type, model)) return declared
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
  if (type.kind !== 'named') return value
  return (type.namespace === SYSTEM ? reading.read(type.name, value) : fhirElement(value, reading.model.type(type.name))) ?? value
}

/** The element of FHIR that a value was read from, or that it is written as; `undefined` if it is not of the type. */
function fhirElement(value: Value, type: TypeDefinition | undefined): FhirElement | undefined {
  if (type === undefined || value === null) return undefined
  if (typeof value !== 'object') return type.system === FHIR_PRIMITIVES.get(typeof value) ? { kind: 'fhir', type, json: value } : undefined
  const form = isList(value) || isFhir(value) ? undefined : (fhirForms.get(value) ?? writtenForm(value))
  return form?.type.toLowerCase() === type.name.toLowerCase() ? { kind: 'fhir', type, json: form.json } : undefined
}

/** A value of CQL that a host gives, as it is written in FHIR. */
function writtenForm(value: Value): FhirForm | undefined {
  const [[name, json] = []] = toParameterEntries('', value).flatMap((entry) =>
    Object.entries(entry).filter(([key]) => key.startsWith('value')),
  )
  return name === undefined ? undefined : { type: name.slice('value'.length), json }
}

/** The System types of values that are the same in JSON. */
const FHIR_PRIMITIVES: ReadonlyMap<string, TypeDefinition['system']> = new Map([
  ['boolean', 'Boolean'],
  ['number', 'Integer'],
  ['string', 'String'],
])

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

/** Whether a type consists of types of CQL and FHIR of which values can be given. */
function isChecked(type: TypeSpecifier, model: TypeModel): boolean {
  if (type.kind === 'list') return isChecked(type.element, model)
  if (type.kind === 'interval') return isChecked(type.point, model)
  if (type.kind === 'tuple') return type.elements.every(([, element]) => isChecked(element, model))
  if (type.kind === 'choice') return type.choices.every((choice) => isChecked(choice, model))
  if (type.namespace !== SYSTEM) return model.type(type.name) !== undefined
  return READINGS.has(type.name) || READ_AS_THEY_ARE.has(type.name)
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
