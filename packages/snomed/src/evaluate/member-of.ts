import type { MemberOf, SubConstraint } from '../ecl/index.js'
import { addBit, emptyBits, bitmapOf, emptyBitmap, or, type Bitmap } from 'fhir-ops/bits'
import type { Work } from 'fhir-ops/work'
import type { RefsetHeader } from '../release/header.js'
import type { EclScope } from './ecl-scope.js'
import { COMPONENT, eachRow, fieldOf, memberRows } from './member-rows.js'

/** The members of reference sets, or the concepts in any of the fields that are named. A concept that is not a reference set has no members. */
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
  const words = emptyBits(size)
  for (const field of fields) {
    const read = fieldOf(refset, field, memberOf?.at ?? 0)
    yield* eachRow(rows, (row) => {
      const concept = ids.find(read(row))
      if (concept !== undefined) addBit(words, concept)
    })
  }
  return bitmapOf(words, size)
}

function fieldsOf(refset: RefsetHeader, asked: MemberOf['fields']): readonly string[] {
  if (asked === '*') return [COMPONENT, ...refset.fields]
  return asked.length === 0 ? [COMPONENT] : asked
}

/** Several pairs of braces may be met by different rows of one member. */
function* rowsForAny(
  scope: EclScope,
  refset: RefsetHeader,
  [first = [], ...others]: SubConstraint['memberFilters'],
): ReturnType<typeof memberRows> {
  let rows = yield* memberRows(scope, refset, first)
  for (const filters of others) {
    const components = new Set((yield* memberRows(scope, refset, filters)).map((row) => row.referencedComponentId))
    rows = rows.filter((row) => components.has(row.referencedComponentId))
  }
  return rows
}
