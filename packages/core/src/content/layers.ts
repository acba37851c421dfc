import { checkHas } from '../errors/index.js'
import { LRUCache } from 'lru-cache'
import { isObject, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import {
  DEFINITION_PARAM,
  LONG_TEXT,
  allMatches,
  type Condition,
  type IndexEntry,
  type Storage,
  type StoredResource,
} from '../storage/index.js'
import type { Work } from '../work/index.js'

/** A conformance or terminology resource that engines look up by canonical. */
export interface Definition {
  readonly type: string
  /** The id of the resource, where it is known before the resource is parsed. */
  readonly id?: string
  readonly url: string
  readonly version?: string
  /** `draft`, `active`, `retired` or `unknown`. */
  readonly status: string
  /** The same key always means the same content, so results derived from the definition may be cached under it. Absent for definitions of a request. */
  readonly key?: string
  /** True for a definition of the FHIR release itself: definitions of packages and of the host replace it, whatever their versions. */
  readonly isOfRelease?: true
  /** True for a definition that came with a request: where no version is requested, it replaces all others, whatever their versions. */
  readonly isFromRequest?: true
  /** Parsed at first use; where there is a `head`, it may be parsed again after a time without use. */
  readonly resource: JsonObject
  /** The resource without its long list of concepts or mappings; present where only an index of that list is kept. */
  readonly head?: JsonObject
  /** Parses the resource in steps, where it may be long and has not been parsed yet. */
  readonly parsing?: (() => Work<JsonObject>) | undefined
}

/**
 * Keys by which definitions are found: their own url, a canonical that they refer to, the type of resource that a guide has a global profile for, or an
 * OID (`urn:oid:...`) of a code system.
 */
export type DefinitionKey = 'url' | 'source' | 'target' | 'supplements' | 'value-set' | 'base' | 'type' | 'global' | 'identifier'

/** A source of definitions. The layers of a request are searched in order. */
export interface ContentLayer extends Revised {
  /** Returns all definitions of the type with `value` under the key `by`, in a stable order; versions are not compared. */
  find(type: string, by: DefinitionKey, value: string): Promise<readonly Definition[]>
  /** Returns all definitions of the type, in a stable order, except those that are created on request from a canonical; absent where they cannot be listed. */
  all?(type: string): Promise<readonly Definition[]>
  /** The definitions that came with a request, so that engines can tell which results they do not affect. */
  readonly fromRequest?: RequestDefinitions | undefined
}

/** Urls of definitions, by type. */
export type RequestDefinitions = ReadonlyMap<string, ReadonlySet<string>>

/** A source whose content may change. */
export interface Revised {
  /**
   * A number that increases whenever the result of a read may have changed, also by a write of another process. Costs at most one query;
   * absent where that is not possible.
   *
   * @throws {OperationError} as a read would.
   */
  readonly revision?: (() => number | Promise<number>) | undefined
}

/** Results that were derived from definitions, by a name that identifies the computation. */
export interface Kept {
  get(name: string): object | undefined
  set(name: string, value: object): void
}

/** Maximum number of names; requests may choose names. */
const MOST = 1_000

/**
 * Keeps derived results for as long as their sources have not changed.
 *
 * @returns A function that returns the current results: a new, empty object after a change, so that results computed during the change are not
 *   found later. `undefined` when one of the sources has no `revision`.
 */
export function keptWhile(watched: readonly Revised[]): () => Kept | undefined | Promise<Kept> {
  // Parts of one database share a revision function.
  const revisions = [...new Set(watched.map(({ revision }) => revision))]
  const known = revisions.filter((revision) => revision !== undefined)
  let kept: Kept | undefined
  let seen: readonly number[] = []
  const keptAt = (numbers: readonly number[]): Kept => {
    if (kept === undefined || numbers.some((number, i) => number !== seen[i])) kept = new LRUCache<string, object>({ max: MOST })
    seen = numbers
    return kept
  }
  return () => {
    if (known.length < revisions.length) return undefined
    const numbers = known.map((revision) => revision())
    return numbers.every((one) => typeof one === 'number') ? keptAt(numbers) : Promise.all(numbers.map(async (one) => one)).then(keptAt)
  }
}

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
  checkHas('The storage', storage, ['read', 'search'])
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
