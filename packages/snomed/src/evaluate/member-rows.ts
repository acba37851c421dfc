import { EclError, type MemberFieldFilter, type MemberFilter } from '../ecl/index.js'
import { mapped, type Work } from 'fhir-ops/work'
import type { RefsetHeader } from '../release/header.js'
import type { RefsetRow } from '../release/refset-table.js'
import { textTest } from './attribute-test.js'
import { compareTimes, componentTest } from './component-filter.js'
import type { EclScope } from './ecl-scope.js'
import { termTest } from './text-match.js'

type MemberTest = (row: RefsetRow) => boolean

/** The rows of a reference set for which all filters hold. Inactive rows count only when a filter speaks of them. */
export function* memberRows(scope: EclScope, refset: RefsetHeader, filters: readonly MemberFilter[]): Work<readonly RefsetRow[]> {
  const tests = yield* mapped(filters, (filter) => memberTest(scope, refset, filter))
  const speaksOfActive = filters.some(({ kind }) => kind === 'active')
  const found: RefsetRow[] = []
  yield* eachRow(scope.index.refsets.rows(refset.id), (row) => {
    if ((speaksOfActive || row.active) && tests.every((test) => test(row))) found.push(row)
  })
  return found
}

const STEPS = 64

/** Goes through rows. */
export function* eachRow(rows: Iterable<RefsetRow>, visit: (row: RefsetRow) => void): Work<void> {
  let steps = 0
  for (const row of rows) {
    if (steps++ % STEPS === 0) yield
    visit(row)
  }
}

/** The field of the members. */
export const COMPONENT = 'referencedComponentId'

/** Reads a field of rows by its name. @throws {EclError} when the reference set has no such field. */
export function fieldOf({ id, fields }: RefsetHeader, name: string, at: number): (row: RefsetRow) => string {
  const wanted = name.toLowerCase()
  if (wanted === COMPONENT.toLowerCase()) return (row) => row.referencedComponentId
  if (wanted === 'refsetid') return () => id
  if (wanted === 'moduleid') return (row) => row.moduleId
  const place = fields.findIndex((field) => field.toLowerCase() === wanted)
  if (place < 0) throw new EclError(`The reference set ${id} has no field ${name}`, at)
  return (row) => row.fields[place] ?? ''
}

function* memberTest(scope: EclScope, refset: RefsetHeader, filter: MemberFilter): Work<MemberTest> {
  if (filter.kind === 'field') return yield* fieldTest(scope, refset, filter)
  const test = yield* componentTest(scope, filter)
  return ({ active, moduleId, effectiveTime }) => test({ active, module: moduleId, effectiveTime: Number(effectiveTime) })
}

function* fieldTest(scope: EclScope, refset: RefsetHeader, { field, at, value }: MemberFieldFilter): Work<MemberTest> {
  const read = field.toLowerCase() === 'id' ? idOf(scope, refset, at) : fieldOf(refset, field, at)
  if (value.kind === 'time') return (row) => compareTimes(value, Number(read(row)))
  if (value.kind === 'text') {
    const matches = termTest(value.terms)
    return (row) => matches(read(row)) === (value.comparison === '=')
  }
  if (value.kind === 'boolean') return (row) => (booleanOf(read(row)) === value.value) === (value.comparison === '=')
  if (value.kind === 'number') return (row) => textTest(value)(read(row).replace(/^#/, ''))
  const concepts = yield* scope.evaluate(value.constraint)
  return (row) => concepts.has(scope.index.ids.find(read(row)) ?? scope.index.size) === (value.comparison === '=')
}

/** @throws {EclError} when the import did not keep the ids of rows. */
function idOf({ index }: EclScope, { id }: RefsetHeader, at: number): (row: RefsetRow) => string {
  const ids = index.refsets.rowIds(id)
  if (ids === undefined) throw new EclError('This version was imported without the ids of members: import it again', at)
  return ({ place }) => ids[place] ?? ''
}

function booleanOf(text: string): boolean | undefined {
  if (text === '1' || text === 'true') return true
  return text === '0' || text === 'false' ? false : undefined
}
