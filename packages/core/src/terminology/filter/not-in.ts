import { othersThan } from './concept-set.js'
import { isIn } from './in.js'
import type { FilterOperator } from './operator.js'

/** The property has none of these values, or no value at all. */
export const notIn: FilterOperator = (provider, filter) => {
  const within = isIn(provider, filter)
  if (within === undefined) return undefined
  return othersThan(provider, within)
}
