import { firstWhere } from '../../bits/index.js'
import { memoizeRecent } from '../memo.js'
import type { Work } from '../../work/index.js'
import type { DisplayOrder, PlaceOrder } from '../../code-system/index.js'
import { sortedPlaces, countingOrder, inOrder, release } from './sorting.js'
import { FAR, type WordPostings } from './word-postings.js'

/** The columns of an order, in a form that can be stored. */
interface DisplayColumns {
  /** Length of the display by concept, in UTF-16 code units. */
  readonly lengths: Uint16Array
  /** Concepts sorted by display. */
  readonly byDisplay: Uint32Array
  readonly postings: Omit<WordPostings, 'texts'>
  readonly words: DisplayWords
}

/** Creates the columns from folded displays; `undefined` for a system that is too large to be ordered or has too long a text. */
export function* displayColumns(displays: readonly string[], postings: WordPostings): Work<DisplayColumns | undefined> {
  if (displays.length > MOST_PLACED || displays.some(({ length }) => length >= FAR)) return undefined
  const lengths = new Uint16Array(displays.length)
  for (let concept = 0; concept < lengths.length; concept++) lengths[concept] = displays[concept]?.length ?? 0
  return { lengths, byDisplay: yield* sortedPlaces(displays), postings, words: yield* displayWords(postings, displays.length) }
}

/** Number of kept place orders, each as far as it was computed: at most 8 bytes per concept with such a word. */
const KEPT_ORDERS = 64

/** The texts of an order, which its columns do not contain. */
export interface OrderedTexts {
  /** Returns the folded display. */
  readonly display: (concept: number) => string
  readonly withCode: (code: string) => Iterable<number>
}

/** Creates an order from its columns. */
export function orderOver({ lengths, byDisplay, postings, words }: DisplayColumns, { withCode, ...texts }: OrderedTexts): DisplayOrder {
  const display = memoizeRecent(KEPT_TEXTS, texts.display)
  return {
    display,
    length: (concept) => lengths[concept] ?? 0,
    complete: !lengths.includes(0),
    withCode,
    startingWith: (text) => equalRange(byDisplay, (concept) => compare(display(concept).slice(0, text.length), text)),
    places: memoizeRecent(KEPT_ORDERS, (start) => placeOrder({ postings, lengths, words }, postings.range(start))),
    firstPlaces(start) {
      const range = postings.range(start)
      return (concept) => firstPlace(words, range, concept)
    },
  }
}

/** Creates a function that finds concepts by folded code. */
export function* codeFinder(size: number, code: (concept: number) => string): Work<OrderedTexts['withCode']> {
  const byCode = yield* sortedPlaces(yield* collected(size, code))
  const kept = memoizeRecent(KEPT_TEXTS, code)
  return (wanted) => equalRange(byCode, (concept) => compare(kept(concept), wanted))
}

/** Number of cached folded texts: binary searches for beginnings compare the same ones again and again (bench `terminology`). */
const KEPT_TEXTS = 4_096

const STEPS = 256

/** Collects the texts of all concepts. */
export function* collected(size: number, text: (concept: number) => string): Work<readonly string[]> {
  const texts: string[] = []
  for (let concept = 0; concept < size; concept++) {
    texts.push(text(concept))
    if (concept % STEPS === 0) yield
  }
  return texts
}

