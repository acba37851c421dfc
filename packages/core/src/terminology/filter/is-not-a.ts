import { andNot } from '../../bits/index.js'
import { hierarchyOperator } from './by-concept.js'
import { listable } from './concept-set.js'
import type { FilterOperator } from './operator.js'

/** Everything that is neither the concept nor below it. */
export const isNotA: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => !hierarchy.isWithin(concept, named),
  all: (provider, named) => andNot(listable(provider).all(), provider.hierarchy.within(named)),
  whenUnknown: (provider) => ({
    has: () => true,
    *all() {
      return listable(provider).all()
    },
  }),
})
