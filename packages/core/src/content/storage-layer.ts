import { allMatches, type Storage, type StoredResource } from '../storage/index.js'
import { definitionParam } from './definition-keys.js'
import { definitionOf } from './definition.js'
import type { ContentLayer, Definition } from './layer.js'

/**
 * The definitions of a storage.
 *
 * @param name Identity of the storage in cache keys; two storages that share a cache need two names.
 */
export function storageLayer(storage: Storage, name = 'storage'): ContentLayer {
  return {
    async find(type, by, value) {
      const where = { kind: 'entry', param: definitionParam(by), all: [{ field: 'value', op: 'eq', operand: value }] } as const
      const found: Definition[] = []
      for await (const stored of allMatches(storage, { type, where })) found.push(...definitionIn(stored, name))
      return found
    },
    revision: storage.revision,
  }
}

function definitionIn(stored: StoredResource, name: string): readonly Definition[] {
  const definition = definitionOf(stored.resource, `${name}:${stored.type}/${stored.id}/${stored.versionId}`)
  return definition === undefined ? [] : [definition]
}
