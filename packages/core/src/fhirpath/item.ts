import type { Decimal } from './decimal.js'
import type { FhirNode } from './node.js'
import type { Quantity } from './quantity.js'
import type { Temporal } from './temporal.js'

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
export const TRUE: Items = [true]
export const FALSE: Items = [false]

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
