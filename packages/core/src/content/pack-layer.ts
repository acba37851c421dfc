import { checkOptions, FLAG, inputShape, type InputShape } from '../input/index.js'
import { LRUCache } from 'lru-cache'
import { isObject, stringAt, type JsonObject } from '../json/index.js'
import { joinedBytes } from '../text/index.js'
import { definitionKeys, oids, definitionOf } from './definition.js'
import type { ContentLayer, Definition, DefinitionKey } from './layer.js'

/** Definitions that stay parsed; each was asked for recently. */
const KEPT = 500
const FORMAT = 'fhir-ops-pack '
const MAGIC = `${FORMAT}2 `
const MAX_HEADER = 40

/** The definitions of one resource type. */
interface PackedType {
  readonly resourceType: string
  /** The members that they are found by and their status: of each member, the values of all definitions in their order. */
  readonly columns: ReadonlyMap<string, readonly unknown[]>
  /** Where each begins, and the last ends. */
  readonly starts: readonly number[]
  readonly finders: Map<DefinitionKey, PlaceFinder>
}

/**
 * Makes a content layer of the definitions of a prebuilt pack. Only what is asked for is parsed.
 *
 * A pack is UTF-8: the line `fhir-ops-pack 2 <n>`, a table of n bytes, then what it lists. The table is a JSON array with one object per resource
 * type: its name in `type`, the length of its index in `index` and that of its resources in `resources`. Of each type there are first the index, then
 * the resources as compact JSON one after the other. An index is a JSON object with a list for each member that the resources are found by, their
 * `id`, `url`, `version`, `status` and key members, and one of their lengths in `bytes`; the lists have the order of the resources, and null where a
 * resource lacks the member. By columns an index is parsed in a quarter of the time that objects take, and the index of a type is read only when it
 * is needed.
 *
 * @param pack The bytes, or what reads a stretch of them: then only what is asked for is read too.
 * @param name Identity of the pack's content in cache keys, `r4` or `package@version`.
 * @param options.isRelease True for the definitions of a FHIR release, which those of packages replace.
 * @throws {TypeError} when the bytes are not a pack, or one of another version, and for an option that is unknown.
 */
export function packLayer(pack: Uint8Array | PackReader, name: string, options: PackOptions = {}): ContentLayer {
  checkOptions('packLayer', SHAPE, options)
  const { isRelease } = options
  const read: PackReader = typeof pack === 'function' ? pack : (start, end) => pack.subarray(start, end)
  const types = typesIn(read)
  /** By where a definition begins. */
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
    // What is listed is not kept: all of it is rarely needed again soon.
    all: (resourceType) => {
      const type = types.get(resourceType)?.()
      return Promise.resolve(
        type === undefined ? [] : placesIn(type).flatMap((place) => definitionIn(read, { type, place }, { name, isRelease })),
      )
    },
    revision: () => 0,
  }
}

/** Options of `packLayer`. */
export interface PackOptions {
  /** Default false. */
  readonly isRelease?: boolean | undefined
}

const SHAPE: InputShape = inputShape<PackOptions>({ isRelease: FLAG })

/** Gives the bytes of a pack from an offset up to another. */
export type PackReader = (start: number, end: number) => Uint8Array

/** Finds the places of the definitions of a type that have a value. */
type PlaceFinder = (value: string) => readonly number[]

/** The types that there are, each of which is read when it is asked for. */
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

/** @param start Where the first resource begins. */
function packedType(resourceType: string, index: JsonObject, start: number): PackedType {
  const columns = new Map(Object.entries(index).flatMap(([name, values]) => (Array.isArray(values) ? [[name, values]] : [])))
  const starts = [start]
  let end = start
  for (const bytes of columns.get('bytes') ?? []) starts.push((end += Number(bytes)))
  return { resourceType, columns, starts, finders: new Map() }
}

/** Most processes ask by url only, and for some types. */
function placesOf(type: PackedType, by: DefinitionKey, value: string): readonly number[] {
  const finder = type.finders.get(by) ?? (by === 'url' ? inColumn(type.columns.get('url') ?? []) : byKey(by, type))
  type.finders.set(by, finder)
  return finder(value)
}

function placesIn({ starts }: PackedType): readonly number[] {
  return [...starts.keys()].slice(0, -1)
}

/** Up to this many searches in a column take less time than an index of it, and the first answer of a process needs fewer (bench `validate`). */
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

/** The members that a definition is found by, and its status. */
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
  { name, isRelease }: PackOptions & { readonly name: string },
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
      parsed ??= objectIn(text(read(type.starts[place] ?? 0, type.starts[place + 1] ?? 0)))
      return parsed
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

/** Texts by which definitions are found and read without parsing the others; so are guides by what they say of all resources of a type (`global`), and code systems by their OIDs. */
const HEAD = ['resourceType', 'id', 'url', 'version', 'status', 'type', 'baseDefinition', 'valueSet', 'supplements'] as const

/** Packs definitions, given as JSON texts, into the bytes that `packLayer` reads. Their order is kept. */
export function packOf(definitions: readonly string[]): Uint8Array {
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
