import { quoted } from '../errors/index.js'
import { distancesFrom } from './distances.js'

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

/** The one of the suggestions that differs from the word only in upper and lower case; `undefined` when there is none, or several. */
export function otherCase(word: string, suggestions: readonly string[]): string | undefined {
  const [only, ...more] = suggestions.filter((one) => one.toLowerCase() === word.toLowerCase())
  return more.length > 0 ? undefined : only
}

/** `Did you mean 'a' or 'b'?`; `undefined` when there is nothing to suggest. */
export function didYouMean(suggestions: readonly string[]): string | undefined {
  return suggestions.length === 0 ? undefined : `Did you mean ${suggestions.map(quoted).join(' or ')}?`
}
