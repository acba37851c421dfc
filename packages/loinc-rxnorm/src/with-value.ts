import { bitmapFrom } from 'fhir-ops/bits'
import type { CodeSystemProvider, ConceptSet } from 'fhir-ops/code-system'
import { listable } from 'fhir-ops/terminology'

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
