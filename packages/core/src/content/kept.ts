import { LRUCache } from 'lru-cache'

/** A source whose content may change. */
export interface Revised {
  /**
   * A number that increases whenever the result of a read may have changed, also by a write of another process. Costs at most one query;
   * absent where that is not possible.
   *
   * @throws {OperationError} as a read would.
   */
  readonly revision?: (() => number | Promise<number>) | undefined
}

/** Results that were derived from definitions, by a name that identifies the computation. */
export interface Kept {
  get(name: string): object | undefined
  set(name: string, value: object): void
}

/** Maximum number of names; requests may choose names. */
const MOST = 1_000

/**
 * Keeps derived results for as long as their sources have not changed.
 *
 * @returns A function that returns the current results: a new, empty object after a change, so that results computed during the change are not
 *   found later. `undefined` when one of the sources has no `revision`.
 */
export function keptWhile(watched: readonly Revised[]): () => Kept | undefined | Promise<Kept> {
  // Parts of one database share a revision function.
  const revisions = [...new Set(watched.map(({ revision }) => revision))]
  const known = revisions.filter((revision) => revision !== undefined)
  let kept: Kept | undefined
  let seen: readonly number[] = []
  const keptAt = (numbers: readonly number[]): Kept => {
    if (kept === undefined || numbers.some((number, i) => number !== seen[i])) kept = new LRUCache<string, object>({ max: MOST })
    seen = numbers
    return kept
  }
  return () => {
    if (known.length < revisions.length) return undefined
    const numbers = known.map((revision) => revision())
    return numbers.every((one) => typeof one === 'number') ? keptAt(numbers) : Promise.all(numbers.map(async (one) => one)).then(keptAt)
  }
}
