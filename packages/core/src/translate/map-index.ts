import { formatCanonical, type Definition } from '../content/index.js'
import { cached, type CacheKind, type OperationContext } from '../context/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'

/** A ConceptMap made ready for lookups by code. */
export interface MapIndex {
  readonly url?: string
  readonly version?: string
  /** `url|version`. */
  readonly canonical?: string
  readonly status?: string
  /** Canonicals of the value sets that the map goes from and to. */
  readonly source?: string
  readonly target?: string
  readonly groups: readonly GroupIndex[]
}

/** One group of a map: all mappings from one system to another. */
export interface GroupIndex {
  /** Number of codes that have an element. */
  readonly elements: number
  readonly forward: Direction
  /** From target to source; indexed when first used. */
  readonly backward: Direction
  readonly unmapped?: JsonObject
}

/** A group's mappings seen from one of its two sides. */
export interface Direction {
  /** System of the codes that mappings are found by; absent when the map leaves it open. */
  readonly from?: string
  readonly fromVersion?: string
  readonly to?: string
  readonly toVersion?: string
  /** All mappings of a code, in the map's order. */
  readonly find: (code: string) => readonly Mapping[]
}

/** One target of one element. */
export interface Mapping {
  readonly element: JsonObject
  readonly target: JsonObject
}

const MAP_INDEX: CacheKind<MapIndex> = {
  name: 'concept-map',
  is: (value): value is MapIndex => 'groups' in value,
  bytes: (index) => 1_000 + BYTES_PER_ELEMENT * index.groups.reduce((sum, group) => sum + group.elements, 0),
  make: (definition) => indexOf(definition.resource),
}

/** Measured over a map of 100,000 elements with one target and a display each, both directions indexed. */
const BYTES_PER_ELEMENT = 800

/** The index of a map, made once for each stored version. Parts of the map that have not the shape of R4 are passed over. */
export function mapIndex(ctx: OperationContext, definition: Definition): MapIndex {
  return cached(ctx.cache, MAP_INDEX, definition)
}

function indexOf(map: JsonObject): MapIndex {
  const url = stringAt(map, 'url')
  const version = stringAt(map, 'version')
  return {
    ...texts(map, { status: 'status' }),
    ...(url !== undefined && { url, canonical: formatCanonical(url, version) }),
    ...(version !== undefined && { version }),
    ...texts(map, { source: 'sourceUri', target: 'targetUri' }),
    ...texts(map, { source: 'sourceCanonical', target: 'targetCanonical' }),
    groups: objectsAt(map, 'group').map(groupIndex),
  }
}

function groupIndex(group: JsonObject): GroupIndex {
  const elements = byCode(objectsAt(group, 'element').map((element) => [stringAt(element, 'code'), element]))
  const unmapped = objectAt(group, 'unmapped')
  let targets: ReadonlyMap<string, readonly Mapping[]> | undefined
  return {
    elements: elements.size,
    forward: {
      ...texts(group, { from: 'source', fromVersion: 'sourceVersion', to: 'target', toVersion: 'targetVersion' }),
      find: (code) => (elements.get(code) ?? []).flatMap(mappingsOf),
    },
    backward: {
      ...texts(group, { from: 'target', fromVersion: 'targetVersion', to: 'source', toVersion: 'sourceVersion' }),
      find: (code) => (targets ??= byCode([...elements.values()].flat().flatMap(mappingsOf).map(withTargetCode))).get(code) ?? [],
    },
    ...(unmapped !== undefined && { unmapped }),
  }
}

function mappingsOf(element: JsonObject): readonly Mapping[] {
  return objectsAt(element, 'target').map((target) => ({ element, target }))
}

function withTargetCode(mapping: Mapping): readonly [string | undefined, Mapping] {
  return [stringAt(mapping.target, 'code'), mapping]
}

function byCode<T>(pairs: readonly (readonly [string | undefined, T])[]): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>()
  for (const [code, value] of pairs) {
    if (code === undefined) continue
    const same = found.get(code)
    if (same === undefined) found.set(code, [value])
    else same.push(value)
  }
  return found
}

/** The text members of an object under new names; those that are absent stay absent. */
function texts<K extends string>(object: JsonObject, members: Readonly<Record<K, string>>): { readonly [name in K]?: string } {
  const found: { [name in K]?: string } = {}
  for (const name of keysOf(members)) {
    const value = stringAt(object, members[name])
    if (value !== undefined) found[name] = value
  }
  return found
}

function keysOf<K extends string>(object: Readonly<Record<K, string>>): readonly K[] {
  return Object.keys(object).filter((key): key is K => Object.hasOwn(object, key))
}
