import { emptyBits, addMembers, bitmapOf, type Bitmap } from '../../bits/index.js'
import type { CodeSystemProvider, ConceptSet } from '../../code-system/index.js'
import { listable, testedSet } from './concept-set.js'
import type { Work } from '../../work/index.js'
import { filterProperty } from './filter-property.js'

/** The concepts that have a value of the property which the test accepts; `undefined` when there is no such property. */
export function conceptsWithValue(
  provider: CodeSystemProvider,
  property: string,
  accept: (value: string) => boolean,
): ConceptSet | undefined {
  const found = filterProperty(provider, property)
  if (found === undefined) return undefined
  const tested = testedSet(provider, (concept) => found.texts(concept).some(accept))
  const { column } = found
  if (column === undefined) return tested
  return {
    has: tested.has,
    *all() {
      return yield* unionOf(yield* column(), accept, listable(provider).size)
    },
  }
}

const STEPS = 256

function* unionOf(column: ReadonlyMap<string, Bitmap>, accept: (value: string) => boolean, size: number): Work<Bitmap> {
  const words = emptyBits(size)
  let step = 0
  for (const [value, concepts] of column) {
    if (step++ % STEPS === 0) yield
    if (accept(value)) addMembers(words, concepts)
  }
  return bitmapOf(words, size)
}
