import { type MemberOf, type SubConstraint, EclError, type MemberFieldFilter, type MemberFilter } from '../ecl/index.js'
import { addBit, emptyBitmap, type Bits } from 'fhir-ops/internal/bits'
import { or, type Bitmap } from 'fhir-ops/terminology'
import type { Work } from 'fhir-ops/internal/work'
import type { RefsetHeader } from '../release/section-reader.js'
import { collected, testsOf, visited, type EclScope, type FilterScope } from './ecl-scope.js'
import type { RefsetRow } from '../release/refset-table.js'
import { textTest } from './refinement-test.js'
import { termTest } from './search-terms.js'
import { compareTimes, componentTest } from './description-filter.js'

/** Returns the members of reference sets, or the concepts in any of the named fields. A concept that is not a reference set has no members. */
export function* membersOfRefsets(scope: EclScope, refsets: Bitmap, sub: SubConstraint): Work<Bitmap> {
  const { index } = scope
  let found = emptyBitmap(index.size)
  for (const refset of index.refsets.all) {
    yield
    const concept = index.ids.find(refset.id)
    if (concept !== undefined && refsets.has(concept)) found = or(found, yield* membersOf(scope, refset, sub))
  }
  return found
}

function* membersOf(scope: EclScope, refset: RefsetHeader, { memberOf, memberFilters }: SubConstraint): Work<Bitmap> {
  const { ids, refsets, size } = scope.index
  const fields = fieldsOf(refset, memberOf?.fields ?? [])
  if (memberFilters.length === 0 && fields.every((field) => field === COMPONENT)) return refsets.members(refset.id)
  const rows = yield* rowsForAny(scope, refset, memberFilters)
  const reads = fields.map((field) => fieldOf(refset, field, memberOf?.at ?? 0))
  const addFields = (row: RefsetRow, found: Bits): void => {
    for (const read of reads) {
      const concept = ids.find(read(row))
      if (concept !== undefined) addBit(found, concept)
    }
  }
  return yield* collected(rows, addFields, { size, between: ROWS_BETWEEN })
}

function fieldsOf(refset: RefsetHeader, asked: MemberOf['fields']): readonly string[] {
  if (asked === '*') return [COMPONENT, ...refset.fields]
  return asked.length === 0 ? [COMPONENT] : asked
}

/** Returns rows for several pairs of braces, which may be met by different rows of the same member. */
function* rowsForAny(
  scope: EclScope,
  refset: RefsetHeader,
  [first = [], ...others]: SubConstraint['memberFilters'],
): Work<readonly RefsetRow[]> {
  let rows = yield* memberRows(scope, refset, first)
  for (const filters of others) {
    const components = new Set((yield* memberRows(scope, refset, filters)).map((row) => row.referencedComponentId))
    rows = rows.filter((row) => components.has(row.referencedComponentId))
  }
  return rows
}

type MemberTest = (row: RefsetRow) => boolean

/** Returns the rows of a reference set that meet all filters. Inactive rows count only if a filter mentions the active status. */
function* memberRows(scope: EclScope, refset: RefsetHeader, filters: readonly MemberFilter[]): Work<readonly RefsetRow[]> {
  const tests = yield* testsOf(scope, filters, (known, filter) => memberTest(known, refset, filter))
  const speaksOfActive = filters.some(({ kind }) => kind === 'active')
  const found: RefsetRow[] = []
  const add = (row: RefsetRow): void => {
    if ((speaksOfActive || row.active) && tests.every((test) => test(row))) found.push(row)
  }
  yield* visited(scope.index.refsets.rows(refset.id), add, ROWS_BETWEEN)
  return found
}

/** Rows between two pauses. */
export const ROWS_BETWEEN = 64

/** Name of the field with the members. */
export const COMPONENT = 'referencedComponentId'

/** Returns a function that reads a field of rows by name. @throws {EclError} if the reference set has no such field. */
export function fieldOf({ id, fields }: RefsetHeader, name: string, at: number): (row: RefsetRow) => string {
  const wanted = name.toLowerCase()
  if (wanted === COMPONENT.toLowerCase()) return (row) => row.referencedComponentId
  if (wanted === 'refsetid') return () => id
  if (wanted === 'moduleid') return (row) => row.moduleId
  const place = fields.findIndex((field) => field.toLowerCase() === wanted)
  if (place < 0) throw new EclError(`The reference set ${id} has no field ${name}`, at)
  return (row) => row.fields[place] ?? ''
}

function memberTest(scope: FilterScope, refset: RefsetHeader, filter: MemberFilter): MemberTest {
  if (filter.kind === 'field') return fieldTest(scope, refset, filter)
  const test = componentTest(scope, filter)
  return ({ active, moduleId, effectiveTime }) => test({ active, module: moduleId, effectiveTime: Number(effectiveTime) })
}

function fieldTest(scope: FilterScope, refset: RefsetHeader, { field, at, value }: MemberFieldFilter): MemberTest {
  const read = field.toLowerCase() === 'id' ? idOf(scope, refset, at) : fieldOf(refset, field, at)
  if (value.kind === 'time') return (row) => compareTimes(value, Number(read(row)))
  if (value.kind === 'text') {
    const matches = termTest(value.terms)
    return (row) => matches(read(row)) === (value.comparison === '=')
  }
  if (value.kind === 'boolean') return (row) => (booleanOf(read(row)) === value.value) === (value.comparison === '=')
  if (value.kind === 'number') return (row) => textTest(value)(read(row).replace(/^#/, ''))
  const concepts = scope.selected(value.constraint)
  return (row) => concepts.has(scope.index.ids.find(read(row)) ?? scope.index.size) === (value.comparison === '=')
}

/** @throws {EclError} if the import did not store the ids of rows. */
function idOf({ index }: FilterScope, { id }: RefsetHeader, at: number): (row: RefsetRow) => string {
  const ids = index.refsets.rowIds(id)
  if (ids === undefined) throw new EclError('This version was imported without the ids of members: import it again', at)
  return ({ place }) => ids[place] ?? ''
}

function booleanOf(text: string): boolean | undefined {
  if (text === '1' || text === 'true') return true
  return text === '0' || text === 'false' ? false : undefined
}
