import { LRUCache } from 'lru-cache'

/** Something that others write to. */
export interface Revised {
  /**
   * A number that has risen whenever what a read would find may have changed, by a write of another process too. It costs one question at
   * most; absent where that cannot be done.
   *
   * @throws {OperationError} as a read would.
   */
  readonly revision?: (() => number | Promise<number>) | undefined
}

/** What was made of definitions, by names that say how. */
export interface Kept {
  get(name: string): object | undefined
  set(name: string, value: object): void
}

/** A bound on the names, which requests may choose. */
const MOST = 1_000

/**
 * Keeps things for as long as nothing that they were made of has changed.
 *
 * @returns Gives what is kept at present: another, empty one after a change, so that what is made meanwhile is not found later. `undefined` when one
 *   of the watched has no `revision`.
 */
export function keptWhile(watched: readonly Revised[]): () => Kept | undefined | Promise<Kept> {
  // Parts of one database have the same revision.
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
