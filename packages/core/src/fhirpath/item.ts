import { isObject, stringAt } from '../json/index.js'
import { decimalOf, type Decimal } from './decimal.js'
import type { SystemType } from './model.js'
import type { FhirNode } from './node.js'
import type { Quantity } from './quantity.js'
import { parseDate, parseDateTime, parseTime, type Temporal } from './temporal.js'

/** Result of `type()`. */
export interface TypeInfo {
  readonly kind: 'type'
  readonly namespace: 'System' | 'FHIR'
  readonly name: string
  readonly baseType: string
}

/** A System value: strings, booleans and integers are JavaScript values. */
export type SystemValue = string | number | boolean | Decimal | Temporal | Quantity

/** A member of a collection: a System value, or an element of a resource. */
export type Item = SystemValue | FhirNode | TypeInfo

/** A collection in FHIRPath's sense: ordered, not nested. */
export type Items = readonly Item[]

export const NOTHING: Items = []
const TRUE: Items = [true]
const FALSE: Items = [false]

/** Returns the collection of a three-valued truth value. */
export function itemsOfTruth(truth: boolean | undefined): Items {
  if (truth === undefined) return NOTHING
  return truth ? TRUE : FALSE
}

/** True for a node of a resource, false for a value of the System types. */
export function isNode(item: Item | undefined): item is FhirNode {
  return typeof item === 'object' && item.kind === 'node'
}

/** True for a date, dateTime or time of the System types. */
export function isTemporal(value: Item | undefined): value is Temporal {
  return typeof value === 'object' && (value.kind === 'date' || value.kind === 'dateTime' || value.kind === 'time')
}

/** True for a Quantity of the System types. */
export function isQuantity(value: Item | undefined): value is Quantity {
  return typeof value === 'object' && value.kind === 'quantity'
}

/** True for a Decimal of the System types. */
export function isDecimal(value: Item | undefined): value is Decimal {
  return typeof value === 'object' && value.kind === 'decimal'
}

const UCUM = 'http://unitsofmeasure.org'

/** Returns the System value of an item: primitives and quantities convert implicitly, other complex elements have none. */
export function toSystem(item: Item | undefined): SystemValue | undefined {
  if (typeof item !== 'object') return item
  if (isNode(item)) return systemOfNode(item)
  return item.kind === 'type' ? undefined : item
}

/** Returns the System value of an element; text that is invalid for its type stays text. */
function systemOfNode(node: FhirNode): SystemValue | undefined {
  const { value } = node
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return node.type.system === 'Decimal' || !Number.isInteger(value) ? decimalOf(value) : value
  if (typeof value === 'string') return systemOfText(value, node.type.system)
  return node.type.system === 'Quantity' ? quantityOf(value) : undefined
}

/** Returns the System type of a value. */
export function systemTypeOf(value: SystemValue): SystemType {
  switch (typeof value) {
    case 'string':
      return 'String'
    case 'boolean':
      return 'Boolean'
    case 'number':
      return 'Integer'
    default:
      return OBJECT_TYPES[value.kind]
  }
}

const OBJECT_TYPES = { decimal: 'Decimal', quantity: 'Quantity', date: 'Date', dateTime: 'DateTime', time: 'Time' } as const

function systemOfText(text: string, type: SystemType | undefined): SystemValue {
  if (type === 'DateTime') return parseDateTime(text) ?? text
  if (type === 'Date') return parseDate(text) ?? text
  if (type === 'Time') return parseTime(text) ?? text
  return text
}

/** Converts a FHIR Quantity to a System.Quantity; `undefined` for one with a comparator, which is not an exact value. */
function quantityOf(json: unknown): Quantity | undefined {
  if (!isObject(json) || typeof json['value'] !== 'number' || stringAt(json, 'comparator') !== undefined) return undefined
  const code = stringAt(json, 'code')
  const unit = stringAt(json, 'system') === UCUM && code !== undefined ? ucumUnit(code) : (code ?? stringAt(json, 'unit') ?? '1')
  return { kind: 'quantity', value: decimalOf(json['value']), unit }
}

/** Maps UCUM years and months to calendar durations, as FHIR's mapping does although they are different. */
function ucumUnit(code: string): string {
  if (code === 'a') return 'year'
  return code === 'mo' ? 'month' : code
}
