import { formatCanonical, type Definition } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { cachedWork, longKind, type CachedKind } from '../terminology/index.js'
import { malformedPlace } from './malformed-map.js'
import { finished, sharedWork, type Work } from '../work/index.js'

/** A ConceptMap indexed for lookups by code. */
export interface MapIndex {
  readonly url: string | undefined
  readonly version: string | undefined
  /** `url|version`; `undefined` without a url. */
  readonly canonical: string | undefined
  /** Canonicals of the value sets that the map goes from and to. */
  readonly source: string | undefined
  readonly target: string | undefined
  readonly groups: readonly GroupIndex[]
  /** FHIRPath of the first element that does not have the shape of R4; `translate` refuses the map then. */
  readonly malformed: string | undefined
}

/** One group of a map: all mappings from one system to another. */
export interface GroupIndex {
  /** FHIRPath in its map: `ConceptMap.group[0]`. */
  readonly path: string
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
  /** Builds what `find` and `codes` need, while other work runs in between; absent where it is already built. */
  readonly build?: () => Work<unknown>
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

const KIND: CachedKind<MapIndex> = longKind({
  name: 'concept-map',
  bytes: (index) => 1_000 + BYTES_PER_ELEMENT * index.groups.reduce((sum, group) => sum + group.elements, 0),
  make: indexOf,
})

/** Measured over a map of 100,000 elements with one target and two displays each: what was parsed and both directions. */
const BYTES_PER_ELEMENT = 500

/** The index of a map, made once for each stored version. */
export function mapIndex(ctx: OperationContext, definition: Definition): Promise<MapIndex> {
  return cachedWork(ctx, KIND, definition)
}

function* indexOf(map: JsonObject): Work<MapIndex> {
  const url = stringAt(map, 'url')
  const version = stringAt(map, 'version')
  const groups: GroupIndex[] = []
  for (const [i, group] of objectsAt(map, 'group').entries())
    groups.push({ path: `ConceptMap.group[${i}]`, ...groupIndex(group, yield* elementsBySource(group)) })
  return {
    url,
    version,
    canonical: url === undefined ? undefined : formatCanonical(url, version),
    source: stringAt(map, 'sourceCanonical') ?? stringAt(map, 'sourceUri'),
    target: stringAt(map, 'targetCanonical') ?? stringAt(map, 'targetUri'),
    groups,
    malformed: yield* malformedPlace(map),
  }
}

function groupIndex(group: JsonObject, bySource: Elements): Omit<GroupIndex, 'path'> {
  const [source, sourceVersion, target, targetVersion] = ['source', 'sourceVersion', 'target', 'targetVersion'].map((name) =>
    stringAt(group, name),
  )
  const byTarget = sharedWork(() => mappingsByTarget(bySource))
  return {
    elements: bySource.size,
    forward: {
      from: source,
      fromVersion: sourceVersion,
      to: target,
      toVersion: targetVersion,
      find: (code) => mappingsOf(bySource.get(code)),
      codes: () => bySource.keys(),
    },
    backward: {
      from: target,
      fromVersion: targetVersion,
      to: source,
      toVersion: sourceVersion,
      build: byTarget,
      find: (code) => finished(byTarget()).get(code) ?? [],
      codes: () => finished(byTarget()).keys(),
    },
    unmapped: objectAt(group, 'unmapped'),
  }
}

const STEPS = 256

/** Elements by code. Most codes have one, which takes no list of its own; its targets are listed when it is found. */
type Elements = ReadonlyMap<string, JsonObject | JsonObject[]>

function* elementsBySource(group: JsonObject): Work<Elements> {
  const found = new Map<string, JsonObject | JsonObject[]>()
  for (const [i, element] of objectsAt(group, 'element').entries()) {
    if (i % STEPS === 0) yield
    const code = stringAt(element, 'code')
    if (code === undefined) continue
    const known = found.get(code)
    if (known === undefined) found.set(code, element)
    else if (isObject(known)) found.set(code, [known, element])
    else known.push(element)
  }
  return found
}

function mappingsOf(found: JsonObject | JsonObject[] | undefined): readonly Mapping[] {
  if (found === undefined) return []
  return isObject(found) ? mappingsIn(found) : found.flatMap(mappingsIn)
}

function mappingsIn(element: JsonObject): readonly Mapping[] {
  return objectsAt(element, 'target').map((target) => ({ element, target }))
}

function* mappingsByTarget(bySource: Elements): Work<ReadonlyMap<string, readonly Mapping[]>> {
  const found = new Map<string, Mapping[]>()
  let step = 0
  for (const elements of bySource.values()) {
    for (const mapping of mappingsOf(elements)) {
      if (step++ % STEPS === 0) yield
      const code = stringAt(mapping.target, 'code')
      if (code === undefined) continue
      const mappings = found.get(code)
      if (mappings === undefined) found.set(code, [mapping])
      else mappings.push(mapping)
    }
  }
  return found
}
