import { checkOptions, FLAG, inputShape, type InputShape } from '../input/index.js'
import { LRUCache } from 'lru-cache'
import { isObject, stringAt, type JsonObject } from '../json/index.js'
import { definitionKeys, oids, definitionOf } from './definition.js'
import type { ContentLayer, Definition, DefinitionKey } from './layer.js'

/** Definitions that stay parsed; each was asked for lately. */
const KEPT = 500
const MAGIC = 'fhir-ops-pack 1 '
const MAX_HEADER = 40

interface PackedRecord {
  /** The members that the resource is found by, and its status. */
  readonly head: JsonObject
  readonly start: number
  readonly end: number
}

/**
 * The definitions of a prebuilt pack. Only what is asked for is parsed.
 *
 * A pack is UTF-8: the line `fhir-ops-pack 1 <n>`, an index of n bytes, then the resources as compact JSON one after the other. The index
 * is a JSON array with one object per resource, in their order: its `resourceType`, `url`, `version`, `status` and key members, and
 * its length in `bytes`.
 *
 * @param pack The bytes, or what reads a stretch of them: then only what is asked for is read too.
 * @param name Identity of the pack's content in cache keys, `r4` or `package@version`.
 * @param options.isRelease True for the definitions of a FHIR release, in whose place those of packages come.
 * @throws {TypeError} when the bytes are not a pack, and for an option that is unknown.
 */
export function packLayer(pack: Uint8Array | PackReader, name: string, options: PackOptions = {}): ContentLayer {
  checkOptions('packLayer', SHAPE, options)
  const { isRelease } = options
  const read: PackReader = typeof pack === 'function' ? pack : (start, end) => pack.subarray(start, end)
  const byType = Map.groupBy(recordsOf(read), ({ head }) => stringAt(head, 'resourceType') ?? '')
  const indexes = new Map<string, Places>()
  const kept = new LRUCache<PackedRecord, readonly Definition[]>({ max: KEPT })
  const definitionsOf = (record: PackedRecord): readonly Definition[] => {
    const known = kept.get(record) ?? definitionIn(read, record, { name, isRelease })
    kept.set(record, known)
    return known
  }
  // Most processes ask by url only, and for some types.
  const indexOf = (type: string, by: DefinitionKey): Places | undefined => {
    const records = byType.get(type)
    if (records === undefined) return undefined
    const key = `${type} ${by}`
    const index = indexes.get(key) ?? placesBy(by, records)
    indexes.set(key, index)
    return index
  }
  return {
    find: (type, by, value) => Promise.resolve((indexOf(type, by)?.get(value) ?? []).flatMap(definitionsOf)),
    // What is listed is not kept: nobody asks for all of it again soon.
    all: (type) => Promise.resolve((byType.get(type) ?? []).flatMap((record) => definitionIn(read, record, { name, isRelease }))),
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

/** The records of a type by the values of a key. */
type Places = ReadonlyMap<string, readonly PackedRecord[]>

function recordsOf(read: PackReader): readonly PackedRecord[] {
  const line = text(read(0, MAX_HEADER)).split('\n', 1)[0] ?? ''
  if (!line.startsWith(MAGIC)) throw new TypeError('The bytes are not a definitions pack.')
  const indexStart = line.length + 1
  let start = indexStart + Number(line.slice(MAGIC.length))
  const index: unknown = JSON.parse(text(read(indexStart, start)))
  if (!Array.isArray(index)) throw new TypeError('The pack has no index.')
  return index.filter(isObject).map((head) => {
    const record = { head, start, end: start + Number(head['bytes']) }
    start = record.end
    return record
  })
}

function placesBy(by: DefinitionKey, records: readonly PackedRecord[]): Places {
  const places = new Map<string, PackedRecord[]>()
  for (const record of records) {
    for (const value of valuesOf(record.head, by)) {
      const found = places.get(value)
      if (found === undefined) places.set(value, [record])
      else found.push(record)
    }
  }
  return places
}

function valuesOf(head: JsonObject, by: DefinitionKey): readonly string[] {
  if (by !== 'url') return definitionKeys(head).flatMap(([key, value]) => (key === by ? [value] : []))
  const url = stringAt(head, 'url')
  return url === undefined ? [] : [url]
}

function definitionIn(
  read: PackReader,
  { head, start, end }: PackedRecord,
  { name, isRelease }: PackOptions & { readonly name: string },
): readonly Definition[] {
  const url = stringAt(head, 'url') ?? ''
  const version = stringAt(head, 'version') ?? ''
  const described = definitionOf(head, `${name}:${url}|${version}`)
  if (described === undefined) return []
  let parsed: JsonObject | undefined
  const definition = {
    ...described,
    ...(isRelease === true && { isOfRelease: true as const }),
    get resource(): JsonObject {
      parsed ??= objectIn(text(read(start, end)))
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

/** Texts by which definitions are found without parsing them; so are guides by what they say of all resources of a type (`global`), and code systems by their OIDs. */
const HEAD = ['resourceType', 'url', 'version', 'status', 'type', 'baseDefinition', 'valueSet', 'supplements'] as const

/** The bytes of a pack, as `packLayer` reads it, of definitions, given as JSON texts, in their order. */
export function packOf(definitions: readonly string[]): Uint8Array {
  const encoder = new TextEncoder()
  const records = definitions.map((text) => encoder.encode(text))
  const heads = definitions.map((text, position) => ({ ...headOf(JSON.parse(text)), bytes: records[position]?.length }))
  const index = encoder.encode(JSON.stringify(heads))
  const parts = [encoder.encode(`fhir-ops-pack 1 ${index.length}\n`), index, ...records]
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function headOf(resource: unknown): JsonObject {
  if (!isObject(resource)) return {}
  const texts = Object.fromEntries(HEAD.flatMap((name) => (stringAt(resource, name) === undefined ? [] : [[name, resource[name]]])))
  const { global } = resource
  const identifier = texts['resourceType'] === 'CodeSystem' ? oids(resource).map(([, value]) => ({ value })) : []
  return { ...texts, ...(global !== undefined && { global }), ...(identifier.length > 0 && { identifier }) }
}
