import { checkArgument, checkOptions, FLAG, inputShape, listOf, TEXT, type InputShape, type MemberKind } from '../input/index.js'
import { LRUCache } from 'lru-cache'
import { isBytes, isObject, stringAt, type JsonObject } from '../json/index.js'
import { joinedBytes } from '../text/index.js'
import { definitionKeys, definitionOf, keyMembers, oids, type ContentLayer, type Definition, type DefinitionKey } from './layers.js'

/** Number of recently used definitions that stay parsed. */
const KEPT = 500
const FORMAT = 'fhir-ops-pack '
const MAGIC = `${FORMAT}2 `
const MAX_HEADER = 40

/** The definitions of one resource type. */
interface PackedType {
  readonly resourceType: string
  /** Values of all definitions, in their order, for each member by which they are found and for the status. */
  readonly columns: ReadonlyMap<string, readonly unknown[]>
  /** Offset of each definition, and the end of the last. */
  readonly starts: readonly number[]
  readonly finders: Map<DefinitionKey, PlaceFinder>
}

/**
 * Creates a content layer over a prebuilt pack of definitions. A definition is parsed when it is requested.
 *
 * A pack is UTF-8: the line `fhir-ops-pack 2 <n>`, a table of n bytes, then the content that the table lists. The table is a JSON array with one object
 * per resource type: its name in `type`, the length of its index in `index` and the length of its resources in `resources`. For each type, the index is
 * followed by the resources as compact JSON, one after the other. An index is a JSON object with one list per member by which the resources are found
 * (`id`, `url`, `version`, `status` and key members), and a list of their lengths in `bytes`. The lists have the order of the resources, with null where
 * a resource lacks the member. Such columns are parsed in a quarter of the time that objects take. The index of a type is read only when it is needed.
 *
 * @param pack The bytes, or a function that reads a range of them: then only requested definitions are read.
 * @param name Identifies the pack's content in cache keys, such as `r4` or `package@version`.
 * @param options.isRelease True for the definitions of a FHIR release, which definitions of packages replace.
 * @throws {TypeError} when the bytes are not a pack or a pack of another format version, and for an unknown option.
 */
export function packLayer(pack: Uint8Array | PackReader, name: string, options: PackOptions = {}): ContentLayer {
  checkArgument('packLayer: the pack', pack, PACK)
  checkOptions('packLayer', SHAPE, options)
  const { isRelease } = options
  const read: PackReader = typeof pack === 'function' ? pack : (start, end) => pack.subarray(start, end)
  const types = typesIn(read)
  /** Parsed definitions, by offset. */
  const kept = new LRUCache<number, readonly Definition[]>({ max: KEPT })
  const definitionAt = (type: PackedType, place: number): readonly Definition[] => {
    const start = type.starts[place] ?? 0
    const known = kept.get(start) ?? definitionIn(read, { type, place }, { name, isRelease })
    kept.set(start, known)
    return known
  }
  return {
    find: (resourceType, by, value) => {
      const type = types.get(resourceType)?.()
      return Promise.resolve(type === undefined ? [] : placesOf(type, by, value).flatMap((place) => definitionAt(type, place)))
    },
    // Neither a full list nor its resources are kept: they are rarely needed again soon.
    all: (resourceType) => {
      const type = types.get(resourceType)?.()
      const options = { name, isRelease, isOfAll: true }
      return Promise.resolve(type === undefined ? [] : placesIn(type).flatMap((place) => definitionIn(read, { type, place }, options)))
    },
    revision: () => 0,
  }
}

/** Options of `packLayer`. */
export interface PackOptions {
  /** Whether the pack holds the definitions of a FHIR release. Default false. */
  readonly isRelease?: boolean | undefined
}

const PACK: MemberKind = { words: 'bytes, or a function that reads them', is: (value) => typeof value === 'function' || isBytes(value) }
const SHAPE: InputShape = inputShape<PackOptions>({ isRelease: FLAG })

/** Returns the bytes of a pack from `start` up to, but not including, `end`. */
export type PackReader = (start: number, end: number) => Uint8Array

/** Finds the positions of the definitions of a type that have a value. */
type PlaceFinder = (value: string) => readonly number[]

/** Lists the resource types of a pack. The index of each is read when the type is first used. */
function typesIn(read: PackReader): ReadonlyMap<string, () => PackedType> {
  const line = text(read(0, MAX_HEADER)).split('\n', 1)[0] ?? ''
  if (!line.startsWith(FORMAT)) throw new TypeError('The bytes are not a definitions pack.')
  if (!line.startsWith(MAGIC)) throw new TypeError('The pack has the form of another version of fhir-ops. Make it again with packOf.')
  const tableStart = line.length + 1
  let start = tableStart + Number(line.slice(MAGIC.length))
  const table: unknown = JSON.parse(text(read(tableStart, start)))
  if (!Array.isArray(table)) throw new TypeError('The pack has no table of types.')
  const types = new Map<string, () => PackedType>()
  for (const row of table.filter(isObject)) {
    const [resourceType, from, to] = [stringAt(row, 'type') ?? '', start, start + Number(row['index'])]
    let known: PackedType | undefined
    types.set(resourceType, () => (known ??= packedType(resourceType, objectIn(text(read(from, to))), to)))
    start = to + Number(row['resources'])
  }
  return types
}

/** @param start Offset of the first resource. */
function packedType(resourceType: string, index: JsonObject, start: number): PackedType {
  const columns = new Map(Object.entries(index).flatMap(([name, values]) => (Array.isArray(values) ? [[name, values]] : [])))
  const starts = [start]
  let end = start
  for (const bytes of columns.get('bytes') ?? []) starts.push((end += Number(bytes)))
  return { resourceType, columns, starts, finders: new Map() }
}

