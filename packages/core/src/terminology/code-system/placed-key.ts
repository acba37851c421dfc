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
export function placeOfKey(key: number): number {
  return Math.floor(key / (MOST_PLACED * LENGTHS))
}
