import { quoted } from '../errors/index.js'

const MAX_WORD = 64
const MAX_CANDIDATES = 1_000
const MAX_NEAREST = 3

/**
 * Returns at most three candidates that a misspelt word may mean: first those that differ only in case, then those that differ by few letters
 * (one in three, at most three). Empty if none is near. Words above 64 characters and candidates after the first 1,000
 * are not compared, so that the cost of a message is bounded.
 */
export function nearest(word: string, candidates: Iterable<string>): readonly string[] {
  if (word === '' || word.length > MAX_WORD) return []
  const wanted = word.toLowerCase()
  const most = Math.min(3, Math.ceil(wanted.length / 3))
  const distanceTo = distancesFrom(wanted, most)
  const near: { readonly candidate: string; readonly distance: number }[] = []
  let compared = 0
  for (const candidate of candidates) {
    if (++compared > MAX_CANDIDATES) break
    if (candidate === word || Math.abs(candidate.length - wanted.length) > most) continue
    const distance = distanceTo(candidate.toLowerCase())
    if (distance <= most && distance < Math.max(wanted.length, candidate.length)) near.push({ candidate, distance })
  }
  return near
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_NEAREST)
    .map(({ candidate }) => candidate)
}

/** The only suggestion that differs from the word just in upper and lower case; `undefined` if there is none, or several. */
export function otherCase(word: string, suggestions: readonly string[]): string | undefined {
  const [only, ...more] = suggestions.filter((one) => one.toLowerCase() === word.toLowerCase())
  return more.length > 0 ? undefined : only
}

/** `Did you mean 'a' or 'b'?`; `undefined` without suggestions. */
export function didYouMean(suggestions: readonly string[]): string | undefined {
  return suggestions.length === 0 ? undefined : `Did you mean ${suggestions.map(quoted).join(' or ')}?`
}

/** A sentence about a word that is unknown, and then which of the known ones it may mean, if there are such. */
export function withNearest(sentence: string, word: string, known: Iterable<string>): string {
  return [sentence, didYouMean(nearest(word, known)) ?? []].flat().join(' ')
}

/**
 * Returns a function that computes the distance of other words from one word: the number of letters to insert, drop, replace or swap with their
 * neighbour (optimal string alignment).
 *
 * Only cells near the diagonal are filled, in rows that are reused: comparing all of 350,000 codes takes a fraction of a second.
 *
 * @param most Larger distances are not distinguished; at most 100.
 * @returns A function that returns the distance, or `most + 1` for any distance above `most`.
 */
export function distancesFrom(word: string, most: number): (other: string) => number {
  const width = word.length
  const far = most + 1
  let [before, last, current] = [new Uint8Array(width + 2), new Uint8Array(width + 2), new Uint8Array(width + 2)]

  const cell = (other: string, row: number, column: number): number => {
    const [letter, wanted] = [other.charCodeAt(row - 1), word.charCodeAt(column - 1)]
    const changed = at(last, column - 1) + (letter === wanted ? 0 : 1)
    const least = Math.min(at(last, column) + 1, at(current, column - 1) + 1, changed, far)
    if (row === 1 || column === 1 || letter !== word.charCodeAt(column - 2) || other.charCodeAt(row - 2) !== wanted) return least
    return Math.min(least, at(before, column - 2) + 1)
  }

  /** Fills a row. @returns Its smallest value. */
  const fill = (other: string, row: number): number => {
    const [from, to] = [Math.max(1, row - most), Math.min(width, row + most)]
    let least = from === 1 ? Math.min(row, far) : far
    current[from - 1] = least
    for (let column = from; column <= to; column++) {
      const filled = cell(other, row, column)
      current[column] = filled
      if (filled < least) least = filled
    }
    current[to + 1] = far
    return least
  }

  return (other) => {
    if (Math.abs(other.length - width) > most) return far
    for (let column = 0; column <= width + 1; column++) last[column] = Math.min(column, far)
    let leastOfLast = 0
    for (let row = 1; row <= other.length; row++) {
      const least = fill(other, row)
      // A swap looks two rows back.
      if (least > most && leastOfLast > most) return far
      leastOfLast = least
      ;[before, last, current] = [last, current, before]
    }
    return Math.min(at(last, width), far)
  }
}

function at(row: Uint8Array, column: number): number {
  return row[column] ?? 0
}
