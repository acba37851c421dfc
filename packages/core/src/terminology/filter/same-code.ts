import { bitmapFrom } from '../../bits/index.js'
import type { CodeSystemProvider, ConceptSet } from '../../code-system/index.js'
import { listable } from './concept-set.js'

/** The concepts with one of these codes. */
export function sameCode(provider: CodeSystemProvider, codes: readonly string[]): ConceptSet {
  const found = new Set(codes.flatMap((code) => provider.find(code) ?? []))
  return {
    has: (concept) => found.has(concept),
    *all() {
      return bitmapFrom(found, listable(provider).size)
    },
  }
}
