import type { History } from '../../../ecl/index.js'
import { bitmapFrom, emptyBitmap, members, or, type Bitmap } from '../../bitmap.js'
import { SCT } from '../sctid.js'
import type { EclScope } from './ecl-scope.js'

/** Historical association reference sets by profile. @see https://confluence.ihtsdotools.org/display/DOCECL/6.11+History+Supplements */
const PROFILES = {
  min: ['900000000000527005'],
  mod: ['900000000000527005', '900000000000526001', '900000000000528000', '1186924009'],
} as const

/** The concepts together with the inactive ones that historical associations lead from to them. */
export function withHistory(scope: EclScope, history: History, concepts: Bitmap): Bitmap {
  return refsetsOf(scope, history).reduce((found, refset) => or(found, associated(scope, refset, concepts)), concepts)
}

function refsetsOf({ index, evaluate }: EclScope, history: History): readonly string[] {
  if ('refsets' in history) return Array.from(members(evaluate(history.refsets)), (concept) => index.id(concept))
  if (history.profile !== 'max') return PROFILES[history.profile]
  const top = index.ids.find(SCT.historicalAssociation)
  return top === undefined ? [] : Array.from(members(index.within(top)), (concept) => index.id(concept))
}

function associated({ index }: EclScope, refset: string, concepts: Bitmap): Bitmap {
  const place = index.refsets.find(refset)?.fields.indexOf('targetComponentId') ?? -1
  if (place < 0) return emptyBitmap(index.size)
  const rows = index.refsets.rows(refset).filter((row) => row.active && concepts.has(index.ids.find(row.fields[place] ?? '') ?? index.size))
  return bitmapFrom(
    rows.flatMap((row) => index.ids.find(row.referencedComponentId) ?? []),
    index.size,
  )
}
