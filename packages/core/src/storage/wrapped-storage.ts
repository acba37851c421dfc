import type { Storage } from './storage.js'

/** Every member of `Storage`, also those that a storage may leave out: a storage over another one decides on each of them. */
export type StorageMembers = { readonly [Member in keyof Required<Storage>]: Storage[Member] }

/**
 * A storage over another one. A member that is added to `Storage` must be named wherever this is called, or the call does not compile: so no
 * wrapper drops it silently.
 *
 * @param members `undefined` for an optional member that the storage does not have.
 */
export function wrappedStorage({ history, revision, scan, changes, ...members }: StorageMembers): Storage {
  return {
    ...members,
    ...(history !== undefined && { history }),
    ...(revision !== undefined && { revision }),
    ...(scan !== undefined && { scan }),
    ...(changes !== undefined && { changes }),
  }
}
