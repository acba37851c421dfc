import { hierarchyOperator } from './by-concept.js'
import type { FilterOperator } from './operator.js'

/** The concept and everything above it. */
export const generalizes: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.isWithin(named, concept),
  all: ({ hierarchy }, named) => hierarchy.above(named),
})
