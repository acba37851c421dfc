import type { Work } from '../../work/index.js'
import { countingOrder, inOrder } from './counting-order.js'
import { FAR, type WordPostings } from './word-postings.js'

/** The words of displays by concept: for each concept a stretch of the other lists. */
export interface DisplayWords {
  /** By concept: where its stretch starts; one more for the end. */
  readonly starts: Uint32Array
  /** Numbers of words, in alphabetic order. */
  readonly words: Uint32Array
  /** Where the word first stands in the display. */
  readonly places: Uint16Array
}

const STEPS = 2_048

/** Turns the lists around that say in which displays a word stands. */
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

/** Where a word out of a range first stands in the display of a concept; `FAR` when none does. */
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
