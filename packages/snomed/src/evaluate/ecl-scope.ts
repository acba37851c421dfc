import {
  EclError,
  type AlternateIdentifier,
  type ConceptFilter,
  type ConceptList,
  type ConceptReference,
  type Constraint,
  type DescriptionFilter,
  type MemberFilter,
} from '../ecl/index.js'
import { addBit, emptyBits, bitmapOf, type Bits } from 'fhir-ops/internal/bits'
import { bitmapFrom, members, type Bitmap } from 'fhir-ops/terminology'
import type { Work } from 'fhir-ops/internal/work'
import type { SnomedIndex } from '../release/snomed-index.js'
import { foldTerm } from 'fhir-ops/internal/terminology'
import { CONCRETE, isConcrete, type AttributeRows } from '../release/section-reader.js'
import { wordCount } from './search-terms.js'

/** What all parts of an evaluation need. */
export interface EclScope {
  readonly index: SnomedIndex
  /** Returns the concepts that a constraint selects. @throws {EclError} if something does not exist, or if the expression has too many parts. */
  readonly evaluate: (constraint: Constraint) => Work<Bitmap>
  /** Adds to the number of parts what a test compares with each concept or row. @throws {EclError} if the expression has too many parts. */
  readonly addParts: (count: number) => void
}

/** Returns the ordinal of a concept. @throws {EclError} if it does not exist. */
export function conceptOf({ ids }: SnomedIndex, { id, at }: ConceptReference): number {
  const found = ids.find(id)
  if (found === undefined) throw new EclError(`The concept ${id} does not exist`, at)
  return found
}

/** What is needed to make the test of a filter. */
export interface FilterScope {
  readonly index: SnomedIndex
  /** Returns the concepts that a constraint in the filter selects. */
  readonly selected: (constraint: Constraint) => Bitmap
}

type Filter = ConceptFilter | DescriptionFilter | MemberFilter

/** Makes a test for each filter, after evaluating the constraints in it: evaluation may take long, so it is done first, and tests are synchronous. */
export function* testsOf<F extends Filter, T>(
  { index, evaluate, addParts }: EclScope,
  filters: readonly F[],
  testOf: (scope: FilterScope, filter: F) => T,
): Work<readonly T[]> {
  const known = new Map<Constraint, Bitmap>()
  const selected = (constraint: Constraint): Bitmap => {
    const concepts = known.get(constraint)
    if (concepts === undefined) throw new Error('A filter asks for a constraint that is not among those of it.')
    return concepts
  }
  const tests: T[] = []
  for (const filter of filters) {
    yield
    addParts(partsOf(filter))
    for (const constraint of constraintsIn(filter)) known.set(constraint, yield* evaluate(constraint))
    tests.push(testOf({ index, selected }, filter))
  }
  return tests
}

/** The number of comparisons that a test of the filter may make. Lists of concepts, ids and languages count once, as they are looked up in sets. */
function partsOf(filter: Filter): number {
  if (filter.kind === 'term') return wordCount(filter.terms)
  if (filter.kind === 'effectiveTime') return filter.times.length
  if (filter.kind === 'dialect') return filter.dialects.length
  if (filter.kind !== 'field') return 1
  if (filter.value.kind === 'time') return filter.value.times.length
  return filter.value.kind === 'text' ? wordCount(filter.value.terms) : 1
}

/** The number of comparisons that the tests of several filters may make. */
export function partsOfAll(filters: readonly Filter[]): number {
  return filters.reduce((count, filter) => count + partsOf(filter), 0)
}

function constraintsIn(filter: Filter): readonly Constraint[] {
  switch (filter.kind) {
    case 'module':
      return inList(filter.modules)
    case 'definitionStatus':
      return inList(filter.statuses)
    case 'type':
      return inList(filter.types)
    case 'dialect':
      return filter.dialects.flatMap(({ refset }) => ('constraint' in refset ? [refset.constraint] : []))
    case 'field':
      return filter.value.kind === 'concepts' ? [filter.value.constraint] : []
    default:
      return []
  }
}

function inList(list: ConceptList): readonly Constraint[] {
  return list.kind === 'constraint' ? [list.constraint] : []
}

/** Returns the concepts of a list, or those that a constraint selects. */
export function conceptsIn({ index, selected }: FilterScope, list: ConceptList): Bitmap {
  if (list.kind === 'constraint') return selected(list.constraint)
  return bitmapFrom(
    list.concepts.map((concept) => conceptOf(index, concept)),
    index.size,
  )
}

