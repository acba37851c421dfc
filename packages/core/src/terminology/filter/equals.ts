import { conceptsWithValue } from './by-value.js'
import { isConceptProperty } from './filter-property.js'
import type { FilterOperator } from './operator.js'
import { sameCode } from './same-code.js'

/** The property has exactly this value; a code is compared by the system's rule for upper and lower case. */
export const equals: FilterOperator = (provider, { property, value }) =>
  isConceptProperty(property) ? sameCode(provider, [value]) : conceptsWithValue(provider, property, (found) => found === value)
