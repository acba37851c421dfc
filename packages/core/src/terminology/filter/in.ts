import { conceptsWithValue } from './by-value.js'
import { isConceptProperty } from './filter-property.js'
import type { FilterOperator } from './operator.js'
import { sameCode } from './same-code.js'

/** The property has one of these values, which are separated by commas. */
export const isIn: FilterOperator = (provider, { property, value }) => {
  const values = new Set(value.split(',').map((item) => item.trim()))
  return isConceptProperty(property) ? sameCode(provider, [...values]) : conceptsWithValue(provider, property, (found) => values.has(found))
}
