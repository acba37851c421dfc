import { quoted } from '../errors/index.js'

const MAX_WORD = 64
const MAX_CANDIDATES = 1_000
const MAX_NEAREST = 3

/**
 * The candidates that a misspelt word may mean: those of the same letters in another case first, then those that differ by few letters
 * (one in three, at most three). At most three; empty when none is near. Words above 64 characters and candidates after the first 1,000
 * are not compared, so that the cost of a message is bounded.
 */
export function nearest(word: string, candidates: Iterable<string>): readonly string[] {
  if (word === '' || word.length > MAX_WORD) return []
  const wanted = word.toLowerCase()
  const most = Math.min(3, Math.ceil(wanted.length / 3))
  const near: { readonly candidate: string; readonly distance: number }[] = []
  let compared = 0
  for (const candidate of candidates) {
    if (++compared > MAX_CANDIDATES) break
    if (candidate === word || Math.abs(candidate.length - wanted.length) > most) continue
    const distance = distanceOf(wanted, candidate.toLowerCase(), most)
    if (distance <= most && distance < Math.max(wanted.length, candidate.length)) near.push({ candidate, distance })
  }
  return near
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_NEAREST)
    .map(({ candidate }) => candidate)
}

/** The one of the suggestions that differs from the word only in upper and lower case; `undefined` when there is none, or several. */
export function otherCase(word: string, suggestions: readonly string[]): string | undefined {
  const [only, ...more] = suggestions.filter((one) => one.toLowerCase() === word.toLowerCase())
  return more.length > 0 ? undefined : only
}

/** `Did you mean 'a' or 'b'?`; `undefined` when there is nothing to suggest. */
export function didYouMean(suggestions: readonly string[]): string | undefined {
  return suggestions.length === 0 ? undefined : `Did you mean ${suggestions.map(quoted).join(' or ')}?`
}

/** Least number of letters to insert, drop, replace or swap with their neighbour (optimal string alignment); something above `most` when it is above. */
export function distanceOf(a: string, b: string, most: number): number {
  let before: readonly number[] = []
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const least = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + Number(!same))
      current.push(swapped ? Math.min(least, at(before, column - 2) + 1) : least)
    }
    if (Math.min(...last, ...current) > most) return most + 1
    before = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
