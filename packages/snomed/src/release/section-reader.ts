import type { SystemSections } from 'fhir-ops/storage'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'

/** A reference set whose members are concepts. */
export interface RefsetHeader {
  readonly id: string
  /** Names of the fields after `referencedComponentId`. */
  readonly fields: readonly string[]
}

/** The part of a version that is small enough to be read as a whole. */
export interface SnomedHeader {
  /** `http://snomed.info/sct/<module>/version/<date>`. */
  readonly version: string
  /** Ids of modules, by their numbers in columns. */
  readonly modules: readonly string[]
  /** Language codes, by their numbers in columns. */
  readonly languages: readonly string[]
  /** Ids of language reference sets, by the number of their column. */
  readonly dialects: readonly string[]
  readonly refsets: readonly RefsetHeader[]
  /** True if the ids of reference set rows are stored; imports that predate this field do not have them. */
  readonly memberIds?: boolean
  /** Concrete values of attributes, by number: numbers without `#`, strings in quotes. */
  readonly values: readonly string[]
  /** Ids of identifier schemes with codes for concepts; imports that predate this field have none. */
  readonly schemes?: readonly string[]
  /** True if the order of displays is stored; imports that predate this field do not have it. */
  readonly displays?: boolean
  /** Bytes per piece of the terms; imports that predate this field have larger pieces. */
  readonly termChunk?: number
}

/** The format of the sections that this code writes and reads. */
export const SNOMED_FORMAT = 'snomed-1'

/** Parses a header. @throws {TypeError} if the text is not a header of this format. */
export function readHeader(text: string): SnomedHeader {
  const value: unknown = JSON.parse(text)
  if (!isObject(value) || !isHeader(value)) throw new TypeError('The header of a SNOMED CT version cannot be read.')
  return value
}

function isHeader(value: JsonObject): value is JsonObject & SnomedHeader {
  return (
    typeof value['version'] === 'string' &&
    ['modules', 'languages', 'dialects', 'refsets', 'values'].every((name) => Array.isArray(value[name]))
  )
}

/** Reads sections as columns. Numbers are little-endian, as on all current platforms with JavaScript. */
export interface SectionReader {
  bytes(name: string): Uint8Array
  /** Reads 32-bit numbers. */
  numbers(name: string): Uint32Array
  /** Reads 16-bit numbers. */
  shorts(name: string): Uint16Array
}

/** Creates a reader for the sections of a version. */
export function sectionReader(sections: SystemSections): SectionReader {
  const aligned = (name: string): Uint8Array => {
    const bytes = sections.section(name)
    return bytes.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice()
  }
  return {
    bytes: (name) => sections.section(name),
    numbers(name) {
      const { buffer, byteOffset, byteLength } = aligned(name)
      return new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT)
    },
    shorts(name) {
      const { buffer, byteOffset, byteLength } = aligned(name)
      return new Uint16Array(buffer, byteOffset, byteLength / Uint16Array.BYTES_PER_ELEMENT)
    },
  }
}

/** Returns the bytes of a column, to be stored as a section. */
export function bytesOf(column: Uint32Array | Uint16Array | Uint8Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
}

/** A list of numbers for each item of a sequence, in two columns: the start of each list, and all lists one after the other. */
export interface Lists {
  /** Has one more entry than there are lists. */
  readonly start: Uint32Array
  readonly items: Uint32Array
}

/** Returns one list. */
export function listOf({ start, items }: Lists, place: number): Uint32Array {
  return items.subarray(start[place] ?? 0, start[place + 1] ?? 0)
}

/** True if a sorted list contains the number. */
export function holds({ start, items }: Lists, place: number, wanted: number): boolean {
  let low = start[place] ?? 0
  let high = start[place + 1] ?? 0
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = items[middle] ?? 0
    if (found === wanted) return true
    if (found < wanted) low = middle + 1
    else high = middle
  }
  return false
}

/** Pairs of a list's position and an item. */
interface Pairs {
  readonly places: Uint32Array
  readonly items: Uint32Array
}

/** Groups pairs into lists; within a list, the order of the pairs is preserved. */
export function gathered(size: number, { places, items }: Pairs): Lists {
  const start = new Uint32Array(size + 1)
  for (const place of places) start[place + 1] = (start[place + 1] ?? 0) + 1
  for (let i = 0; i < size; i++) start[i + 1] = (start[i + 1] ?? 0) + (start[i] ?? 0)
  const next = start.slice()
  const gatheredItems = new Uint32Array(places.length)
  for (let i = 0; i < places.length; i++) {
    const place = places[i] ?? 0
    const at = next[place] ?? 0
    gatheredItems[at] = items[i] ?? 0
    next[place] = at + 1
  }
  return { start, items: gatheredItems }
}

/** Attribute relationships, one per row; those of a concept are adjacent, in the order of their groups. */
export interface AttributeRows {
  /** Ordinal of the attribute. */
  readonly types: Uint32Array
  /** Number of the role group; 0 for none. */
  readonly groups: Uint32Array
  /** Ordinal of the value, or the number of a concrete value plus `CONCRETE`. */
  readonly values: Uint32Array
}

/** The attribute relationships of all concepts. */
export interface AttributeTable extends AttributeRows {
  /** By concept: where its rows start; has one more entry than there are concepts. */
  readonly start: Uint32Array
  /** By value concept: the concepts that have it as an attribute value. */
  readonly users: Lists
}

/** Offset that marks a concrete value in `AttributeRows.values`. */
export const CONCRETE = 0x80000000

/** True if the value is a number, a string or a boolean instead of a concept. */
export function isConcrete(value: number): boolean {
  return value >= CONCRETE
}
