import { firstWhere } from '../../bits/index.js'
import { wordsOf } from '../words.js'
import type { Work } from '../../work/index.js'
import { countingOrder, inOrder, type Column, sortedPlaces } from './sorting.js'

/** The position of a word that the display does not contain, or only beyond the positions that are compared. */
export const FAR = 0xffff

/**
 * Which words the texts of which concepts contain: for each word, in alphabetic order, a range of the other lists, in which concepts
 * are ordered by the place of the word in their display and by the length of the display.
 */
export interface WordPostings {
  /** In alphabetic order (UTF-16 code units). */
  readonly texts: readonly string[]
  /** The words that begin so. */
  readonly range: (start: string) => readonly [from: number, to: number]
  /** By word: where its stretch starts; one more for the end. */
  readonly starts: Uint32Array
  readonly concepts: Uint32Array
  /** Position of the word in the folded display, at most `FAR`. */
  readonly places: Uint16Array
}

/** Folded texts of one concept. */
export interface FoldedTexts {
  readonly display: string
  readonly others: readonly string[]
}

const STEPS = 128

/** Collects the words of concepts. @param byLength All concepts, those with the shortest display first. */
export function* wordPostings(byLength: Uint32Array, texts: (concept: number) => FoldedTexts): Work<WordPostings> {
  const found: Found = { ids: new Map(), texts: [], words: growing(), concepts: growing(), places: growing() }
  let step = 0
  for (const concept of byLength) {
    addWords(found, concept, placesOf(texts(concept)))
    if (step++ % STEPS === 0) yield
  }
  return yield* laidOut(found)
}

interface Found {
  readonly ids: Map<string, number>
  readonly texts: string[]
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
    const id = found.ids.get(word) ?? found.ids.size
    if (id === found.ids.size) {
      found.ids.set(word, id)
      found.texts.push(word)
    }
    found.words.push(id)
    found.concepts.push(concept)
    found.places.push(place)
  }
}

function* laidOut(found: Found): Work<WordPostings> {
  const order = yield* sortedPlaces(found.texts)
  const ranks = new Uint32Array(order.length)
  // Of its length from the start: what grows has room for half as much again.
  const sorted = Array.from({ length: order.length }, () => '')
  for (const [rank, id] of order.entries()) {
    ranks[id] = rank
    sorted[rank] = found.texts[id] ?? ''
    if (rank % STEPS === 0) yield
  }
  const byPlace = yield* countingOrder(found.places, FAR + 1, undefined)
  const words = { at: (i: number) => ranks[found.words.at(i)] ?? 0, length: () => found.words.length() }
  const byWord = yield* countingOrder(words, order.length, byPlace.order)
  return {
    texts: sorted,
    starts: byWord.starts,
    concepts: yield* inOrder(byWord.order, found.concepts, new Uint32Array(byWord.order.length)),
    places: yield* inOrder(byWord.order, found.places, new Uint16Array(byWord.order.length)),
    range: rangeIn(sorted),
  }
}

/** Apart from where the lists are made, so that it does not keep in memory what they are made of. */
function rangeIn(sorted: readonly string[]): WordPostings['range'] {
  return (start) => [
    firstWhere(sorted.length, (i) => (sorted[i] ?? '') >= start),
    firstWhere(sorted.length, (i) => (sorted[i] ?? '') >= start && sorted[i]?.startsWith(start) !== true),
  ]
}

interface Growing extends Column {
  push(value: number): void
}

const CHUNK = 16

/** In chunks, as a long column that is copied to grow would keep everything waiting. */
function growing(): Growing {
  const chunks: Uint32Array[] = []
  let length = 0
  return {
    push(value) {
      const chunk = (chunks[length >>> CHUNK] ??= new Uint32Array(2 ** CHUNK))
      chunk[length++ & (2 ** CHUNK - 1)] = value
    },
    at: (i) => chunks[i >>> CHUNK]?.[i & (2 ** CHUNK - 1)] ?? 0,
    length: () => length,
  }
}
