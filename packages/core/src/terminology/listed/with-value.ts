import { bitmapFrom } from '../bitmap.js'
import type { CodeSystemProvider } from '../code-system/provider.js'
import { listable, type ConceptSet } from '../filter/concept-set.js'

/** The concepts that have a value of a property. */
export function withValue(provider: CodeSystemProvider, property: string, value: string): ConceptSet {
  const all = listable(provider).values(property).get(value) ?? bitmapFrom([], listable(provider).size)
  return {
    has: (concept) => all.has(concept),
    *all() {
      return all
    },
  }
}
