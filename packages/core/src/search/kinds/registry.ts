import { dateKind } from './date.js'
import type { SearchKind } from './kind.js'
import { nearKind } from './near.js'
import { numberKind } from './number.js'
import { quantityKind } from './quantity.js'
import { referenceKind } from './reference.js'
import { stringKind } from './string.js'
import { tokenKind } from './token.js'
import { uriKind } from './uri.js'

const KINDS: ReadonlyMap<string, SearchKind> = new Map([
  ['date', dateKind],
  ['number', numberKind],
  ['quantity', quantityKind],
  ['reference', referenceKind],
  ['special', nearKind],
  ['string', stringKind],
  ['token', tokenKind],
  ['uri', uriKind],
])

/** The kind of a search parameter's type; `undefined` for `composite`. */
export function kindOf(type: string): SearchKind | undefined {
  return KINDS.get(type)
}
