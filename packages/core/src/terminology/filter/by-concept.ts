import { emptyBitmap, type Bitmap } from '../../bits/index.js'
import type { CodeSystemProvider, ConceptSet } from '../../code-system/index.js'
import { listable } from './concept-set.js'
import { isConceptProperty } from './filter-property.js'
import type { FilterOperator } from './operator.js'

/** What an operator over the hierarchy says about the concept that the filter names. */
export interface HierarchyRule {
  readonly has: (provider: CodeSystemProvider, concept: number, named: number) => boolean
  readonly all: (provider: CodeSystemProvider, named: number) => Bitmap
  /** What holds when the code system does not have the concept named. Default: nothing. */
  readonly whenUnknown?: (provider: CodeSystemProvider) => ConceptSet
}

/** An operator that compares concepts by their place in the hierarchy; its property is the concept itself. */
export function hierarchyOperator(rule: HierarchyRule): FilterOperator {
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
