import type { PlaceOrder } from '../../code-system/index.js'
import { FAR, type WordPostings } from './word-postings.js'
import type { Work } from '../../work/index.js'
import { countingOrder, inOrder } from './sorting.js'

/** What an order is merged from. */
export interface PlacedWords {
  readonly postings: Pick<WordPostings, 'starts' | 'concepts' | 'places'>
  /** Lengths of displays by concept. */
  readonly lengths: Uint16Array
  readonly words: DisplayWords
}

/** The order of the words of a range, each of which has its places in order. */
export function placeOrder({ postings, lengths, words }: PlacedWords, range: readonly [number, number]): PlaceOrder {
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

/** Keeps the first of the keys of each concept. */
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

/** The rest of a word's places. */
interface Run {
  row: number
  readonly end: number
  /** Of the row. */
  key: number
}

/**
 * Gives the smallest key of all runs and moves its run on, by a heap: no child is smaller than its parent.
 *
 * @param move Moves a run on; false at its end.
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

/** The words of displays by concept: for each concept a stretch of the other lists. */
export interface DisplayWords {
  /** By concept: where its stretch starts; one more for the end. */
  readonly starts: Uint32Array
  /** Numbers of words, in alphabetic order. */
  readonly words: Uint32Array
  /** Position of the word in the display. */
  readonly places: Uint16Array
}

const STEPS = 2_048

/** Inverts the lists of the displays that contain a word. */
export function* displayWords(
  { starts, concepts, places }: Pick<WordPostings, 'starts' | 'concepts' | 'places'>,
  size: number,
): Work<DisplayWords> {
  // Rows without a place in the display come last and are cut off.
  const owners = { at: (row: number) => (places[row] === FAR ? size : (concepts[row] ?? 0)), length: () => concepts.length }
  const byConcept = yield* countingOrder(owners, size + 1, undefined)
  const rows = byConcept.order.subarray(0, byConcept.starts[size])
  const words = new Uint32Array(concepts.length)
  for (let word = 0; word + 1 < starts.length; word++) {
    words.fill(word, starts[word], starts[word + 1])
    if (word % STEPS === 0) yield
  }
  return {
    starts: byConcept.starts,
    words: yield* inOrder(rows, { at: (row) => words[row] ?? 0 }, new Uint32Array(rows.length)),
    places: yield* inOrder(rows, { at: (row) => places[row] ?? FAR }, new Uint16Array(rows.length)),
  }
}

/** Position in the display of a concept of the first word out of a range; `FAR` when it has none. */
export function firstPlace({ starts, words, places }: DisplayWords, [from, to]: readonly [number, number], concept: number): number {
  let first = FAR
  const end = starts[concept + 1] ?? 0
  for (let i = starts[concept] ?? 0; i < end; i++) {
    const word = words[i] ?? 0
    const place = places[i] ?? FAR
    if (word >= from && word < to && place < first) first = place
  }
  return first
}

/** Most concepts that can be placed. */
export const MOST_PLACED: number = 2 ** 21

const LENGTHS = 2 ** 16

/** What a concept is ordered by in a text filter: the place of a word in its display, then the length of the display, both below 2 ** 16. */
export function placedKey(place: number, length: number, concept: number): number {
  return (place * LENGTHS + length) * MOST_PLACED + concept
}

/** The concept of a key. */
export function conceptOfKey(key: number): number {
  return key % MOST_PLACED
}

/** The place of a key. */
function placeOfKey(key: number): number {
  return Math.floor(key / (MOST_PLACED * LENGTHS))
}
