import { firstWhere } from '../first-where.js'
import { wordsOf } from '../words.js'
import type { Work } from '../work.js'
import { sortedPlaces } from './sorted-places.js'

/** The place of a word that does not stand in the display, or too far behind to count. */
export const FAR = 0xffff

/** Which words stand in the texts of which concepts: for each word, in alphabetic order, a stretch of the other lists. */
export interface WordPostings {
  /** The stretch of everything that begins so. */
  readonly range: (start: string) => readonly [from: number, to: number]
  readonly concepts: Uint32Array
  /** Where the word first stands in the folded display, at most `FAR`. */
  readonly places: Uint16Array
}

/** Folded texts of one concept. */
export interface FoldedTexts {
  readonly display: string
  readonly others: readonly string[]
}

const STEPS = 128
const FILL_STEPS = 16_384

/** Collects the words of concepts numbered from 0. */
export function* wordPostings(size: number, texts: (concept: number) => FoldedTexts): Work<WordPostings> {
  const found: Found = { ids: new Map(), counts: [], words: growing(), concepts: growing(), places: growing() }
  for (let concept = 0; concept < size; concept++) {
    addWords(found, concept, placesOf(texts(concept)))
    if (concept % STEPS === 0) yield
  }
  return yield* laidOut(found)
}

interface Found {
  readonly ids: Map<string, number>
  /** By word: how many concepts have it. */
  readonly counts: number[]
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
    if (id === found.ids.size) found.ids.set(word, id)
    found.counts[id] = (found.counts[id] ?? 0) + 1
    found.words.push(id)
    found.concepts.push(concept)
    found.places.push(place)
  }
}

function* laidOut({ ids, counts, words, concepts, places }: Found): Work<WordPostings> {
  const texts = [...ids.keys()]
  const order = yield* sortedPlaces(texts)
  const starts = new Uint32Array(order.length + 1)
  const next = new Uint32Array(order.length)
  order.forEach((id, i) => {
    next[id] = starts[i] ?? 0
    starts[i + 1] = (starts[i] ?? 0) + (counts[id] ?? 0)
  })
  const laid = { concepts: new Uint32Array(words.length()), places: new Uint16Array(words.length()) }
  for (let i = 0; i < words.length(); i++) {
    const id = words.at(i)
    const at = next[id] ?? 0
    next[id] = at + 1
    laid.concepts[at] = concepts.at(i)
    laid.places[at] = places.at(i)
    if (i % FILL_STEPS === 0) yield
  }
  const sorted = Array.from(order, (id) => texts[id] ?? '')
  const startOf = (word: number): number => starts[word] ?? 0
  return {
    ...laid,
    range: (start) => [
      startOf(firstWhere(sorted.length, (i) => (sorted[i] ?? '') >= start)),
      startOf(firstWhere(sorted.length, (i) => (sorted[i] ?? '') >= start && sorted[i]?.startsWith(start) !== true)),
    ],
  }
}

interface Growing {
  push(value: number): void
  at(i: number): number
  length(): number
}

function growing(): Growing {
  let values = new Uint32Array(1_024)
  let length = 0
  return {
    push(value) {
      if (length === values.length) {
        const longer = new Uint32Array(length * 2)
        longer.set(values)
        values = longer
      }
      values[length++] = value
    },
    at: (i) => values[i] ?? 0,
    length: () => length,
  }
}
