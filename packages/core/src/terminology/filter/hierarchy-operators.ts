import { emptyBitmap, type Bitmap, andNot, rangeBitmap, bitmapFrom, members } from '../../bits/index.js'
import type { CodeSystemProvider, ConceptSet } from '../../code-system/index.js'
import { listable, type FilterOperator } from './concept-set.js'
import { isConceptProperty } from './filter-property.js'

/** What an operator over the hierarchy says about the concept that the filter names. */
interface HierarchyRule {
  readonly has: (provider: CodeSystemProvider, concept: number, named: number) => boolean
  readonly all: (provider: CodeSystemProvider, named: number) => Bitmap
  /** What holds when the code system does not have the concept named. Default: nothing. */
  readonly whenUnknown?: (provider: CodeSystemProvider) => ConceptSet
}

/** An operator that compares concepts by their place in the hierarchy; its property is the concept itself. */
function hierarchyOperator(rule: HierarchyRule): FilterOperator {
  return (provider, { property, value }) => {
    if (!isConceptProperty(property)) return undefined
    const named = provider.find(value)
    if (named === undefined) return (rule.whenUnknown ?? nothing)(provider)
    return {
      has: (concept) => rule.has(provider, concept, named),
      *all() {
        return rule.all(provider, named)
      },
    }
  }
}

function nothing(provider: CodeSystemProvider): ConceptSet {
  return {
    has: () => false,
    *all() {
      return emptyBitmap(listable(provider).size)
    },
  }
}

/** The concept and everything below it. */
export const isA: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.isWithin(concept, named),
  all: ({ hierarchy }, named) => hierarchy.within(named),
})

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

/** Everything below the concept, without itself. */
export const descendentOf: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => concept !== named && hierarchy.isWithin(concept, named),
  all: ({ hierarchy }, named) => {
    const within = hierarchy.within(named)
    return andNot(within, rangeBitmap(named, named + 1, within.limit))
  },
})

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

/** The direct children of the concept. */
export const childOf: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.parents(concept).includes(named),
  all: (provider, named) => bitmapFrom(provider.hierarchy.children(named), listable(provider).size),
})

/** The concept and everything above it. */
export const generalizes: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.isWithin(named, concept),
  all: ({ hierarchy }, named) => hierarchy.above(named),
})
