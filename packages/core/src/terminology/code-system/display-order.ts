import { firstWhere } from '../first-where.js'
import { fold } from '../words.js'
import type { Work } from '../work.js'
import { sortedPlaces } from './sorted-places.js'
import { FAR, type WordPostings } from './word-postings.js'

/** Most concepts, and longest display, that can be ordered without looking at every match. */
const MOST_CONCEPTS = 2 ** 21

/** Concepts in the orders that matches of a text filter come in. Texts are folded. */
export interface DisplayOrder {
  /** Empty without display. */
  display(concept: number): string
  length(concept: number): number
  /** False when some concept has no display. */
  readonly complete: boolean
  withCode(code: string): Iterable<number>
  startingWith(text: string): Uint32Array
  /** Every word of a display that begins so, with its place; a concept comes once for each such word. */
  eachPlace(start: string, visit: (concept: number, place: number) => void): void
}

/** What the order is made over. */
export interface Shown {
  readonly size: number
  readonly display: (concept: number) => string | undefined
  readonly code: (concept: number) => string
}

/** Makes the order; `undefined` for a system that is too large for it, or has a text that is too long. */
export function* displayOrder({ size, display, code }: Shown, { concepts, places, range }: WordPostings): Work<DisplayOrder | undefined> {
  const displayOf = (concept: number): string => fold(display(concept) ?? '')
  const codeOf = (concept: number): string => fold(code(concept))
  const displays = yield* collected(size, displayOf)
  if (size > MOST_CONCEPTS || displays.some(({ length }) => length >= FAR)) return undefined
  const lengths = Uint16Array.from(displays, ({ length }) => length)
  const byDisplay = yield* sortedPlaces(displays)
  const byCode = yield* sortedPlaces(yield* collected(size, codeOf))
  return {
    display: displayOf,
    length: (concept) => lengths[concept] ?? 0,
    complete: !lengths.includes(0),
    withCode: (wanted) => stretch(byCode, (concept) => compare(codeOf(concept), wanted)),
    startingWith: (text) => stretch(byDisplay, (concept) => compare(displayOf(concept).slice(0, text.length), text)),
    eachPlace(start, visit) {
      const [from, to] = range(start)
      for (let i = from; i < to; i++) {
        const place = places[i] ?? FAR
        if (place !== FAR) visit(concepts[i] ?? 0, place)
      }
    },
  }
}

const STEPS = 256

function* collected(size: number, text: (concept: number) => string): Work<readonly string[]> {
  const texts: string[] = []
  for (let concept = 0; concept < size; concept++) {
    texts.push(text(concept))
    if (concept % STEPS === 0) yield
  }
  return texts
}

/** The concepts that the order, which is ascending, calls equal. */
function stretch(sorted: Uint32Array, order: (concept: number) => number): Uint32Array {
  const from = firstWhere(sorted.length, (i) => order(sorted[i] ?? 0) >= 0)
  return sorted.subarray(
    from,
    firstWhere(sorted.length, (i) => order(sorted[i] ?? 0) > 0),
  )
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
