import {
  and,
  conceptTexts,
  filterWords,
  fold,
  listable,
  mainText,
  placeOfWord,
  shownText,
  withCodes,
  type FilterWord,
  type LanguageList,
  type Segment,
} from '../terminology/index.js'

/** The codes of a segment in which every word of the filter starts a word. */
export function matching(segment: Segment, words: readonly FilterWord[]): Segment {
  const index = listable(segment.provider)
  return words.reduce((rest, word) => withCodes(rest, and(rest.codes, index.withWord(word))), segment)
}

/** One match of a text filter. */
export interface Match {
  readonly segment: Segment
  readonly concept: number
}

/** What matches are ordered by. */
export interface Ranking {
  /** As it was sent. */
  readonly filter: string
  readonly languages: LanguageList | undefined
}

/**
 * Orders matches: exact code, exact display, display that begins with the filter, then by the place of the first word in the display and
 * by its length; what is equal in all of this keeps its order.
 */
export function ranked(matches: readonly Match[], { filter, languages }: Ranking): readonly Match[] {
  const wanted = fold(filter.trim())
  const [first] = filterWords(filter)
  const keys = matches.map((match) => {
    const code = fold(match.segment.provider.code(match.concept))
    const display = fold(displayOf(match, languages) ?? '')
    return { match, key: rankKey({ wanted, first: first?.text ?? '', code, display }) }
  })
  return keys.sort((a, b) => compareKeys(a.key, b.key)).map(({ match }) => match)
}

function displayOf({ segment, concept }: Match, languages: LanguageList | undefined): string | undefined {
  const listed = segment.listed?.get(concept)
  if (languages === undefined) return mainText(segment.provider, concept, listed)?.value
  return shownText(conceptTexts(segment.provider, concept, listed), languages)?.value
}

interface Ranked {
  readonly wanted: string
  readonly first: string
  readonly code: string
  readonly display: string
}

type RankKey = readonly [level: number, place: number, length: number]

function rankKey({ wanted, first, code, display }: Ranked): RankKey {
  const place = placeOfWord(display, first)
  const at = place < 0 ? Number.MAX_SAFE_INTEGER : place
  if (code === wanted) return [0, at, display.length]
  if (display === wanted) return [1, at, display.length]
  return [display.startsWith(wanted) ? 2 : 3, at, display.length]
}

function compareKeys(a: RankKey, b: RankKey): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}
