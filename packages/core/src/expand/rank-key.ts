import { placeOfWord } from '../terminology/index.js'

/** How well a match fits, best first. */
const RANK = { code: 0, display: 1, beginning: 2, other: 3 } as const

/** What matches are ordered by: how well they fit, the place of the first word in the display, the length of the display. */
export type RankKey = readonly [level: number, place: number, length: number]

/** A match and what was asked for; all texts are folded. */
export interface RankQuestion {
  readonly wanted: string
  /** The first word of the filter. */
  readonly first: string
  readonly code: string
  readonly display: string
}

/** The key of one match: exact code, exact display, display that begins with the filter, others. */
export function rankKey({ wanted, first, code, display }: RankQuestion): RankKey {
  const place = placeOfWord(display, first)
  const at = place < 0 ? Number.MAX_SAFE_INTEGER : place
  if (code === wanted) return [RANK.code, at, display.length]
  if (display === wanted) return [RANK.display, at, display.length]
  return [display.startsWith(wanted) ? RANK.beginning : RANK.other, at, display.length]
}

/** The smaller comes first. */
export function compareKeys(a: RankKey, b: RankKey): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}
