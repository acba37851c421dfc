import { firstWhere } from '../../bits/index.js'
import { keptLately } from '../memo.js'
import type { Work } from '../../work/index.js'
import { displayWords, firstPlace, type DisplayWords, placeOrder, MOST_PLACED } from './place-order.js'
import type { DisplayOrder } from '../../code-system/index.js'
import { sortedPlaces } from './sorting.js'
import { FAR, type WordPostings } from './word-postings.js'

/** What an order is made of, in a form that can be kept. */
export interface DisplayColumns {
  /** By concept, in UTF-16 code units. */
  readonly lengths: Uint16Array
  /** Concepts in the order of their displays. */
  readonly byDisplay: Uint32Array
  readonly postings: Omit<WordPostings, 'texts'>
  readonly words: DisplayWords
}

/** Makes the columns from folded displays; `undefined` for a system that is too large to be ordered, or has a text that is too long. */
export function* displayColumns(displays: readonly string[], postings: WordPostings): Work<DisplayColumns | undefined> {
  if (displays.length > MOST_PLACED || displays.some(({ length }) => length >= FAR)) return undefined
  const lengths = new Uint16Array(displays.length)
  for (let concept = 0; concept < lengths.length; concept++) lengths[concept] = displays[concept]?.length ?? 0
  return { lengths, byDisplay: yield* sortedPlaces(displays), postings, words: yield* displayWords(postings, displays.length) }
}

/** Orders of places that are kept, as far as they were worked out: at most 8 bytes for each concept that has such a word. */
const KEPT_ORDERS = 64

/** The texts of an order, which are not kept in it. */
export interface OrderedTexts {
  /** Folded. */
  readonly display: (concept: number) => string
  readonly withCode: (code: string) => Iterable<number>
}

/** The order over its columns. */
export function orderOver({ lengths, byDisplay, postings, words }: DisplayColumns, { withCode, ...texts }: OrderedTexts): DisplayOrder {
  const display = keptLately(KEPT_TEXTS, texts.display)
  return {
    display,
    length: (concept) => lengths[concept] ?? 0,
    complete: !lengths.includes(0),
    withCode,
    startingWith: (text) => stretch(byDisplay, (concept) => compare(display(concept).slice(0, text.length), text)),
    places: keptLately(KEPT_ORDERS, (start) => placeOrder({ postings, lengths, words }, postings.range(start))),
    firstPlaces(start) {
      const range = postings.range(start)
      return (concept) => firstPlace(words, range, concept)
    },
  }
}

/** Finds concepts by their folded code. */
export function* codeFinder(size: number, code: (concept: number) => string): Work<OrderedTexts['withCode']> {
  const byCode = yield* sortedPlaces(yield* collected(size, code))
  const kept = keptLately(KEPT_TEXTS, code)
  return (wanted) => stretch(byCode, (concept) => compare(kept(concept), wanted))
}

/** Folded texts that are kept: looking for a beginning compares the same ones again and again (bench `terminology`). */
const KEPT_TEXTS = 4_096

const STEPS = 256

/** The texts of all concepts. */
export function* collected(size: number, text: (concept: number) => string): Work<readonly string[]> {
  const texts: string[] = []
  for (let concept = 0; concept < size; concept++) {
    texts.push(text(concept))
    if (concept % STEPS === 0) yield
  }
  return texts
}

/** The concepts that the order, which is ascending, calls equal. */
function stretch(sorted: Uint32Array, order: (concept: number) => number): Uint32Array {
  const rest = sorted.subarray(firstWhere(sorted.length, (i) => order(sorted[i] ?? 0) >= 0))
  const isPast = (i: number): boolean => order(rest[i] ?? 0) > 0
  // Mostly there is none.
  return rest.subarray(0, rest.length === 0 || isPast(0) ? 0 : firstWhere(rest.length, isPast))
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
