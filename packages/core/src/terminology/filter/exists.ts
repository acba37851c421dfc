import { conceptsWithValue } from './by-value.js'
import { othersThan } from './concept-set.js'
import type { FilterOperator } from './operator.js'

/** The property has a value (`true`), or none (`false`). */
export const exists: FilterOperator = (provider, { property, value }) => {
  const present = conceptsWithValue(provider, property, () => true)
  if (present === undefined || value === 'true') return present
  if (value !== 'false') return undefined
  return othersThan(provider, present)
}
