import { formatCanonical, type Definition } from '../content/index.js'
import { cached, type CacheKind, type OperationContext } from '../context/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'

/** A ConceptMap made ready for lookups by code. */
export interface MapIndex {
  readonly url: string | undefined
  readonly version: string | undefined
  /** `url|version`; `undefined` without a url. */
  readonly canonical: string | undefined
  /** Canonicals of the value sets that the map goes from and to. */
  readonly source: string | undefined
  readonly target: string | undefined
  readonly groups: readonly GroupIndex[]
}

/** One group of a map: all mappings from one system to another. */
export interface GroupIndex {
  /** Number of codes that have an element. */
  readonly elements: number
  readonly forward: Direction
  /** From target to source; indexed when first used. */
  readonly backward: Direction
  readonly unmapped: JsonObject | undefined
}

/** A group's mappings seen from one of its two sides. */
export interface Direction {
  /** System of the codes that mappings are found by; `undefined` when the map leaves it open. */
  readonly from: string | undefined
  readonly fromVersion: string | undefined
  readonly to: string | undefined
  readonly toVersion: string | undefined
  /** All mappings of a code, in the map's order. */
  readonly find: (code: string) => readonly Mapping[]
  /** Every code that has a mapping. */
  readonly codes: () => Iterable<string>
}

/** One target of one element. */
export interface Mapping {
  readonly element: JsonObject
  readonly target: JsonObject
}

const MAP_INDEX: CacheKind<MapIndex> = {
  name: 'concept-map',
  is: isMapIndex,
  bytes: (index) => 1_000 + BYTES_PER_ELEMENT * index.groups.reduce((sum, group) => sum + group.elements, 0),
  make: (definition) => indexOf(definition.resource),
}

/** Measured over a map of 100,000 elements with one target and two displays each: what was parsed and both directions. */
const BYTES_PER_ELEMENT = 500

/** Recognises an index among what is kept. */
export function isMapIndex(value: object): value is MapIndex {
  return 'groups' in value
}

/** The index of a map, made once for each stored version. Parts of the map that have not the shape of R4 are passed over. */
export function mapIndex(ctx: OperationContext, definition: Definition): MapIndex {
  return cached(ctx.cache, MAP_INDEX, definition)
}

function indexOf(map: JsonObject): MapIndex {
  const url = stringAt(map, 'url')
  const version = stringAt(map, 'version')
  return {
    url,
    version,
    canonical: url === undefined ? undefined : formatCanonical(url, version),
    source: stringAt(map, 'sourceCanonical') ?? stringAt(map, 'sourceUri'),
    target: stringAt(map, 'targetCanonical') ?? stringAt(map, 'targetUri'),
    groups: objectsAt(map, 'group').map(groupIndex),
  }
}

function groupIndex(group: JsonObject): GroupIndex {
  const [source, sourceVersion, target, targetVersion] = ['source', 'sourceVersion', 'target', 'targetVersion'].map((name) =>
    stringAt(group, name),
  )
  const elements = elementsByCode(group)
  let byTarget: ReadonlyMap<string, readonly Mapping[]> | undefined
  return {
    elements: elements.size,
    forward: {
      from: source,
      fromVersion: sourceVersion,
      to: target,
      toVersion: targetVersion,
      find: (code) => (elements.get(code) ?? []).flatMap(mappingsOf),
      codes: () => elements.keys(),
    },
    backward: {
      from: target,
      fromVersion: targetVersion,
      to: source,
      toVersion: sourceVersion,
      find: (code) => (byTarget ??= mappingsByTarget(elements)).get(code) ?? [],
      codes: () => (byTarget ??= mappingsByTarget(elements)).keys(),
    },
    unmapped: objectAt(group, 'unmapped'),
  }
}

function elementsByCode(group: JsonObject): ReadonlyMap<string, readonly JsonObject[]> {
  const found = new Map<string, JsonObject[]>()
  for (const element of objectsAt(group, 'element')) add(found, stringAt(element, 'code'), element)
  return found
}

function mappingsByTarget(elements: ReadonlyMap<string, readonly JsonObject[]>): ReadonlyMap<string, readonly Mapping[]> {
  const found = new Map<string, Mapping[]>()
  for (const same of elements.values()) {
    for (const mapping of same.flatMap(mappingsOf)) add(found, stringAt(mapping.target, 'code'), mapping)
  }
  return found
}

function add<T>(found: Map<string, T[]>, code: string | undefined, value: T): void {
  if (code === undefined) return
  const same = found.get(code)
  if (same === undefined) found.set(code, [value])
  else same.push(value)
}

function mappingsOf(element: JsonObject): readonly Mapping[] {
  return objectsAt(element, 'target').map((target) => ({ element, target }))
}
