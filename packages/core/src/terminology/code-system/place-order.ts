import type { PlaceOrder } from '../../code-system/index.js'
import { firstPlace, type DisplayWords } from './display-words.js'
import { conceptOfKey, placedKey, placeOfKey } from './placed-key.js'
import { FAR, type WordPostings } from './word-postings.js'

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
