import { emptyBitmap, or, type Bitmap } from '../bitmap.js'
import type { CodeSystemProvider } from '../code-system/provider.js'
import { listable, testedSet, type ConceptSet } from './concept-set.js'
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
  return column === undefined ? tested : { has: tested.has, all: () => unionOf(column(), accept, listable(provider).size) }
}

function unionOf(column: ReadonlyMap<string, Bitmap>, accept: (value: string) => boolean, size: number): Bitmap {
  return Array.from(column)
    .filter(([value]) => accept(value))
    .reduce((union, [, concepts]) => or(union, concepts), emptyBitmap(size))
}
