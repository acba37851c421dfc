import {
  and,
  conceptsOf,
  conceptTexts,
  filterWords,
  fleetingAnd,
  foldTerm,
  listable,
  mainText,
  placeOfWord,
  shownText,
  withCodes,
  type DisplayOrder,
  type LanguageList,
  type Segment,
  type TerminologyScope,
} from '../terminology/index.js'
import type { Pace } from '../context/index.js'
import { bestMatches, type BestQuestion } from './best-matches.js'

/** Returns the codes of a segment for which each word of the filter is the beginning of a word in their texts. */
export function matching(segment: Segment, filter: string): Segment {
  const index = listable(segment.provider)
  const found = filterWords(filter).map((word) => index.withWord(word))
  const all = segment.codes === index.all() ? found : [segment.codes, ...found]
  const codes = all.reduce((rest, one, i) => (i < all.length - 1 ? and(rest, one) : fleetingAnd(rest, one)))
  return { ...withCodes(segment, codes), filter }
}

/** One match of a text filter. */
export interface Match {
  readonly segment: Segment
  readonly concept: number
}

/** How matches are sorted, and which of them are returned. */
export interface Ranking {
  readonly languages: LanguageList | undefined
  /** Number of matches to skip. */
  readonly skip: number
  /** Index after the last match to return. */
  readonly end: number
}

/** A match with its sort key. */
export interface RankedMatch extends Match {
  readonly key: RankKey
}

/**
 * Returns a range of the ranked matches of segments: exact code, exact display, display that begins with the filter, then by the position of the
 * first word in the display and by the length of the display; equal matches keep their order.
 */
export async function firstMatches({ pace }: TerminologyScope, segments: readonly Segment[], ranking: Ranking): Promise<readonly Match[]> {
  const { languages, skip, end } = ranking
  const found: RankedMatch[] = []
  for (const segment of segments) {
    const order = orderFor(segment, languages)
    const best = order && (await bestMatches(pace, { order, codes: segment.codes }, { ...filterOf(segment), most: end }))
    if (best !== undefined && segments.length === 1) return best.slice(skip).map((concept) => ({ segment, concept }))
    for (const match of await ranked(pace, segment, best ?? conceptsOf(segment), languages)) found.push(match)
  }
  return found.sort((a, b) => compareKeys(a.key, b.key)).slice(skip, end)
}

/** The text filter of a segment, and its first word. */
type TextFilter = Omit<BestQuestion, 'most'>

function filterOf({ filter = '' }: Segment): TextFilter {
  return { wanted: foldTerm(filter.trim()), first: filterWords(filter)[0]?.text ?? '' }
}

/** Returns the order in which the index finds the first matches; `undefined` where the value set or the language calls for other displays. */
function orderFor(segment: Segment, languages: LanguageList | undefined): DisplayOrder | undefined {
  const { filter = '' } = segment
  const [first] = filterWords(filter)
  if (first === undefined || first.verbatim || segment.order !== undefined) return undefined
  if (!foldTerm(filter.trim()).startsWith(first.text)) return undefined
  const order = listable(segment.provider).displayOrder?.()
  return order !== undefined && showsDisplays(segment, order, languages) ? order : undefined
}

/** True if every concept is shown with the display of its code system. */
function showsDisplays({ provider, listed }: Segment, order: DisplayOrder, languages: LanguageList | undefined): boolean {
  if (listed !== undefined) return false
  if (languages === undefined) return true
  const [asked] = languages.tags
  return order.complete && asked !== undefined && asked === provider.header.language?.toLowerCase()
}

const STEPS = 128

/** Returns concepts of a segment with their sort keys. */
export async function ranked(
  pace: Pace,
  segment: Segment,
  concepts: Iterable<number>,
  languages: LanguageList | undefined,
): Promise<readonly RankedMatch[]> {
  const filter = filterOf(segment)
  const found: RankedMatch[] = []
  for (const concept of concepts) {
    const display = foldTerm(displayOf({ segment, concept }, languages) ?? '')
    found.push({ segment, concept, key: rankKey(filter, foldTerm(segment.provider.code(concept)), display) })
    if (found.length % STEPS === 0) await pace.step()
  }
  return found
}

function displayOf({ segment, concept }: Match, languages: LanguageList | undefined): string | undefined {
  const listed = segment.listed?.get(concept)
  if (languages === undefined) return mainText(segment.provider, concept, listed)?.value
  return shownText(conceptTexts(segment.provider, concept, listed), languages)?.value
}

/** Levels of a match, best first. */
const RANK = { code: 0, display: 1, beginning: 2, other: 3 } as const

/** Sort key of a match: its level, the position of the filter's first word in the display, and the length of the display. */
export type RankKey = readonly [level: number, place: number, length: number]

/** Returns the sort key of a match, from its folded code and display. */
function rankKey({ wanted, first }: TextFilter, code: string, display: string): RankKey {
  const place = placeOfWord(display, first)
  const at = place < 0 ? Number.MAX_SAFE_INTEGER : place
  if (code === wanted) return [RANK.code, at, display.length]
  if (display === wanted) return [RANK.display, at, display.length]
  return [display.startsWith(wanted) ? RANK.beginning : RANK.other, at, display.length]
}

/** Compares sort keys, as for `Array.sort`; the best match comes first. */
export function compareKeys(a: RankKey, b: RankKey): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}
