import { bitmapFrom } from '../../bits/index.js'
import { hierarchyOperator } from './by-concept.js'
import { listable } from './concept-set.js'
import type { FilterOperator } from './operator.js'

/** The direct children of the concept. */
export const childOf: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.parents(concept).includes(named),
  all: (provider, named) => bitmapFrom(provider.hierarchy.children(named), listable(provider).size),
})
