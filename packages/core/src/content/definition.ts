import { stringAt, isObject, objectsAt, type JsonObject } from '../json/index.js'
import type { Definition, DefinitionKey } from './layer.js'
import { DEFINITION_PARAM, type IndexEntry } from '../storage/index.js'
import { canonicalOf } from './canonical.js'

/** The definition that a resource is; `undefined` when it has no url. */
export function definitionOf(resource: JsonObject, key?: string): Definition | undefined {
  const url = stringAt(resource, 'url')
  const type = stringAt(resource, 'resourceType')
  if (url === undefined || type === undefined) return undefined
  const version = stringAt(resource, 'version')
  return {
    type,
    url,
    status: stringAt(resource, 'status') ?? 'unknown',
    resource,
    ...(version !== undefined && { version }),
    ...(key !== undefined && { key }),
  }
}

/** What a definition says of itself: its members, perhaps without a long list of concepts or mappings. */
export function headOf(definition: Definition): JsonObject {
  return definition.head ?? definition.resource
}

/** Members whose value, without version, is a key of the definition. Every type with a url has `url`. */
const MEMBERS: ReadonlyMap<string, readonly (readonly [DefinitionKey, string])[]> = new Map([
  [
    'ConceptMap',
    [
      ['source', 'sourceUri'],
      ['source', 'sourceCanonical'],
      ['target', 'targetUri'],
      ['target', 'targetCanonical'],
    ],
  ],
  [
    'CodeSystem',
    [
      ['supplements', 'supplements'],
      ['value-set', 'valueSet'],
    ],
  ],
  [
    'StructureDefinition',
    [
      ['base', 'baseDefinition'],
      ['type', 'type'],
    ],
  ],
])

/** The keys of a resource, each with its value. */
export function definitionKeys(resource: JsonObject): readonly (readonly [DefinitionKey, string])[] {
  const type = stringAt(resource, 'resourceType') ?? ''
  const url = stringAt(resource, 'url')
  if (url === undefined) return []
  const others = (MEMBERS.get(type) ?? []).flatMap(([key, member]): [DefinitionKey, string][] => {
    const value = stringAt(resource, member)
    return value === undefined ? [] : [[key, canonicalOf(value).url]]
  })
  return [
    ['url', url],
    ...others,
    ...(type === 'ImplementationGuide' ? globalTypes(resource) : []),
    ...(type === 'CodeSystem' ? oids(resource) : []),
  ]
}

function globalTypes(guide: JsonObject): readonly (readonly [DefinitionKey, string])[] {
  const types = new Set(objectsAt(guide, 'global').map((global) => stringAt(global, 'type')))
  return [...types].flatMap((type) => (type === undefined ? [] : [['global', type] as const]))
}

/** The OIDs among the identifiers of a code system. */
export function oids(system: JsonObject): readonly (readonly ['identifier', string])[] {
  const values = new Set(objectsAt(system, 'identifier').map((identifier) => stringAt(identifier, 'value')))
  return [...values].flatMap((value) => (value?.startsWith('urn:oid:') === true ? [['identifier', value] as const] : []))
}

/** Index entries under which storage finds a definition; the indexer adds them to those of the search parameters. */
export function definitionEntries(resource: unknown): readonly IndexEntry[] {
  if (!isObject(resource)) return []
  return definitionKeys(resource).map(([key, value]) => ({ param: definitionParam(key), value }))
}

/** Name of the index entries that hold a key. */
export function definitionParam(key: DefinitionKey): string {
  return DEFINITION_PARAM + key
}
