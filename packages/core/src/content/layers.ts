import type { JsonObject } from '../json/index.js'
import { definitionKeys, definitionOf, definitionParam } from './definition.js'
import type { ContentLayer, Definition } from './layer.js'
import { allMatches, LONG_TEXT, type Condition, type Storage, type StoredResource } from '../storage/index.js'

/** Creates a layer of the definitions that came with a request (`tx-resource`, inline resources). They have no key, so nothing is cached beyond the request. */
export function requestLayer(resources: readonly JsonObject[]): ContentLayer {
  const found = new Map<string, Definition[]>()
  const fromRequest = new Map<string, Set<string>>()
  const add = (type: string, url: string): void => void fromRequest.set(type, (fromRequest.get(type) ?? new Set()).add(url))
  for (const resource of resources) {
    const stated = definitionOf(resource)
    if (stated === undefined) continue
    const definition = { ...stated, isFromRequest: true } as const
    for (const [key, value] of definitionKeys(resource)) {
      const place = `${definition.type} ${key} ${value}`
      const others = found.get(place)
      if (others === undefined) found.set(place, [definition])
      else others.push(definition)
      // A code system is also found as the value set of all its codes.
      if (key === 'value-set') add('ValueSet', value)
    }
    add(definition.type, definition.url)
  }
  return { find: (type, by, value) => Promise.resolve(found.get(`${type} ${by} ${value}`) ?? []), fromRequest }
}

/**
 * Creates a content layer of the definitions in a storage.
 *
 * @param name Identifies the storage in cache keys; storages that share a cache need different names.
 * @param parsed Parses a stored resource; by default in one go.
 */
export function storageLayer(storage: Storage, name: string, parsed: Parser = ({ resource }) => resource): ContentLayer {
  /** Definitions with long texts, which would otherwise be parsed at every search. */
  const known = new WeakMap<StoredResource, Definition>()
  const storedDefinition = async (stored: StoredResource): Promise<Definition | undefined> => {
    const found = known.get(stored)
    if (found !== undefined) return found
    const key = `${name}:${stored.type}/${stored.id}/${stored.versionId}`
    const resource = await parsed(stored)
    if (stored.text.length <= LONG_TEXT) return definitionOf(resource, key)
    const definition = longDefinition(stored, resource, key)
    if (definition !== undefined) known.set(stored, definition)
    return definition
  }
  const definitionsOf = async (type: string, where: Condition): Promise<readonly Definition[]> => {
    const found: Definition[] = []
    for await (const stored of allMatches(storage, { type, where })) {
      const definition = await storedDefinition(stored)
      if (definition !== undefined) found.push(definition)
    }
    return found
  }
  return {
    all: (type) => definitionsOf(type, { kind: 'and', conditions: [] }),
    find(type, by, value) {
      const where = { kind: 'entry', param: definitionParam(by), all: [{ field: 'value', op: 'eq', operand: value }] } as const
      return definitionsOf(type, where)
    },
    revision: storage.revision,
  }
}

/** Returns the parsed resource. */
type Parser = (stored: StoredResource) => JsonObject | Promise<JsonObject>

/** For each type, the list that engines turn into an index with all its content. */
const INDEXED: ReadonlyMap<string, string> = new Map([
  ['CodeSystem', 'concept'],
  ['ConceptMap', 'group'],
])

/** Creates a definition that does not hold the parsed list, where an index replaces it. */
function longDefinition(stored: StoredResource, resource: JsonObject, key: string): Definition | undefined {
  const list = INDEXED.get(stored.type)
  if (list === undefined) return definitionOf(resource, key)
  const { [list]: _indexed, ...head } = resource
  const definition = definitionOf(head, key)
  if (definition === undefined) return undefined
  return {
    ...definition,
    head,
    get resource() {
      return stored.resource
    },
    parsing: stored.parsing,
  }
}
