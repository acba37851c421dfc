import type { JsonObject } from '../json/index.js'
import { allMatches, type Storage, type StoredResource } from '../storage/index.js'
import { definitionParam } from './definition-keys.js'
import { definitionOf } from './definition.js'
import type { ContentLayer, Definition } from './layer.js'

/**
 * The definitions of a storage.
 *
 * @param name Identity of the storage in cache keys; two storages that share a cache need two names.
 * @param parsed How texts are parsed; default in one go.
 */
export function storageLayer(storage: Storage, name = 'storage', parsed: Parser = ({ resource }) => resource): ContentLayer {
  return {
    async find(type, by, value) {
      const where = { kind: 'entry', param: definitionParam(by), all: [{ field: 'value', op: 'eq', operand: value }] } as const
      const found: Definition[] = []
      for await (const stored of allMatches(storage, { type, where })) {
        const definition = definitionOf(await parsed(stored), `${name}:${stored.type}/${stored.id}/${stored.versionId}`)
        if (definition !== undefined) found.push(definition)
      }
      return found
    },
    revision: storage.revision,
  }
}

/** Gives the parsed resource. */
type Parser = (stored: StoredResource) => JsonObject | Promise<JsonObject>
