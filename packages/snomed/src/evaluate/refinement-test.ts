import { addBit, testedBitmap, type Bits } from 'fhir-ops/internal/bits'
import { and, andNot, members, or, type Bitmap } from 'fhir-ops/terminology'
import { mapped, type Work } from 'fhir-ops/internal/work'
import type { Attribute, Cardinality, Refinement, AttributeValue, Comparison } from '../ecl/index.js'
import { isConcrete } from '../release/section-reader.js'
import { collected, concreteText, type EclScope, NUMBER, rowsOf, type RowRange, visited } from './ecl-scope.js'
import { termTest, wordCount } from './search-terms.js'

/** A refinement, prepared for testing. */
interface RefinementTest {
  /** True for a concept or expression whose relationships meet the refinement. */
  readonly holds: (range: RowRange) => boolean
  /** Returns concepts that include all those for which it holds; absent if that is unknown without testing. */
  readonly candidates?: () => Work<Bitmap>
}

/** Prepares a refinement, after evaluating its attributes. Outside braces, every relationship counts, whatever its role group. */
export function* refinementTest(scope: EclScope, refinement: Refinement): Work<RefinementTest> {
  const prepared = new Map<Attribute, RefinementTest>()
  for (const attribute of attributesIn(refinement)) {
    yield
    const types = yield* scope.evaluate(attribute.name)
    const { value } = attribute
    const evaluated: Evaluated = {
      ...attribute,
      types,
      value: value.kind === 'concepts' ? { ...value, concepts: yield* scope.evaluate(value.constraint) } : value,
    }
    prepared.set(attribute, attribute.reverse ? yield* reverseRefinement(scope, evaluated) : attributeRefinement(scope, evaluated))
  }
  return testOf(refinement, prepared)
}

function attributesIn(refinement: Refinement): readonly Attribute[] {
  if (refinement.kind === 'attribute') return [refinement]
  return refinement.kind === 'group' ? attributesIn(refinement.attributes) : refinement.operands.flatMap(attributesIn)
}

function testOf(refinement: Refinement, prepared: ReadonlyMap<Attribute, RefinementTest>): RefinementTest {
  if (refinement.kind === 'group') return groupRefinement(refinement, testOf(refinement.attributes, prepared))
  if (refinement.kind !== 'attribute')
    return combined(
      refinement.kind,
      refinement.operands.map((operand) => testOf(operand, prepared)),
    )
  const test = prepared.get(refinement)
  if (test === undefined) throw new Error('An attribute of the refinement was not evaluated.')
  return test
}

/** An attribute whose constraints have been evaluated. */
interface Evaluated extends Omit<Attribute, 'value'> {
  /** The types of relationships that it names. */
  readonly types: Bitmap
  readonly value: (ConceptsValue & { readonly concepts: Bitmap }) | ConcreteValue
}

type ConceptsValue = Extract<AttributeValue, { kind: 'concepts' }>
type ConcreteValue = Exclude<AttributeValue, { kind: 'concepts' }>

function combined(kind: 'and' | 'or', tests: readonly RefinementTest[]): RefinementTest {
  const sources = tests.flatMap(({ candidates }) => candidates ?? [])
  const isKnown = kind === 'and' ? sources.length > 0 : sources.length === tests.length
  const join = kind === 'and' ? and : or
  return {
    holds: kind === 'and' ? (range) => tests.every((test) => test.holds(range)) : (range) => tests.some((test) => test.holds(range)),
    ...(isKnown && {
      *candidates() {
        return (yield* mapped(sources, (source) => source())).reduce(join)
      },
    }),
  }
}

/** True if the count is within the cardinality; without one, at least 1 is required. */
function fits(count: number, { min, max = Number.POSITIVE_INFINITY }: Cardinality = { min: 1 }): boolean {
  return min <= count && count <= max
}

function attributeRefinement(scope: EclScope, attribute: Evaluated): RefinementTest {
  const { cardinality } = attribute
  const test = attributeTest(scope, attribute)
  return {
    holds: (range) => fits(countRows(test, range), cardinality),
    ...((cardinality?.min ?? 1) > 0 && candidatesOf(scope, test)),
  }
}

function candidatesOf({ index }: EclScope, { values }: AttributeTest): Pick<RefinementTest, 'candidates'> {
  if (values === undefined) return {}
  const { start, items } = index.attributes().users
  const addUsers = (value: number, found: Bits): void => {
    for (let i = start[value] ?? 0; i < (start[value + 1] ?? 0); i++) addBit(found, items[i] ?? 0)
  }
  return { candidates: () => collected(members(values), addUsers, index) }
}

