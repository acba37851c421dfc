import { compileRegex } from '../../regex/index.js'
import { conceptsWithValue } from './by-value.js'
import type { FilterOperator } from './operator.js'

/** The whole value of the property matches the pattern. The patterns run in linear time. */
export const regex: FilterOperator = (provider, { property, value }) => {
  const pattern = compileRegex(value)
  return conceptsWithValue(provider, property, (found) => pattern.matchesWhole(found))
}
