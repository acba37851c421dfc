import { EclError, type SubConstraint } from '../../../ecl/index.js'
import { bitmapFrom, members, or, emptyBitmap, type Bitmap } from '../../bitmap.js'
import type { RefsetHeader } from '../index/header.js'
import type { EclScope } from './ecl-scope.js'
import { fieldOf, memberRows } from './member-rows.js'

/** The members of reference sets, or the concepts in one of their fields. A concept that is no reference set has no members. */
export function membersOfRefsets(scope: EclScope, refsets: Bitmap, sub: SubConstraint): Bitmap {
  const { index } = scope
  const found = Array.from(members(refsets), (concept) => index.refsets.find(index.id(concept)))
  return found
    .map((refset) => (refset === undefined ? emptyBitmap(index.size) : membersOf(scope, refset, sub)))
    .reduce(or, emptyBitmap(index.size))
}

function membersOf(scope: EclScope, refset: RefsetHeader, { memberOf, memberFilters }: SubConstraint): Bitmap {
  const { ids, refsets, size } = scope.index
  const { fields, at } = memberOf ?? { fields: [], at: 0 }
  const [field = 'referencedComponentId', ...more] = fields
  if (more.length > 0 || field === '*') throw new EclError('More than one field of a reference set gives no set of concepts', at)
  if (memberFilters.length === 0 && field === 'referencedComponentId') return refsets.members(refset.id)
  const read = fieldOf(refset, field, at)
  const rows = rowsForAny(scope, refset, memberFilters)
  return bitmapFrom(
    rows.flatMap((row) => ids.find(read(row)) ?? []),
    size,
  )
}

/** Several pairs of braces may be met by different rows of one member. */
function rowsForAny(scope: EclScope, refset: RefsetHeader, filters: SubConstraint['memberFilters']): ReturnType<typeof memberRows> {
  if (filters.length === 0) return memberRows(scope, refset, [])
  const [first = [], ...others] = filters.map((each) => memberRows(scope, refset, each))
  const components = others.map((rows) => new Set(rows.map((row) => row.referencedComponentId)))
  return first.filter((row) => components.every((known) => known.has(row.referencedComponentId)))
}
