import { stringAt, isObject, objectsAt, type JsonObject } from '../json/index.js'
import type { Definition, DefinitionKey } from './layer.js'
import { DEFINITION_PARAM, type IndexEntry } from '../storage/index.js'

/** Describes a resource as a definition; `undefined` when it has no url. */
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

/** Members of a definition, perhaps without its long list of concepts or mappings. */
export function headOf(definition: Definition): JsonObject {
  return definition.head ?? definition.resource
}

/** Members whose value, without version, is a key of the definition, by type. `url` is a key of every type. */
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

/** Lists the members of all types whose values are keys, besides `url`. */
export function keyMembers(): readonly string[] {
  return MEMBERS.values()
    .flatMap((keys) => keys.map(([, member]) => member))
    .toArray()
}

/** Lists the keys under which a resource can be found, each with its value. */
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

/** Lists the OIDs among the identifiers of a code system. */
export function oids(system: JsonObject): readonly (readonly ['identifier', string])[] {
  const values = new Set(objectsAt(system, 'identifier').map((identifier) => stringAt(identifier, 'value')))
  return [...values].flatMap((value) => (value?.startsWith('urn:oid:') === true ? [['identifier', value] as const] : []))
}

/** Creates the index entries by which a storage finds a definition; the indexer adds them to those of the search parameters. */
export function definitionEntries(resource: unknown): readonly IndexEntry[] {
  if (!isObject(resource)) return []
  return definitionKeys(resource).map(([key, value]) => ({ param: definitionParam(key), value }))
}

/** Returns the parameter name of the index entries for a key. */
export function definitionParam(key: DefinitionKey): string {
  return DEFINITION_PARAM + key
}

/** The parts of a canonical reference, `url|version#fragment`. Code that finds a definition by url and version must use or refuse the fragment. */
export interface Canonical {
  readonly url: string
  readonly version?: string
  /** Id of a contained resource. */
  readonly fragment?: string
}

/** Splits a canonical reference into its parts. @see https://hl7.org/fhir/R4/references.html#canonical */
export function canonicalOf(text: string): Canonical {
  const bar = text.indexOf('|')
  const hash = text.indexOf('#', Math.max(bar, 0))
  const end = hash < 0 ? text.length : hash
  const version = bar < 0 ? '' : text.slice(bar + 1, end)
  return {
    url: text.slice(0, bar < 0 ? end : bar),
    ...(version !== '' && { version }),
    ...(hash >= 0 && { fragment: text.slice(hash + 1) }),
  }
}

/** Removes the version from a canonical and keeps its fragment: `url` or `url#fragment`. */
export function withoutVersion(canonical: string): string {
  const { url, fragment } = canonicalOf(canonical)
  return fragment === undefined ? url : `${url}#${fragment}`
}

/** Returns `url|version`, or the url alone when there is no version. */
export function formatCanonical(url: string, version: string | undefined): string {
  return version === undefined ? url : `${url}|${version}`
}
