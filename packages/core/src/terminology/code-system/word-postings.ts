import { createTextNumbers, firstWhere, type TextNumbers } from '../../bits/index.js'
import { wordsOf } from '../words.js'
import type { Work } from '../../work/index.js'
import { countingOrder, inOrder, release, type Column, sortedPlaces } from './sorting.js'

/** The position of a word that the display does not contain, or contains only beyond the comparable positions. */
export const FAR = 0xffff

/**
 * The words of concepts: each word, in alphabetic order, has a range of the other lists, in which concepts are sorted by the position of the word in
 * their display and by the length of the display.
 */
export interface WordPostings {
  /** The words, in alphabetic order (UTF-16 code units). */
  readonly texts: readonly string[]
  /** Returns the range of words with this beginning. */
  readonly range: (start: string) => readonly [from: number, to: number]
  /** Start of the range of each word; the last element is the end. */
  readonly starts: Uint32Array
  readonly concepts: Uint32Array
  /** Position of the word in the folded display, at most `FAR`. */
  readonly places: Uint16Array
}

/** Folded texts of one concept. */
interface FoldedTexts {
  readonly display: string
  readonly others: readonly string[]
}

const STEPS = 128

/** Collects the words of concepts. @param byLength All concepts, sorted by length of the display. */
export function* wordPostings(byLength: Uint32Array, texts: (concept: number) => FoldedTexts): Work<WordPostings> {
  const found: Found = { ids: createTextNumbers(), words: growing(), concepts: growing(), places: growing() }
  let step = 0
  for (const concept of byLength) {
    addWords(found, concept, placesOf(texts(concept)))
    if (step++ % STEPS === 0) yield
  }
  return yield* laidOut(found)
}

interface Found {
  /** The words, numbered as they were found. */
  readonly ids: TextNumbers
  readonly words: Growing
  readonly concepts: Growing
  readonly places: Growing
}

function placesOf({ display, others }: FoldedTexts): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  let at = 0
  for (const word of wordsOf(display)) {
    at = display.indexOf(word, at)
    if (!places.has(word)) places.set(word, Math.min(at, FAR))
    at += word.length
  }
  for (const text of others) for (const word of wordsOf(text)) if (!places.has(word)) places.set(word, FAR)
  return places
}

function addWords(found: Found, concept: number, places: ReadonlyMap<string, number>): void {
  for (const [word, place] of places) {
    found.words.push(found.ids.add(word))
    found.concepts.push(concept)
    found.places.push(place)
  }
}

function* laidOut(found: Found): Work<WordPostings> {
  const { texts } = found.ids
  const order = yield* sortedPlaces(texts)
  const ranks = new Uint32Array(order.length)
  // Created with its final length, because a growing array reserves half as much space again.
  const sorted = Array.from({ length: order.length }, () => '')
  for (const [rank, id] of order.entries()) {
    ranks[id] = rank
    sorted[rank] = texts[id] ?? ''
    if (rank % STEPS === 0) yield
  }
  const byPlace = yield* countingOrder(found.places, FAR + 1, undefined)
  const words = { at: (i: number) => ranks[found.words.at(i)] ?? 0, length: () => found.words.length() }
  const byWord = yield* countingOrder(words, order.length, byPlace.order)
  const concepts = yield* inOrder(byWord.order, found.concepts, new Uint32Array(byWord.order.length))
  const places = yield* inOrder(byWord.order, found.places, new Uint16Array(byWord.order.length))
  release(byPlace.order, byWord.order, ...found.words.chunks, ...found.concepts.chunks, ...found.places.chunks)
  return { texts: sorted, starts: byWord.starts, concepts, places, range: rangeIn(sorted) }
}

/** A separate function, so that the closure does not keep the source lists in memory. */
function rangeIn(sorted: readonly string[]): WordPostings['range'] {
  return (start) => [
    firstWhere(sorted.length, (i) => (sorted[i] ?? '') >= start),
    firstWhere(sorted.length, (i) => (sorted[i] ?? '') >= start && sorted[i]?.startsWith(start) !== true),
  ]
}

interface Growing extends Column {
  readonly chunks: readonly Uint32Array[]
  push(value: number): void
}

const CHUNK = 16

/** Creates a column in chunks, because copying a long column to grow it would block the thread. */
function growing(): Growing {
  const chunks: Uint32Array[] = []
  let length = 0
  return {
    chunks,
    push(value) {
      const chunk = (chunks[length >>> CHUNK] ??= new Uint32Array(2 ** CHUNK))
      chunk[length++ & (2 ** CHUNK - 1)] = value
    },
    at: (i) => chunks[i >>> CHUNK]?.[i & (2 ** CHUNK - 1)] ?? 0,
    length: () => length,
  }
}
