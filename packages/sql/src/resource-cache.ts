import { LRUCache } from 'lru-cache'
import type { StoredResource } from 'fhir-ops/storage'
import { resourceOf, type ResourceRow } from './rows.js'

/**
 * A cache of recently read resources, so that a large one is read and parsed once. The database is still asked for the current version each time; only its
 * text is not read again.
 */
export interface ResourceCache {
  lookUp(type: string): LookUp
}

/** Access to the cache during one call. */
export interface LookUp {
  /** Returns the cached version, which the database compares with the current one. */
  readonly versionOf: (id: string) => number | undefined
  /** Returns the resource of a row; the cached one if the row has no text. */
  readonly resource: (row: ResourceRow) => StoredResource
}

/** Weight of an entry in addition to its text, in characters. */
const ENTRY_OVERHEAD = 500

/** Limits of a cache. */
export interface ResourceCacheBounds {
  /** Maximum total length of the texts; 0 disables the cache. */
  readonly maxCharacters: number
  /** Minimum length of a text to be cached. Default 0. */
  readonly fromCharacters?: number
}

/** Creates a cache that discards the least recently used resources. */
export function createResourceCache({ maxCharacters, fromCharacters = 0 }: ResourceCacheBounds): ResourceCache {
  const kept = maxCharacters === 0 ? undefined : new LRUCache<string, StoredResource>({ maxSize: maxCharacters })
  return {
    lookUp(type) {
      const atHand = new Map<string, StoredResource>()
      return {
        versionOf(id) {
          const found = kept?.get(`${type}/${id}`)
          if (found === undefined) return undefined
          atHand.set(id, found)
          return Number(found.versionId)
        },
        resource(row) {
          const found = row.text === undefined ? atHand.get(row.id) : undefined
          if (found !== undefined) return found
          const resource = resourceOf(type, row)
          const characters = row.text?.length ?? 0
          if (characters >= fromCharacters) kept?.set(`${type}/${row.id}`, resource, { size: characters + ENTRY_OVERHEAD })
          return resource
        },
      }
    },
  }
}
