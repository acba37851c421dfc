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

/** The codes of a segment in which every word of the filter starts a word. */
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

/** What matches are ordered by, and which are returned. */
export interface Ranking {
  readonly languages: LanguageList | undefined
  /** Number of the first matches that are left out. */
  readonly skip: number
  /** The place after the last one returned. */
  readonly end: number
}

/** A match with what it is ordered by. */
export interface RankedMatch extends Match {
  readonly key: RankKey
}

/**
 * Some of the first matches among the codes of segments: exact code, exact display, display that begins with the filter, then by the place
 * of the first word in the display and by its length; what is equal in all of this keeps its order.
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

/** The order by which the index knows the first matches; none where the value set or the language gives other displays. */
function orderFor(segment: Segment, languages: LanguageList | undefined): DisplayOrder | undefined {
  const { filter = '' } = segment
  const [first] = filterWords(filter)
  if (first === undefined || first.verbatim || segment.order !== undefined) return undefined
  if (!foldTerm(filter.trim()).startsWith(first.text)) return undefined
  const order = listable(segment.provider).displayOrder?.()
  return order !== undefined && showsDisplays(segment, order, languages) ? order : undefined
}

/** True when every concept is shown by the display of its code system. */
function showsDisplays({ provider, listed }: Segment, order: DisplayOrder, languages: LanguageList | undefined): boolean {
  if (listed !== undefined) return false
  if (languages === undefined) return true
  const [asked] = languages.tags
  return order.complete && asked !== undefined && asked === provider.header.language?.toLowerCase()
}

const STEPS = 128

/** Concepts of a segment with what they are ordered by. */
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

/** How well a match fits, best first. */
const RANK = { code: 0, display: 1, beginning: 2, other: 3 } as const

/** What matches are ordered by: how well they fit, the place of the first word in the display, the length of the display. */
export type RankKey = readonly [level: number, place: number, length: number]

/** The key of one match, by its folded code and display: exact code, exact display, display that begins with the filter, others. */
function rankKey({ wanted, first }: TextFilter, code: string, display: string): RankKey {
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