/**
 * Returns the accepted candidates.
 *
 * @param parts Number of comparisons that a test of one candidate may take.
 */
export function tested(candidates: Bitmap, accept: (concept: number) => boolean, parts: number = 1): Work<Bitmap> {
  const add = (concept: number, found: Bits): void => {
    if (accept(concept)) addBit(found, concept)
  }
  const between = Math.max(1, Math.min(STEPS, Math.floor(COMPARISONS / parts)))
  return collected(members(candidates), add, { size: candidates.limit, between })
}

/** Items between two pauses. */
const STEPS = 128
/** Comparisons between two pauses. */
const COMPARISONS = 12_800

/** Visits items, with pauses. */
export function* visited<T>(items: Iterable<T>, visit: (item: T) => void, between: number = STEPS): Work<void> {
  let steps = 0
  for (const item of items) {
    if (steps++ % between === 0) yield
    visit(item)
  }
}

/** Returns the concepts that `add` adds for the items, with pauses. @param options Number of all concepts, and of items between two pauses. */
export function* collected<T>(
  items: Iterable<T>,
  add: (item: T, found: Bits) => void,
  { size, between }: { readonly size: number; readonly between?: number },
): Work<Bitmap> {
  const found = emptyBits(size)
  yield* visited(items, (item) => add(item, found), between)
  return bitmapOf(found, size)
}

/** Identifier schemes by alias. @see https://docs.snomed.org/implementation-guides/loinc-implementation-guide */
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['loinc', '30051010000102'],
  ['npu', '21003000106'],
])

/** Returns the ordinal of the concept that a code of another scheme identifies. @throws {EclError} if the scheme or the code is unknown. */
export function identifiedConcept(index: SnomedIndex, { scheme, code, at }: AlternateIdentifier): number {
  const meant = index.identifiers.schemes.filter((id) => isNamed(index, id, foldTerm(scheme)))
  if (meant.length === 0) throw new EclError(`The identifier scheme ${scheme} is not known`, at)
  const concept = meant.map((id) => index.ids.find(index.identifiers.find(id, code) ?? '')).find((found) => found !== undefined)
  if (concept === undefined) throw new EclError(`No concept has the identifier ${scheme}#${code}`, at)
  return concept
}

/** True if the text is the scheme's alias or one of its names. */
function isNamed({ ids, descriptions }: SnomedIndex, scheme: string, alias: string): boolean {
  if (SCHEMES.get(alias) === scheme) return true
  const concept = ids.find(scheme)
  const [from, to] = concept === undefined ? [0, 0] : descriptions.rowsOf(concept)
  for (let row = from; row < to; row++) if (descriptions.isActive(row) && foldTerm(descriptions.term(row)) === alias) return true
  return false
}

/** The attribute relationships of a concept or an expression, as a range of rows in a table. */
export interface RowRange {
  readonly rows: AttributeRows
  readonly from: number
  readonly to: number
  /** The concept itself; absent for an expression. */
  readonly concept?: number
  /** Concrete values of an expression that no concept of the version has. They are numbered after those of the version. */
  readonly ownValues?: readonly string[]
}

/** Returns a concrete value as it is stored, numbers plain and strings in quotes; `undefined` for the ordinal of a concept. */
export function concreteText({ header }: SnomedIndex, { ownValues = [] }: RowRange, value: number): string | undefined {
  if (!isConcrete(value)) return undefined
  const number = value - CONCRETE
  return header.values[number] ?? ownValues[number - header.values.length]
}

/** Writes a concrete value in the one form that equal values share: `2.5` for `2.50` and `+2.5`; a text as it is. */
export function concreteKey(text: string): string {
  const [, sign, whole, fraction = ''] = NUMBER.exec(text) ?? []
  if (whole === undefined) return text
  let [start, end] = [0, fraction.length]
  while (start < whole.length - 1 && whole[start] === '0') start++
  while (fraction[end - 1] === '0') end--
  const plain = whole.slice(start) + (end === 0 ? '' : `.${fraction.slice(0, end)}`)
  return sign === '-' && plain !== '0' ? `-${plain}` : plain
}

/** A number among stored concrete values. */
export const NUMBER: RegExp = /^([-+]?)([0-9]+)(?:\.([0-9]+))?$/

/** Returns the rows of a concept. */
export function rowsOf(index: SnomedIndex, concept: number): RowRange {
  const attributes = index.attributes()
  return { rows: attributes, from: attributes.start[concept] ?? 0, to: attributes.start[concept + 1] ?? 0, concept }
}
