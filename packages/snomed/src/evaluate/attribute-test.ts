import type { Attribute, AttributeValue, Comparison } from '../ecl/index.js'
import type { Bitmap } from 'fhir-ops/bits'
import type { Work } from 'fhir-ops/work'
import { CONCRETE, isConcrete } from '../release/attributes.js'
import type { EclScope } from './ecl-scope.js'
import type { RowRange } from './row-range.js'
import { termTest } from './text-match.js'

/** True for the value of an attribute relationship that an attribute of a refinement accepts. */
export type ValueTest = (value: number) => boolean

/** What a refinement's attribute comes to: the relationships with these types and values. */
export interface AttributeTest {
  readonly types: Bitmap
  readonly accepts: ValueTest
  /** The value concepts, where these alone decide. */
  readonly values?: Bitmap
}

/** Works out the names and values of an attribute. */
export function* attributeTest(scope: EclScope, { name, value }: Attribute): Work<AttributeTest> {
  const types = yield* scope.evaluate(name)
  if (value.kind !== 'concepts') return { types, accepts: concreteTest(scope, value) }
  const values = yield* scope.evaluate(value.constraint)
  if (value.comparison === '=') return { types, accepts: (found) => values.has(found), values }
  return { types, accepts: (found) => !isConcrete(found) && !values.has(found) }
}

/** How many rows the attribute accepts; in one role group when it is given. */
export function countRows({ types, accepts }: AttributeTest, { rows, from, to }: RowRange): number {
  let count = 0
  for (let row = from; row < to; row++) {
    if (types.has(rows.types[row] ?? 0) && accepts(rows.values[row] ?? 0)) count++
  }
  return count
}

function concreteTest({ index }: EclScope, value: Exclude<AttributeValue, { kind: 'concepts' }>): ValueTest {
  const accepts = textTest(value)
  const known = index.header.values.map(accepts)
  return (found) => isConcrete(found) && (known[found - CONCRETE] ?? false)
}

/** A test for concrete values as they are kept: numbers plain, strings in quotes. */
export function textTest(value: Exclude<AttributeValue, { kind: 'concepts' }>): (text: string) => boolean {
  if (value.kind === 'number') {
    return (text) => /^[-+]?[0-9]+(?:\.[0-9]+)?$/.test(text) && compares(value.comparison, Number(text), value.value)
  }
  const isEqual = value.comparison === '='
  if (value.kind === 'boolean') {
    return (text) => (text === 'true' || text === 'false') && (text === String(value.value)) === isEqual
  }
  const matches = termTest(value.terms)
  return (text) => text.startsWith('"') && matches(text.slice(1, -1)) === isEqual
}

/** Compares two things that have an order. */
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
