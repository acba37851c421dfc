/** A concept with the place of a word in its display and the length of the display, by which matches are ordered. */
export interface PlacedConcept {
  readonly concept: number
  /** Below 2 ** 16. */
  readonly place: number
  /** Below 2 ** 16. */
  readonly length: number
}

/** Most concepts that can be placed. */
export const MOST_PLACED: number = 2 ** 21

const LENGTHS = 2 ** 16

/** One number that is the smaller, the smaller the place is, then the length, then the number of the concept. */
export function placedKey(place: number, length: number, concept: number): number {
  return (place * LENGTHS + length) * MOST_PLACED + concept
}

/** The concept of a key. */
export function placedConcept(key: number): PlacedConcept {
  const rest = Math.floor(key / MOST_PLACED)
  return { concept: key % MOST_PLACED, place: Math.floor(rest / LENGTHS), length: rest % LENGTHS }
}
