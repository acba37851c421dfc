import { distancesFrom } from '../../text/index.js'
import { foldTerm } from '../words.js'
import type { Work } from '../../work/index.js'

/** Something that may be meant by what was written. */
export interface Candidate<T> {
  readonly text: string
  readonly item: T
}

/** A candidate that is much like what was written. */
export interface NearItem<T> {
  readonly item: T
  readonly distance: number
}

const MOST_ITEMS = 5
const MOST_ERRORS = 4
/** Candidates that are looked at. */
const BUDGET = 500_000
const LONGEST = 200
const STEPS = 1_024

/**
 * The candidates that are written most alike, at most five, first those with the fewest errors, then in their order. A third of the letters
 * may be wrong, at most four; case and accents do not count. Of what was written 200 characters count, of the candidates the first 500,000.
 */
export function* nearestOf<T>(written: string, candidates: Iterable<Candidate<T>>): Work<readonly NearItem<T>[]> {
  const wanted = foldTerm(written.slice(0, LONGEST))
  const most = Math.min(MOST_ERRORS, Math.max(1, Math.floor(wanted.length / 3)))
  const byDistance = Array.from({ length: most + 1 }, (): NearItem<T>[] => [])
  const distanceTo = distancesFrom(wanted, most)
  let seen = 0
  for (const { text, item } of candidates) {
    if (++seen > BUDGET) break
    if (seen % STEPS === 0) yield
    if (Math.abs(text.length - wanted.length) > most) continue
    const distance = distanceTo(foldTerm(text))
    const alike = byDistance[distance]
    if (alike !== undefined && alike.length < MOST_ITEMS) alike.push({ item, distance })
  }
  return byDistance.flat()
}
