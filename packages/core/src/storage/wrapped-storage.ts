import type { Storage } from './storage.js'

/** Every member of `Storage`, including the optional ones, so that a wrapper decides about each of them. */
export type StorageMembers = { readonly [Member in keyof Required<Storage>]: Storage[Member] }

/**
 * Creates a storage that wraps another one. A member added to `Storage` must be named in every call, or the call does not compile, so that no
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