/** Prepares a reversed attribute: counts the concepts selected by the value that have the tested concept as their attribute value. */
function* reverseRefinement({ index }: EclScope, { cardinality, types, value }: Evaluated): Work<RefinementTest> {
  if (value.kind !== 'concepts') return { holds: () => false }
  const counts = new Uint32Array(index.size)
  const seen = new Uint32Array(index.size)
  const countTargets = (source: number): void => {
    const { rows, from, to } = rowsOf(index, source)
    for (let row = from; row < to; row++) {
      const target = rows.values[row] ?? 0
      // Each target counts once per source: `seen` holds the last source that was counted, starting at 1.
      if (isConcrete(target) || seen[target] === source + 1 || !types.has(rows.types[row] ?? 0)) continue
      seen[target] = source + 1
      counts[target] = (counts[target] ?? 0) + 1
    }
  }
  yield* visited(members(value.comparison === '=' ? value.concepts : andNot(index.all(), value.concepts)), countTargets)
  // A set fits into memory, whereas thousands of lists of counts would not.
  const fitting = yield* testedBitmap(index.size, (concept) => fits(counts[concept] ?? 0, cardinality))
  return {
    holds: ({ concept }) => (concept === undefined ? fits(0, cardinality) : fitting.has(concept)),
    *candidates() {
      return fitting
    },
  }
}

/** Counts the role groups that meet the attributes; each relationship outside groups counts as a group of its own. */
function groupRefinement({ cardinality }: Extract<Refinement, { kind: 'group' }>, inner: RefinementTest): RefinementTest {
  const holds = (range: RowRange): boolean => {
    let count = 0
    for (const group of groupsOf(range)) if (inner.holds(group)) count++
    return fits(count, cardinality)
  }
  return { holds, ...((cardinality?.min ?? 1) > 0 && inner.candidates !== undefined && { candidates: inner.candidates }) }
}

function* groupsOf(range: RowRange): Generator<RowRange> {
  const { rows, to } = range
  for (let from = range.from; from < to;) {
    const group = rows.groups[from] ?? 0
    let end = from + 1
    while (group !== 0 && end < to && rows.groups[end] === group) end++
    yield { ...range, from, to: end }
    from = end
  }
}

/** True if an attribute of a refinement accepts this relationship value. */
type ValueTest = (value: number, range: RowRange) => boolean

/** An attribute of a refinement, prepared for testing: the accepted types and values. */
interface AttributeTest {
  readonly types: Bitmap
  readonly accepts: ValueTest
  /** The value concepts, if they alone decide. */
  readonly values?: Bitmap
}

function attributeTest(scope: EclScope, { types, value }: Evaluated): AttributeTest {
  if (value.kind === 'text') scope.addParts(wordCount(value.terms))
  if (value.kind !== 'concepts') return { types, accepts: concreteTest(scope, value) }
  const { comparison, concepts } = value
  if (comparison === '=') return { types, accepts: (found) => concepts.has(found), values: concepts }
  return { types, accepts: (found) => !isConcrete(found) && !concepts.has(found) }
}

/** Counts the rows that the attribute accepts, in the given range. */
function countRows({ types, accepts }: AttributeTest, range: RowRange): number {
  const { rows, from, to } = range
  let count = 0
  for (let row = from; row < to; row++) {
    if (types.has(rows.types[row] ?? 0) && accepts(rows.values[row] ?? 0, range)) count++
  }
  return count
}

function concreteTest({ index }: EclScope, value: ConcreteValue): ValueTest {
  const accepts = textTest(value)
  const known = new Map<string, boolean>(index.header.values.map((text) => [text, accepts(text)]))
  return (found, range) => {
    const text = concreteText(index, range, found)
    return text !== undefined && (known.get(text) ?? accepts(text))
  }
}

/** Returns a test for concrete values as stored: numbers plain, strings in quotes. */
export function textTest(value: ConcreteValue): (text: string) => boolean {
  if (value.kind === 'number') {
    return (text) => NUMBER.test(text) && compares(value.comparison, Number(text), value.value)
  }
  const isEqual = value.comparison === '='
  if (value.kind === 'boolean') {
    return (text) => (text === 'true' || text === 'false') && (text === String(value.value)) === isEqual
  }
  const matches = termTest(value.terms)
  return (text) => text.startsWith('"') && matches(text.slice(1, -1)) === isEqual
}

/** Compares two numbers. */
export function compares(comparison: Comparison, a: number, b: number): boolean {
  return COMPARE[comparison](a, b)
}

const COMPARE: Readonly<Record<Comparison, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}