/** Returns the range of concepts for which `order` returns 0, in an ascending list. */
function equalRange(sorted: Uint32Array, order: (concept: number) => number): Uint32Array {
  const rest = sorted.subarray(firstWhere(sorted.length, (i) => order(sorted[i] ?? 0) >= 0))
  const isPast = (i: number): boolean => order(rest[i] ?? 0) > 0
  // Usually there is none.
  return rest.subarray(0, rest.length === 0 || isPast(0) ? 0 : firstWhere(rest.length, isPast))
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The lists that a place order is merged from. */
interface PlacedWords {
  readonly postings: Pick<WordPostings, 'starts' | 'concepts' | 'places'>
  /** Lengths of displays by concept. */
  readonly lengths: Uint16Array
  readonly words: DisplayWords
}

/** Creates the place order for a range of words, by merging the sorted lists of the words. */
function placeOrder({ postings, lengths, words }: PlacedWords, range: readonly [number, number]): PlaceOrder {
  const { starts, concepts, places } = postings
  const keyAt = (row: number): number => {
    const concept = concepts[row] ?? 0
    return placedKey(places[row] ?? FAR, lengths[concept] ?? 0, concept)
  }
  const runs: Run[] = []
  for (let word = range[0]; word < range[1]; word++) {
    const row = starts[word] ?? 0
    if (places[row] !== FAR) runs.push({ row, end: starts[word + 1] ?? 0, key: keyAt(row) })
  }
  const next = merged(runs, (run) => {
    run.row++
    if (run.row >= run.end || places[run.row] === FAR) return false
    run.key = keyAt(run.row)
    return true
  })
  return orderFrom(next, (concept) => firstPlace(words, range, concept))
}

/** Creates an order that keeps only the first key of each concept. */
function orderFrom(next: () => number | undefined, placeOf: (concept: number) => number): PlaceOrder {
  const known: number[] = []
  return {
    at(i) {
      while (known.length <= i) {
        const key = next()
        if (key === undefined) return undefined
        const concept = conceptOfKey(key)
        if (placeOf(concept) === placeOfKey(key)) known.push(concept)
      }
      return known[i]
    },
  }
}

/** The remaining places of a word. */
interface Run {
  row: number
  readonly end: number
  /** Key of the current row. */
  key: number
}

/**
 * Creates a function that returns the smallest key of all runs and advances its run. Uses a heap: no child is smaller than its parent.
 *
 * @param move Advances a run; returns false at its end.
 */
function merged(runs: Run[], move: (run: Run) => boolean): () => number | undefined {
  for (let i = runs.length >>> 1; i-- > 0;) sink(runs, i)
  return () => {
    const [first] = runs
    if (first === undefined) return undefined
    const { key } = first
    if (!move(first)) {
      const last = runs.pop()
      if (last !== undefined && last !== first) runs[0] = last
    }
    sink(runs, 0)
    return key
  }
}

function sink(runs: Run[], start: number): void {
  const sinking = runs[start]
  if (sinking === undefined) return
  let place = start
  for (let child = smallerChild(runs, place); child !== undefined; child = smallerChild(runs, place)) {
    const smaller = runs[child]
    if (smaller === undefined || smaller.key >= sinking.key) break
    runs[place] = smaller
    place = child
  }
  runs[place] = sinking
}

function smallerChild(runs: readonly Run[], parent: number): number | undefined {
  const left = parent * 2 + 1
  const [a, b] = [runs[left], runs[left + 1]]
  if (a === undefined) return undefined
  return b !== undefined && b.key < a.key ? left + 1 : left
}

/** The words of displays by concept: each concept has a range of the other lists. */
interface DisplayWords {
  /** Start of the range of each concept; the last element is the end. */
  readonly starts: Uint32Array
  /** Numbers of words; words are numbered in alphabetic order. */
  readonly words: Uint32Array
  /** Position of the word in the display. */
  readonly places: Uint16Array
}

/** Inverts the lists from words to concepts. */
function* displayWords(
  { starts, concepts, places }: Pick<WordPostings, 'starts' | 'concepts' | 'places'>,
  size: number,
): Work<DisplayWords> {
  // Rows whose word is not in the display come last and are cut off.
  const owners = { at: (row: number) => (places[row] === FAR ? size : (concepts[row] ?? 0)), length: () => concepts.length }
  const byConcept = yield* countingOrder(owners, size + 1, undefined)
  const rows = byConcept.order.subarray(0, byConcept.starts[size])
  const words = new Uint32Array(concepts.length)
  for (let word = 0; word + 1 < starts.length; word++) {
    words.fill(word, starts[word], starts[word + 1])
    if (word % STEPS === 0) yield
  }
  const ofConcepts = {
    starts: byConcept.starts,
    words: yield* inOrder(rows, { at: (row) => words[row] ?? 0 }, new Uint32Array(rows.length)),
    places: yield* inOrder(rows, { at: (row) => places[row] ?? FAR }, new Uint16Array(rows.length)),
  }
  release(words, rows)
  return ofConcepts
}

/** Returns the position of the first word of a range in the display of a concept; `FAR` when there is none. */
function firstPlace({ starts, words, places }: DisplayWords, [from, to]: readonly [number, number], concept: number): number {
  let first = FAR
  const end = starts[concept + 1] ?? 0
  for (let i = starts[concept] ?? 0; i < end; i++) {
    const word = words[i] ?? 0
    const place = places[i] ?? FAR
    if (word >= from && word < to && place < first) first = place
  }
  return first
}

/** Maximum number of concepts that keys can represent. */
export const MOST_PLACED: number = 2 ** 21

const LENGTHS = 2 ** 16

/** Creates the sort key of a concept in a text filter: position of a word in its display, then length of the display, both below 2 ** 16. */
export function placedKey(place: number, length: number, concept: number): number {
  return (place * LENGTHS + length) * MOST_PLACED + concept
}

/** Returns the concept of a key. */
export function conceptOfKey(key: number): number {
  return key % MOST_PLACED
}

/** Returns the position of a key. */
function placeOfKey(key: number): number {
  return Math.floor(key / (MOST_PLACED * LENGTHS))
}
