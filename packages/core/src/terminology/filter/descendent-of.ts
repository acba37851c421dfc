import { andNot, rangeBitmap } from '../../bits/index.js'
import { hierarchyOperator } from './by-concept.js'
import type { FilterOperator } from './operator.js'

/** Everything below the concept, without itself. */
export const descendentOf: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => concept !== named && hierarchy.isWithin(concept, named),
  all: ({ hierarchy }, named) => {
    const within = hierarchy.within(named)
    return andNot(within, rangeBitmap(named, named + 1, within.limit))
  },
})
