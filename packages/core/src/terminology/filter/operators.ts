import { emptyBitmap, type Bitmap, andNot, rangeBitmap, bitmapFrom, members, emptyBits, addMembers, bitmapOf } from '../../bits/index.js'
import type { CodeSystemProvider, ConceptSet } from '../../code-system/index.js'
import { listable, type FilterOperator, type PlannedFilter, othersThan, readySet, testedSet } from './concept-set.js'
import { isConceptProperty, type FilterProperty, filterProperty, propertyIndexWork, statedProperty } from './filter-property.js'
import type { Work } from '../../work/index.js'
import { refusal } from '../messages.js'

/** The rule of a hierarchy operator, relative to the concept that the filter names. */
interface HierarchyRule {
  readonly has: (provider: CodeSystemProvider, concept: number, named: number) => boolean
  readonly all: (provider: CodeSystemProvider, named: number) => Bitmap
  /** The result when the named concept does not exist. Default: no concepts. */
  readonly whenUnknown?: (provider: CodeSystemProvider) => ConceptSet
}

/** Creates an operator that compares concepts by their position in the hierarchy; its property is the concept itself. */
function hierarchyOperator(rule: HierarchyRule): FilterOperator {
  return (provider, { property, value }) => {
    if (!isConceptProperty(property)) return undefined
    const named = provider.find(value)
    if (named === undefined) return (rule.whenUnknown ?? nothing)(provider)
    return readySet(
      (concept) => rule.has(provider, concept, named),
      () => rule.all(provider, named),
    )
  }
}

function nothing(provider: CodeSystemProvider): ConceptSet {
  return readySet(
    () => false,
    () => emptyBitmap(listable(provider).size),
  )
}

/** `is-a`: the concept and all its descendants. */
const isA: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.isWithin(concept, named),
  all: ({ hierarchy }, named) => hierarchy.within(named),
})

/** `is-not-a`: all concepts except the named one and its descendants. */
const isNotA: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => !hierarchy.isWithin(concept, named),
  all: (provider, named) => andNot(listable(provider).all(), provider.hierarchy.within(named)),
  whenUnknown: (provider) =>
    readySet(
      () => true,
      () => listable(provider).all(),
    ),
})

/** `descendent-of`: all descendants of the concept, without itself. */
const descendentOf: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => concept !== named && hierarchy.isWithin(concept, named),
  all: ({ hierarchy }, named) => {
    const within = hierarchy.within(named)
    return andNot(within, rangeBitmap(named, named + 1, within.limit))
  },
})

/** `descendent-leaf`: the descendants of the concept that have no children. */
const descendentLeaf: FilterOperator = hierarchyOperator({
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

/** `child-of`: the direct children of the concept. */
const childOf: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.parents(concept).includes(named),
  all: (provider, named) => bitmapFrom(provider.hierarchy.children(named), listable(provider).size),
})

/** `generalizes`: the concept and all its ancestors. */
const generalizes: FilterOperator = hierarchyOperator({
  has: ({ hierarchy }, concept, named) => hierarchy.isWithin(named, concept),
  all: ({ hierarchy }, named) => hierarchy.above(named),
})

/** `=`: the property has exactly this value; codes are compared by the system's rule for upper and lower case. */
const equals: FilterOperator = (provider, { property, value }) =>
  isConceptProperty(property) ? sameCode(provider, [value]) : conceptsWithOneOf(provider, property, [value])

/** `in`: the property has one of these values, which are separated by commas. */
const isIn: FilterOperator = (provider, { property, value }) => {
  const values = value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  return isConceptProperty(property) ? sameCode(provider, values) : conceptsWithOneOf(provider, property, values)
}

/** `not-in`: the property has none of these values, or no value at all. */
const notIn: FilterOperator = (provider, filter) => {
  const within = isIn(provider, filter)
  if (within === undefined) return undefined
  return othersThan(provider, within)
}

