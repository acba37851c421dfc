import type { SearchQuery, Storage, StoredResource } from '../storage/index.js'
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
      const stored = await everyMatch(storage, { type, where })
      return stored.flatMap((item) => definitionIn(item, name))
    },
  }
}

async function everyMatch(storage: Storage, query: SearchQuery): Promise<readonly StoredResource[]> {
  const found: StoredResource[] = []
  let after: string | undefined
  do {
    const page = await storage.search({ ...query, ...(after !== undefined && { after }) })
    found.push(...page.items)
    after = page.next
  } while (after !== undefined)
  return found
}

function definitionIn(stored: StoredResource, name: string): readonly Definition[] {
  const definition = definitionOf(stored.resource, `${name}:${stored.type}/${stored.id}/${stored.versionId}`)
  return definition === undefined ? [] : [definition]
}
