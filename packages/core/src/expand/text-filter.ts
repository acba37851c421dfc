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
  statedTexts,
  withCodes,
  type DisplayOrder,
  type LanguageList,
  type Segment,
  type TerminologyScope,
  bitmapOf,
  conceptOfKey,
  FAR,
  members,
  placedKey,
  type Bitmap,
  andNot,
  bitmapFrom,
  or,
  wordsOf,
  type FilterWord,
} from '../terminology/index.js'
import { objectsAt, stringAt } from '../json/index.js'
import type { Pace } from '../context/index.js'

/**
 * Returns the codes of a segment for which each word of the filter is the beginning of a word in their texts: those of the code system, and those that
 * the value set states for the codes that it lists.
 *
 * @throws {OperationError} as `Pace.step`.
 */
export async function matching(pace: Pace, segment: Segment, filter: string): Promise<Segment> {
  const index = listable(segment.provider)
  const own = await ownTexts(pace, segment)
  const found: Bitmap[] = []
  for (const word of filterWords(filter)) {
    const more = await withOwnWord(pace, own, word)
    found.push(more.length === 0 ? index.withWord(word) : or(index.withWord(word), bitmapFrom(more, index.size)))
  }
  const all = segment.codes === index.all() ? found : [segment.codes, ...found]
  const codes = all.reduce((rest, one, i) => (i < all.length - 1 ? and(rest, one) : fleetingAnd(rest, one)))
  return { ...withCodes(segment, codes), filter }
}

/** The folded texts of codes that a value set states, by concept; without those that repeat the display of the code system. */
type OwnTexts = ReadonlyMap<number, readonly string[]>

const NO_TEXTS: OwnTexts = new Map()
/** Lists of codes stay as long as the value set, which is asked at every key that a user types. */
const FOLDED = new WeakMap<NonNullable<Segment['listed']>, OwnTexts>()

async function ownTexts(pace: Pace, { listed, provider }: Segment): Promise<OwnTexts> {
  if (listed === undefined) return NO_TEXTS
  const known = FOLDED.get(listed)
  if (known !== undefined) return known
  const found = new Map<number, readonly string[]>()
  for (const [concept, { concept: element }] of listed) {
    const turn = pace.step()
    if (turn !== undefined) await turn
    const [display] = statedTexts(provider, concept, 'display')
    const stated = [element, ...objectsAt(element, 'designation')].flatMap(
      (one) => stringAt(one, 'display') ?? stringAt(one, 'value') ?? [],
    )
    const texts = stated.filter((text) => text !== display)
    if (texts.length > 0) found.set(concept, texts.map(foldTerm))
  }
  FOLDED.set(listed, found)
  return found
}

async function withOwnWord(pace: Pace, own: OwnTexts, word: FilterWord): Promise<readonly number[]> {
  const found: number[] = []
  for (const [concept, texts] of own) {
    const turn = pace.step()
    if (turn !== undefined) await turn
    if (texts.some((text) => placeOfWord(text, word.text) >= 0)) found.push(concept)
  }
  return found
}

/** One match of a text filter. */
export interface Match {
  readonly segment: Segment
  readonly concept: number
}

/** How matches are sorted, and which of them are returned. */
interface Ranking {
  readonly languages: LanguageList | undefined
  /** Number of matches to skip. */
  readonly skip: number
  /** Index after the last match to return. */
  readonly end: number
}

