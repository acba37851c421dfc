import { bitmapOf, conceptOfKey, FAR, members, placedKey, placeOfWord, type Bitmap, type DisplayOrder } from '../terminology/index.js'
import type { Pace } from '../context/index.js'

/** How matches of one code system are ranked. Both texts are folded; `wanted` is the filter, which begins with the word `first`. */
export interface BestQuestion {
  readonly wanted: string
  /** Letters and digits only. */
  readonly first: string
  readonly most: number
}

/**
 * Returns the first matches in the order of `compareKeys` without ranking the others: exact codes and beginnings of displays are found in sorted
 * lists, positions of words in the lists of the index.
 */
export async function bestMatches(pace: Pace, { order, codes }: Ordered, question: BestQuestion): Promise<readonly number[]> {
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
export interface Ordered {
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
