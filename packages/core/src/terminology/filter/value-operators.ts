import { type FilterProperty, filterProperty, isConceptProperty } from './filter-property.js'
import { type FilterOperator, othersThan, listable, testedSet } from './concept-set.js'
import { compileRegex } from '../../regex/index.js'
import { emptyBits, addMembers, bitmapOf, type Bitmap, bitmapFrom } from '../../bits/index.js'
import type { CodeSystemProvider, ConceptSet } from '../../code-system/index.js'
import type { Work } from '../../work/index.js'

/** The property has exactly this value; a code of the system is compared by the system's rule for upper and lower case. */
export const equals: FilterOperator = (provider, { property, value }) =>
  isConceptProperty(property) ? sameCode(provider, [value]) : conceptsWithOneOf(provider, property, [value])

/** The property has one of these values, which are separated by commas. */
export const isIn: FilterOperator = (provider, { property, value }) => {
  const values = value.split(',').map((item) => item.trim())
  return isConceptProperty(property) ? sameCode(provider, values) : conceptsWithOneOf(provider, property, values)
}

/** The property has none of these values, or no value at all. */
export const notIn: FilterOperator = (provider, filter) => {
  const within = isIn(provider, filter)
  if (within === undefined) return undefined
  return othersThan(provider, within)
}

/** The whole value of the property matches the pattern. The patterns run in linear time. */
export const regex: FilterOperator = (provider, { property, value }) => {
  const pattern = compileRegex(value)
  return conceptsWithValue(provider, property, (found) => pattern.matchesWhole(found))
}

/** The property has a value (`true`), or none (`false`). */
export const exists: FilterOperator = (provider, { property, value }) => {
  const present = conceptsWithValue(provider, property, () => true)
  if (present === undefined || value === 'true') return present
  if (value !== 'false') return undefined
  return othersThan(provider, present)
}

/** The concepts that have one of the values; `undefined` when there is no such property. */
function conceptsWithOneOf(provider: CodeSystemProvider, property: string, values: readonly string[]): ConceptSet | undefined {
  const found = filterProperty(provider, property)
  if (found === undefined) return undefined
  const wanted = new Set(values.map((value) => found.written?.(value) ?? value))
  return accepting(provider, found, (text) => wanted.has(text))
}

/** The concepts that have a value of the property which the test accepts; `undefined` when there is no such property. */
function conceptsWithValue(provider: CodeSystemProvider, property: string, accept: (value: string) => boolean): ConceptSet | undefined {
  const found = filterProperty(provider, property)
  return found === undefined ? undefined : accepting(provider, found, accept)
}

function accepting(provider: CodeSystemProvider, found: FilterProperty, accept: (value: string) => boolean): ConceptSet {
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

/** The concepts with one of these codes. */
function sameCode(provider: CodeSystemProvider, codes: readonly string[]): ConceptSet {
  const found = new Set(codes.flatMap((code) => provider.find(code) ?? []))
  return {
    has: (concept) => found.has(concept),
    *all() {
      return bitmapFrom(found, listable(provider).size)
    },
  }
}
