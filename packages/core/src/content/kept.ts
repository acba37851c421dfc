import { LRUCache } from 'lru-cache'

/** Something that others write to. */
export interface Revised {
  /**
   * A number that has risen whenever what a read would find may have changed, by a write of another process too. It must be told at once
   * and cheaply; absent where that cannot be done.
   *
   * @throws {OperationError} as a read would.
   */
  readonly revision?: (() => number) | undefined
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
 * @returns Gives what is kept at present: another, empty one after a change, so that what is made meanwhile is kept where nobody looks for
 *   it. `undefined` when one of the watched has no `revision`.
 */
export function keptWhile(watched: readonly Revised[]): () => Kept | undefined {
  // Things of one database tell the same.
  const revisions = new Set(watched.map(({ revision }) => revision))
  let kept: Kept = new LRUCache<string, object>({ max: MOST })
  let seen: number | undefined
  return () => {
    let now = 0
    for (const revision of revisions) {
      if (revision === undefined) return undefined
      now += revision()
    }
    if (now !== seen) kept = new LRUCache<string, object>({ max: MOST })
    seen = now
    return kept
  }
}
