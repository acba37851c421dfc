import { dateKind } from './date.js'
import type { SearchKind } from './kind.js'
import { nearKind } from './near.js'
import { numberKind } from './number.js'
import { quantityKind } from './quantity.js'
import { referenceKind } from './reference.js'
import { soundsKind } from './sounds.js'
import { stringKind } from './string.js'
import { tokenKind } from './token.js'
import { uriKind } from './uri.js'
import { wordsKind } from './words.js'

const KINDS: ReadonlyMap<string, SearchKind> = new Map([
  ['date', dateKind],
  ['number', numberKind],
  ['quantity', quantityKind],
  ['reference', referenceKind],
  ['sounds', soundsKind],
  ['special', nearKind],
  ['string', stringKind],
  ['token', tokenKind],
  ['uri', uriKind],
  ['words', wordsKind],
])

/** The kind of this name, which is a type of search parameters, `sounds` or `words`; `undefined` for `composite`. */
export function kindOf(type: string): SearchKind | undefined {
  return KINDS.get(type)
}
