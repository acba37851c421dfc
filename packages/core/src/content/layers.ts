import type { JsonObject } from '../json/index.js'
import { definitionKeys, definitionOf, definitionParam } from './definition.js'
import type { ContentLayer, Definition } from './layer.js'
import { allMatches, LONG_TEXT, type Condition, type Storage, type StoredResource } from '../storage/index.js'

/** Definitions that came with one request (`tx-resource`, inline resources). They have no key, so nothing of them is cached beyond it. */
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
      // A code system can be found as the value set of all its codes.
      if (key === 'value-set') add('ValueSet', value)
    }
    add(definition.type, definition.url)
  }
  return { find: (type, by, value) => Promise.resolve(found.get(`${type} ${by} ${value}`) ?? []), fromRequest }
}

/**
 * Makes a content layer of the definitions in a storage.
 *
 * @param name Identity of the storage in cache keys; two storages that share a cache need two names.
 * @param parsed How texts are parsed; default in one go.
 */
export function storageLayer(storage: Storage, name = 'storage', parsed: Parser = ({ resource }) => resource): ContentLayer {
  /** Of long texts, which would be parsed again to be found again. */
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

/** Gives the parsed resource. */
type Parser = (stored: StoredResource) => JsonObject | Promise<JsonObject>

/** The list of a type of which an index is made that has all of it. */
const INDEXED: ReadonlyMap<string, string> = new Map([
  ['CodeSystem', 'concept'],
  ['ConceptMap', 'group'],
])

/** The definition, without what was parsed where an index of it takes its place. */
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
