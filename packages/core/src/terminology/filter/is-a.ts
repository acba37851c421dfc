import { hierarchyOperator } from './by-concept.js'
import type { FilterOperator } from './operator.js'

/** The concept and everything below it. */
export const isA: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.isWithin(concept, named),
  all: ({ hierarchy }, named) => hierarchy.within(named),
})
