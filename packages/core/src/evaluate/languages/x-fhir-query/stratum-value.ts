import { decimalOf, isNode, isQuantity, textOfValue, toSystem, type FhirNode, type Item } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import type { StratumValue } from '../../stratum.js'

/** The value of members that have none. */
export const NO_VALUE: StratumValue = { concept: { text: 'null' } }

/** What an item of FHIRPath is as the value of a stratum; `undefined` for resources and other elements that are more than one value. */
export function stratumValue(item: Item): StratumValue | undefined {
  if (isNode(item) && item.value === undefined) return NO_VALUE
  if (isNode(item) && isObject(item.value)) return valueOfElement(item.type, item.value)
  const value = toSystem(item)
  if (value === undefined) return undefined
  return isQuantity(value) ? amount({ value: value.value.value, unit: value.unit }) : { concept: { text: textOfValue(value) } }
}

function valueOfElement({ name, system }: FhirNode['type'], value: JsonObject): StratumValue | undefined {
  if (name === 'CodeableConcept') return { concept: value }
  if (name === 'Coding') return { concept: { coding: [value] } }
  return system === 'Quantity' ? amount(value) : undefined
}

function amount(quantity: JsonObject): StratumValue {
  const { value } = quantity
  const number = typeof value === 'number' ? textOfValue(decimalOf(value)) : undefined
  const unit = stringAt(quantity, 'code') ?? stringAt(quantity, 'unit')
  const text = [stringAt(quantity, 'comparator'), number, unit === '1' ? undefined : unit].filter((part) => part !== undefined).join(' ')
  return { concept: { text }, quantity }
}
