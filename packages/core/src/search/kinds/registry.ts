import { dateKind } from './date.js'
import type { SearchKind } from './kind.js'
import { nearKind } from './near.js'
import { numberKind } from './number.js'
import { quantityKind } from './quantity.js'
import { profileKind, referenceKind } from './reference.js'
import { soundsKind } from './sounds.js'
import { stringKind } from './string.js'
import { tokenKind } from './token.js'
import { uriKind } from './uri.js'
import { wordsKind } from './words.js'

const KINDS: readonly SearchKind[] = [
  dateKind,
  nearKind,
  numberKind,
  profileKind,
  quantityKind,
  referenceKind,
  soundsKind,
  stringKind,
  tokenKind,
  uriKind,
  wordsKind,
]

const BY_NAME: ReadonlyMap<string, SearchKind> = new Map(KINDS.map((kind) => [kind.name, kind]))
const BY_CODE: ReadonlyMap<string, SearchKind> = new Map(KINDS.flatMap((kind) => (kind.codes ?? []).map((code) => [code, kind] as const)))

/** Returns the kind with this name; `undefined` for `composite`. */
export function kindOf(name: string): SearchKind | undefined {
  return BY_NAME.get(name)
}

/** Returns the name of the kind of a search parameter. */
export function kindNameOf({ code, type }: { readonly code: string; readonly type: string }): string {
  return BY_CODE.get(code)?.name ?? type
}