/** `regex`: the whole value of the property matches the pattern. Patterns run in linear time. */
const regex: FilterOperator = (provider, { property, value, compile }) => {
  if (compile === undefined) throw new TypeError('The filter is not of a planned value set.')
  const pattern = compile(value)
  return conceptsWithValue(provider, property, (found) => pattern.matchesWhole(found))
}

/** `exists`: the concept states a value of the property (`true`), or none (`false`). */
const exists: FilterOperator = (provider, { property, value }) => {
  const found = statedProperty(provider, property)
  const present = found === undefined ? undefined : accepting(provider, found, () => true)
  if (present === undefined || value === 'true') return present
  if (value !== 'false') return undefined
  return othersThan(provider, present)
}

/** Returns the concepts with one of the values; `undefined` when there is no such property. */
function conceptsWithOneOf(provider: CodeSystemProvider, property: string, values: readonly string[]): ConceptSet | undefined {
  const found = filterProperty(provider, property)
  if (found === undefined) return undefined
  const wanted = new Set(values.map((value) => found.written?.(value) ?? value))
  return accepting(provider, found, (text) => wanted.has(text))
}

/** Returns the concepts with a value of the property that the test accepts; `undefined` when there is no such property. */
function conceptsWithValue(provider: CodeSystemProvider, property: string, accept: (value: string) => boolean): ConceptSet | undefined {
  const found = filterProperty(provider, property)
  return found === undefined ? undefined : accepting(provider, found, accept)
}

function accepting(provider: CodeSystemProvider, found: FilterProperty, accept: (value: string) => boolean): ConceptSet {
  const tested = testedSet(provider, (concept) => found.texts(concept).some(accept))
  const { column } = found
  return column === undefined ? tested : { has: tested.has, all: () => unionOf(provider, column, accept) }
}

const STEPS = 256

function* unionOf(
  provider: CodeSystemProvider,
  column: NonNullable<FilterProperty['column']>,
  accept: (value: string) => boolean,
): Work<Bitmap> {
  const { size } = listable(provider)
  const words = emptyBits(size)
  let step = 0
  for (const [value, concepts] of yield* column()) {
    if (step++ % STEPS === 0) yield
    if (accept(value)) addMembers(words, concepts)
  }
  return bitmapOf(words, size)
}

/** Returns the concepts with one of these codes. */
function sameCode(provider: CodeSystemProvider, codes: readonly string[]): ConceptSet {
  const found = new Set(codes.flatMap((code) => provider.find(code) ?? []))
  return readySet(
    (concept) => found.has(concept),
    () => bitmapFrom(found, listable(provider).size),
  )
}

/** Filter operators by code. @see https://hl7.org/fhir/R4/valueset-filter-operator.html */
const FILTER_OPERATORS: ReadonlyMap<string, FilterOperator> = new Map([
  ['=', equals],
  ['is-a', isA],
  ['descendent-of', descendentOf],
  ['is-not-a', isNotA],
  ['regex', regex],
  ['in', isIn],
  ['not-in', notIn],
  ['generalizes', generalizes],
  ['exists', exists],
  ['child-of', childOf],
  ['descendent-leaf', descendentLeaf],
])

/**
 * Returns the concepts of a code system that satisfy a filter.
 *
 * @param valueSet Name of the value set that has the filter, for the message.
 * @throws {OperationError} `not-supported` for an unknown operator, or a property that the code system does not have; `definition-invalid` for a value
 *   that does not fit the property's type; `regex-unsupported` for an unsupported pattern.
 */
export function* conceptsFor(provider: CodeSystemProvider, filter: PlannedFilter, valueSet: string): Work<ConceptSet> {
  const own = provider.filter?.(filter, provider)
  if (own !== undefined) return own
  yield* propertyIndexWork(provider, filter.property) ?? []
  const found = FILTER_OPERATORS.get(filter.op)?.(provider, filter)
  if (found !== undefined) return found
  const { property, op, value } = filter
  throw refusal('FILTER_NOT_UNDERSTOOD', { property, op, value, valueSet, system: provider.header.url })
}