/** Creates indexes on demand: most processes search by url only, and for some types. */
function placesOf(type: PackedType, by: DefinitionKey, value: string): readonly number[] {
  const finder = type.finders.get(by) ?? (by === 'url' ? inColumn(type.columns.get('url') ?? []) : byKey(by, type))
  type.finders.set(by, finder)
  return finder(value)
}

function placesIn({ starts }: PackedType): readonly number[] {
  return [...starts.keys()].slice(0, -1)
}

/** Up to this many linear searches take less time than an index of the column, and the first answer of a process needs fewer (bench `validate`). */
const SEARCHES = 50

function inColumn(column: readonly unknown[]): PlaceFinder {
  let searches = 0
  let index: ReadonlyMap<unknown, readonly number[]> | undefined
  return (value) => {
    if (index === undefined && ++searches <= SEARCHES) return placesAmong(column, value)
    index ??= Map.groupBy(column.keys(), (place) => column[place])
    return index.get(value) ?? []
  }
}

function placesAmong(column: readonly unknown[], value: string): readonly number[] {
  const places: number[] = []
  for (let place = column.indexOf(value); place >= 0; place = column.indexOf(value, place + 1)) places.push(place)
  return places
}

function byKey(by: DefinitionKey, type: PackedType): PlaceFinder {
  const index = new Map<string, number[]>()
  for (const place of placesIn(type)) {
    for (const [key, value] of definitionKeys(headAt(type, place))) {
      if (key !== by) continue
      const found = index.get(value)
      if (found === undefined) index.set(value, [place])
      else found.push(place)
    }
  }
  return (value) => index.get(value) ?? []
}

/** Returns the members by which a definition is found, and its status. */
function headAt({ resourceType, columns }: PackedType, place: number): JsonObject {
  const members = columns.entries().map(([name, values]): [string, unknown] => [name, values[place] ?? undefined])
  return { resourceType, ...Object.fromEntries(members) }
}

interface PlacedDefinition {
  readonly type: PackedType
  readonly place: number
}

function definitionIn(
  read: PackReader,
  { type, place }: PlacedDefinition,
  { name, isRelease, isOfAll = false }: PackOptions & { readonly name: string; readonly isOfAll?: boolean },
): readonly Definition[] {
  const head = headAt(type, place)
  const url = stringAt(head, 'url') ?? ''
  const version = stringAt(head, 'version') ?? ''
  const described = definitionOf(head, `${name}:${url}|${version}`)
  if (described === undefined) return []
  const id = stringAt(head, 'id')
  let parsed: JsonObject | undefined
  const definition = {
    ...described,
    ...(id !== undefined && { id }),
    ...(isRelease === true && { isOfRelease: true as const }),
    get resource(): JsonObject {
      const resource = parsed ?? objectIn(text(read(type.starts[place] ?? 0, type.starts[place + 1] ?? 0)))
      if (!isOfAll) parsed = resource
      return resource
    },
  }
  return [definition]
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function objectIn(json: string): JsonObject {
  const value: unknown = JSON.parse(json)
  if (!isObject(value)) throw new TypeError('A record of the pack is not a JSON object.')
  return value
}

/**
 * Members with texts by which definitions are found without parsing the resources. Guides are also found by the types of their `global` profiles, and
 * code systems by their OIDs.
 */
const HEAD: readonly string[] = ['resourceType', 'id', 'url', 'version', 'status', ...keyMembers()]

/** Creates the bytes that `packLayer` reads from the JSON texts of definitions. Their order is kept. */
export function packOf(definitions: readonly string[]): Uint8Array {
  checkArgument('packOf: definitions', definitions, listOf(TEXT))
  const encoder = new TextEncoder()
  const records = definitions.map((text) => ({ head: headOf(JSON.parse(text)), bytes: encoder.encode(text) }))
  const byType = Map.groupBy(records, ({ head }) => stringAt(head, 'resourceType') ?? '')
  const types = [...byType].map(([type, ofType]) => {
    const heads = ofType.map(({ head, bytes }): JsonObject => ({ ...head, bytes: bytes.length }))
    return { type, index: encoder.encode(JSON.stringify(columnsOf(heads))), resources: joinedBytes(ofType.map(({ bytes }) => bytes)) }
  })
  const table = types.map(({ type, index, resources }) => ({ type, index: index.length, resources: resources.length }))
  const tableBytes = encoder.encode(JSON.stringify(table))
  return joinedBytes([
    encoder.encode(`${MAGIC}${tableBytes.length}\n`),
    tableBytes,
    ...types.flatMap(({ index, resources }) => [index, resources]),
  ])
}

function columnsOf(heads: readonly JsonObject[]): JsonObject {
  const names = new Set(heads.flatMap(Object.keys))
  names.delete('resourceType')
  return Object.fromEntries([...names].map((name) => [name, heads.map((head) => head[name] ?? null)]))
}

function headOf(resource: unknown): JsonObject {
  if (!isObject(resource)) return {}
  const texts = Object.fromEntries(HEAD.flatMap((name) => (stringAt(resource, name) === undefined ? [] : [[name, resource[name]]])))
  const { global } = resource
  const identifier = texts['resourceType'] === 'CodeSystem' ? oids(resource).map(([, value]) => ({ value })) : []
  return { ...texts, ...(global !== undefined && { global }), ...(identifier.length > 0 && { identifier }) }
}
