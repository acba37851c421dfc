import type { History } from '../ecl/index.js'
import { addBit, emptyBits, bitmapOf, emptyBitmap, members, or, type Bitmap } from 'fhir-ops/bits'
import type { Work } from 'fhir-ops/work'
import { SCT } from '../sctid.js'
import type { EclScope } from './ecl-scope.js'
import { eachRow } from './member-rows.js'

/** Historical association reference sets by profile. @see https://confluence.ihtsdotools.org/display/DOCECL/6.11+History+Supplements */
const PROFILES = {
  min: ['900000000000527005'],
  mod: ['900000000000527005', '900000000000526001', '900000000000528000', '1186924009'],
} as const

/** The concepts together with the inactive ones that historical associations lead from to them. */
export function* withHistory(scope: EclScope, history: History, concepts: Bitmap): Work<Bitmap> {
  let found = concepts
  for (const refset of yield* refsetsOf(scope, history)) found = or(found, yield* associated(scope, refset, concepts))
  return found
}

function* refsetsOf({ index, evaluate }: EclScope, history: History): Work<readonly string[]> {
  if ('refsets' in history) return Array.from(members(yield* evaluate(history.refsets)), (concept) => index.id(concept))
  if (history.profile !== 'max') return PROFILES[history.profile]
  const top = index.ids.find(SCT.historicalAssociation)
  return top === undefined ? [] : Array.from(members(index.within(top)), (concept) => index.id(concept))
}

function* associated({ index }: EclScope, refset: string, concepts: Bitmap): Work<Bitmap> {
  yield
  const place = index.refsets.find(refset)?.fields.indexOf('targetComponentId') ?? -1
  if (place < 0) return emptyBitmap(index.size)
  const words = emptyBits(index.size)
  yield* eachRow(index.refsets.rows(refset), (row) => {
    const concept = index.ids.find(row.referencedComponentId)
    if (concept === undefined || !row.active) return
    if (concepts.has(index.ids.find(row.fields[place] ?? '') ?? index.size)) addBit(words, concept)
  })
  return bitmapOf(words, index.size)
}