/** A match with its sort key. */
interface RankedMatch extends Match {
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

const RANKED_AT_ONCE = 128

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
    if (found.length % RANKED_AT_ONCE === 0) await pace.step()
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
type RankKey = readonly [level: number, place: number, length: number]

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

/** How matches of one code system are ranked. Both texts are folded; `wanted` is the filter, which begins with the word `first`. */
interface BestQuestion {
  readonly wanted: string
  /** Letters and digits only. */
  readonly first: string
  readonly most: number
}

/**
 * Returns the first matches in the order of `compareKeys` without ranking the others: exact codes and beginnings of displays are found in sorted
 * lists, positions of words in the lists of the index.
 */
async function bestMatches(pace: Pace, { order, codes }: Ordered, question: BestQuestion): Promise<readonly number[]> {
  // A walk along the index tests far more concepts than there are matches.
  const dense = codes.few !== undefined && codes.count() > FEW ? bitmapOf(codes.words, codes.limit) : codes
  const best: number[] = []
  for (const step of codes.count() <= FEW ? STEPS_OF_FEW : STEPS) {
    const most = question.most - best.length
    if (most <= 0) break
    const taken = new Set(best)
    const left = { order, codes, taken, has: (concept: number) => dense.has(concept) && !taken.has(concept) }
    for (const concept of await step(left, { ...question, most }, pace)) best.push(concept)
  }
  return best.slice(0, question.most)
}

/** Codes of one code system with the order of its displays. */
interface Ordered {
  readonly order: DisplayOrder
  readonly codes: Bitmap
}

/** The codes that no step has taken yet. */
interface Left extends Ordered {
  readonly taken: ReadonlySet<number>
  readonly has: (concept: number) => boolean
}

type Step = (left: Left, question: BestQuestion, pace: Pace) => readonly number[] | Promise<readonly number[]>

const STEPS: readonly Step[] = [withExactCode, withBeginning, withPlace, withoutPlace]

/** Up to this many matches are ranked one by one; with more, the words of the index find the first ones faster (bench `terminology`). */
const FEW = 512

const STEPS_OF_FEW: readonly Step[] = [withExactCode, withBeginning, inOnePass]

function withExactCode({ order, has }: Left, { wanted, first }: BestQuestion): readonly number[] {
  const found = smallestKeys(Number.POSITIVE_INFINITY)
  for (const concept of order.withCode(wanted)) {
    const place = placeOfWord(order.display(concept), first)
    if (has(concept)) found.add(place < 0 ? FAR : place, order.length(concept), concept)
  }
  return found.sorted()
}

/** Finds displays that begin with the filter, for filters of several words. For a single word, `withPlace` finds them first. */
async function withBeginning({ order, has }: Left, { wanted, first, most }: BestQuestion, pace: Pace): Promise<readonly number[]> {
  if (wanted === first) return []
  const found = smallestKeys(most)
  await lookAt(pace, order.startingWith(wanted), (concept) => has(concept) && found.add(0, order.length(concept), concept))
  return found.sorted()
}

async function withPlace({ order, has }: Left, { first, most }: BestQuestion, pace: Pace): Promise<readonly number[]> {
  const found: number[] = []
  const places = order.places(first)
  for (let i = 0, concept = places.at(0); concept !== undefined && found.length < most; concept = places.at(++i)) {
    if (has(concept)) found.push(concept)
    if (i % LOOKS_AT_ONCE === LOOKS_AT_ONCE - 1) await pace.step()
  }
  return found
}

async function inOnePass({ order, codes, taken }: Left, { first, most }: BestQuestion, pace: Pace): Promise<readonly number[]> {
  const found = smallestKeys(most)
  const placeOf = order.firstPlaces(first)
  await lookAt(pace, members(codes), (concept) => !taken.has(concept) && found.add(placeOf(concept), order.length(concept), concept))
  return found.sorted()
}

/** Finds concepts that match by a text other than the display. */
async function withoutPlace({ order, codes, has }: Left, { most }: BestQuestion, pace: Pace): Promise<readonly number[]> {
  const found = smallestKeys(most)
  await lookAt(pace, members(codes), (concept) => has(concept) && found.add(FAR, order.length(concept), concept))
  return found.sorted()
}

const LOOKS_AT_ONCE = 1_024

/** Calls `look` for each concept, while other work runs in between. */
async function lookAt(pace: Pace, concepts: Iterable<number>, look: (concept: number) => unknown): Promise<void> {
  let step = 0
  for (const concept of concepts) {
    look(concept)
    if (++step % LOOKS_AT_ONCE === 0) await pace.step()
  }
}

/** Keeps the first of many concepts, ordered by position, length and number. */
interface SmallestKeys {
  /** A concept may be added several times; its smallest position counts. */
  add(place: number, length: number, concept: number): void
  /** Returns the kept concepts in order, each once. */
  sorted(): readonly number[]
}

const FIRST_CAPACITY = 64

/** Keeps at most `most` concepts. Each is encoded as one number, so that a hundred thousand take less than a millisecond. */
function smallestKeys(most: number): SmallestKeys {
  let keys = new Float64Array(FIRST_CAPACITY)
  let size = 0
  let limit = Number.POSITIVE_INFINITY
  const compact = (): void => {
    size = keepFirst(keys.subarray(0, size).sort(), most)
    if (size >= most) limit = keys[size - 1] ?? limit
    if (size > keys.length / 2) keys = longer(keys)
  }
  return {
    add(place, length, concept) {
      const key = placedKey(place, length, concept)
      if (key >= limit) return
      if (size === keys.length) compact()
      keys[size++] = key
    },
    sorted() {
      compact()
      return Array.from(keys.subarray(0, size), conceptOfKey)
    },
  }
}

/** Moves the first key of each concept to the front, at most `most` of them. Returns their number. */
function keepFirst(sorted: Float64Array, most: number): number {
  const seen = new Set<number>()
  let kept = 0
  for (const key of sorted) {
    if (kept >= most) break
    const concept = conceptOfKey(key)
    if (seen.has(concept)) continue
    seen.add(concept)
    sorted[kept++] = key
  }
  return kept
}

function longer(keys: Float64Array): Float64Array<ArrayBuffer> {
  const doubled = new Float64Array(keys.length * 2)
  doubled.set(keys)
  return doubled
}

/** Shorter words are near too many others. */
const SHORTEST = /^\p{L}{4,}$/u

/**
 * Returns the codes that match when one typing error in one word of the filter is corrected: an extra, missing or wrong letter, or two swapped
 * neighbours. The first letter must be right, and the word must have at least four letters and no digits. A code that several corrections find belongs
 * to the first: by position of the word, then in alphabetic order.
 *
 * @throws {OperationError} as `Pace.step`.
 */
export async function nearlyMatching(pace: Pace, segments: readonly Segment[], filter: string): Promise<readonly Segment[]> {
  const found: Segment[] = []
  for (const corrected of await corrections(pace, segments, filterWords(filter))) {
    for (const segment of segments) {
      const match = await matching(pace, segment, corrected)
      const earlier = found.filter(({ provider }) => provider === segment.provider)
      const rest = earlier.reduce((codes, other) => andNot(codes, other.codes), match.codes)
      if (rest.count() > 0) found.push(withCodes(match, rest))
      await pace.step()
    }
  }
  return found
}

async function corrections(pace: Pace, segments: readonly Segment[], words: readonly FilterWord[]): Promise<readonly string[]> {
  const own: OwnTexts[] = []
  for (const segment of segments) own.push(await ownTexts(pace, segment))
  return words.flatMap((word, place) => {
    const texts = (corrected: string): string => words.map(({ text }, i) => (i === place ? corrected : text)).join(' ')
    return SHORTEST.test(word.text) ? nearBeginnings(segments, own, word.text).map(texts) : []
  })
}

/** Returns beginnings of words that are one typing error away, in alphabetic order. */
function nearBeginnings(segments: readonly Segment[], own: readonly OwnTexts[], typed: string): readonly string[] {
  const first = String.fromCodePoint(typed.codePointAt(0) ?? 0)
  const near = new Set<string>()
  const add = (word: string): void => {
    for (const beginning of beginningsOf(word, typed)) near.add(beginning)
  }
  for (const index of new Set(segments.map(({ provider }) => listable(provider)))) for (const word of index.words(first)) add(word)
  for (const word of own.flatMap((each) => [...each.values()].flat()).flatMap(wordsOf)) if (word.startsWith(first)) add(word)
  return [...near].sort()
}

/** An extra letter at the end is corrected only where a word ends before it; otherwise everything with the shorter beginning would match. */
function beginningsOf(word: string, typed: string): readonly string[] {
  const lengths = word.length === typed.length - 1 ? [word.length] : [typed.length, typed.length + 1]
  return lengths
    .filter((length) => length <= word.length)
    .map((length) => word.slice(0, length))
    .filter((start) => isOneErrorApart(start, typed))
}

/** True if the texts differ by one added, removed or replaced letter, or by two swapped neighbours. */
export function isOneErrorApart(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  if (long.length === short.length + 1) return short.slice(same) === long.slice(same + 1)
  if (long.length !== short.length || same === short.length) return false
  const swapped = short[same] === long[same + 1] && short[same + 1] === long[same]
  return short.slice(same + 1) === long.slice(same + 1) || (swapped && short.slice(same + 2) === long.slice(same + 2))
}
