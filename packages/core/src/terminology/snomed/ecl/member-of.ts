import type { MemberOf, SubConstraint } from '../../../ecl/index.js'
import { bitmapFrom, members, or, emptyBitmap, type Bitmap } from '../../bitmap.js'
import type { RefsetHeader } from '../index/header.js'
import type { EclScope } from './ecl-scope.js'
import { COMPONENT, fieldOf, memberRows } from './member-rows.js'

/** The members of reference sets, or the concepts in any of the fields that are named. A concept that is no reference set has no members. */
export function membersOfRefsets(scope: EclScope, refsets: Bitmap, sub: SubConstraint): Bitmap {
  const { index } = scope
  const found = Array.from(members(refsets), (concept) => index.refsets.find(index.id(concept)))
  return found
    .map((refset) => (refset === undefined ? emptyBitmap(index.size) : membersOf(scope, refset, sub)))
    .reduce(or, emptyBitmap(index.size))
}

function membersOf(scope: EclScope, refset: RefsetHeader, { memberOf, memberFilters }: SubConstraint): Bitmap {
  const { ids, refsets, size } = scope.index
  const fields = fieldsOf(refset, memberOf?.fields ?? [])
  if (memberFilters.length === 0 && fields.every((field) => field === COMPONENT)) return refsets.members(refset.id)
  const rows = rowsForAny(scope, refset, memberFilters)
  const found = fields.flatMap((field) => {
    const read = fieldOf(refset, field, memberOf?.at ?? 0)
    return rows.flatMap((row) => ids.find(read(row)) ?? [])
  })
  return bitmapFrom(found, size)
}

function fieldsOf(refset: RefsetHeader, asked: MemberOf['fields']): readonly string[] {
  if (asked === '*') return [COMPONENT, ...refset.fields]
  return asked.length === 0 ? [COMPONENT] : asked
}

/** Several pairs of braces may be met by different rows of one member. */
function rowsForAny(scope: EclScope, refset: RefsetHeader, filters: SubConstraint['memberFilters']): ReturnType<typeof memberRows> {
  if (filters.length === 0) return memberRows(scope, refset, [])
  const [first = [], ...others] = filters.map((each) => memberRows(scope, refset, each))
  const components = others.map((rows) => new Set(rows.map((row) => row.referencedComponentId)))
  return first.filter((row) => components.every((known) => known.has(row.referencedComponentId)))
}
