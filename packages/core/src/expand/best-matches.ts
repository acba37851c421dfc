import { bitmapOf, FAR, members, placeOfWord, type Bitmap, type DisplayOrder, type PlacedConcept, type Work } from '../terminology/index.js'
import { RANK, type RankKey } from './rank-key.js'
import { smallestKeys } from './smallest-keys.js'

/** What matches of one code system are ordered by. Both texts are folded, and the wanted one begins with the first word. */
export interface BestQuestion {
  readonly wanted: string
  /** Letters and digits only. */
  readonly first: string
  readonly most: number
}

/** A concept with what it is ordered by. */
export interface RankedConcept {
  readonly concept: number
  readonly key: RankKey
}

/**
 * The first matches in the order of `compareKeys`, without making anything for the others: codes and beginnings of displays are found
 * by their order, places of words in the lists of the index.
 */
export function* bestMatches(order: DisplayOrder, codes: Bitmap, question: BestQuestion): Work<readonly RankedConcept[]> {
  const taken = new Set<number>()
  // A walk along the index asks for far more concepts than there are matches.
  const dense = codes.few !== undefined && codes.count() > FEW ? bitmapOf(codes.words, codes.limit) : codes
  const left = { codes, taken, has: (concept: number) => dense.has(concept) && !taken.has(concept) }
  const best: RankedConcept[] = []
  for (const step of codes.count() <= FEW ? STEPS_OF_FEW : STEPS) {
    if (best.length >= question.most) break
    const found = yield* step(order, left, { ...question, most: question.most - best.length })
    for (const one of found) {
      taken.add(one.concept)
      best.push(one)
    }
  }
  return best.slice(0, question.most)
}

/** What no step has taken. */
interface Left {
  readonly codes: Bitmap
  readonly taken: ReadonlySet<number>
  readonly has: (concept: number) => boolean
}

type Step = (order: DisplayOrder, left: Left, question: BestQuestion) => Work<readonly RankedConcept[]>

const STEPS: readonly Step[] = [withExactCode, withBeginning, withPlace, withoutPlace]

/** With at most so many matches each is looked at; with more, the words of the index lead to the first ones sooner (bench `terminology`). */
const FEW = 512

const STEPS_OF_FEW: readonly Step[] = [withExactCode, withBeginning, inOnePass]

function* withExactCode(order: DisplayOrder, left: Left, { wanted, first }: BestQuestion): Work<readonly RankedConcept[]> {
  const found = smallestKeys(Number.POSITIVE_INFINITY)
  for (const concept of order.withCode(wanted)) {
    const place = placeOfWord(order.display(concept), first)
    if (left.has(concept)) found.add(place < 0 ? FAR : place, order.length(concept), concept)
  }
  return found.sorted().map((one) => ranked(RANK.code, one))
}

/** Displays that begin with several words; those that begin with one come first among those that have it. */
function* withBeginning(order: DisplayOrder, left: Left, { wanted, first, most }: BestQuestion): Work<readonly RankedConcept[]> {
  if (wanted === first) return []
  const found = smallestKeys(most)
  yield* inSteps(order.startingWith(wanted), (concept) => left.has(concept) && found.add(0, order.length(concept), concept))
  return found.sorted().map((one) => ranked(beginningLevel(one, wanted), one))
}

function* withPlace(order: DisplayOrder, left: Left, { wanted, first, most }: BestQuestion): Work<readonly RankedConcept[]> {
  const found = new Map<number, PlacedConcept>()
  const places = order.places(first)
  for (let i = 0, one = places.at(0); one !== undefined && found.size < most; one = places.at(++i)) {
    if (left.has(one.concept) && !found.has(one.concept)) found.set(one.concept, one)
    if (i % LOOKS_AT_ONCE === LOOKS_AT_ONCE - 1) yield
  }
  return Array.from(found.values(), (one) => ranked(placedLevel(one, wanted === first ? wanted : undefined), one))
}

function* inOnePass(order: DisplayOrder, left: Left, { wanted, first, most }: BestQuestion): Work<readonly RankedConcept[]> {
  const found = smallestKeys(most)
  const placeOf = order.firstPlaces(first)
  yield* inSteps(members(left.codes), (concept) => !left.taken.has(concept) && found.add(placeOf(concept), order.length(concept), concept))
  return found.sorted().map((one) => ranked(placedLevel(one, wanted === first ? wanted : undefined), one))
}

const LOOKS_AT_ONCE = 1_024

/** Looks at concepts one after the other. */
function* inSteps(concepts: Iterable<number>, look: (concept: number) => unknown): Work<void> {
  let step = 0
  for (const concept of concepts) {
    look(concept)
    if (++step % LOOKS_AT_ONCE === 0) yield
  }
}

/** @param word The filter, when it is one word: a display that begins with it comes before others. */
function placedLevel(one: PlacedConcept, word: string | undefined): number {
  return word !== undefined && one.place === 0 ? beginningLevel(one, word) : RANK.other
}

/** The exact display is the shortest that begins with it. */
function beginningLevel({ length }: PlacedConcept, wanted: string): number {
  return length === wanted.length ? RANK.display : RANK.beginning
}

/** They match by other texts than the display. */
function* withoutPlace(order: DisplayOrder, left: Left, { most }: BestQuestion): Work<readonly RankedConcept[]> {
  const found = smallestKeys(most)
  yield* inSteps(members(left.codes), (concept) => left.has(concept) && found.add(FAR, order.length(concept), concept))
  return found.sorted().map((one) => ranked(RANK.other, one))
}

function ranked(level: number, { concept, place, length }: PlacedConcept): RankedConcept {
  return { concept, key: [level, place === FAR ? Number.MAX_SAFE_INTEGER : place, length] }
}
