import { bitmapFrom, members } from '../../bits/index.js'
import type { CodeSystemProvider } from '../../code-system/index.js'
import { hierarchyOperator } from './by-concept.js'
import type { FilterOperator } from './operator.js'

/** What is below the concept and has nothing below itself. */
export const descendentLeaf: FilterOperator = hierarchyOperator({
  has: (provider, concept, named) => concept !== named && isLeaf(provider, concept) && provider.hierarchy.isWithin(concept, named),
  all: (provider, named) => {
    const within = provider.hierarchy.within(named)
    return bitmapFrom(
      [...members(within)].filter((concept) => concept !== named && isLeaf(provider, concept)),
      within.limit,
    )
  },
})

function isLeaf({ hierarchy }: CodeSystemProvider, concept: number): boolean {
  return hierarchy.children(concept).length === 0
}
