import type { SystemSections } from 'fhir-ops/storage'

/** Reads sections as the columns that they are. Numbers are little-endian, as on every platform with JavaScript that is in use. */
export interface SectionReader {
  bytes(name: string): Uint8Array
  /** 32-bit numbers. */
  numbers(name: string): Uint32Array
  /** 16-bit numbers. */
  shorts(name: string): Uint16Array
}

/** Puts a reader over the sections of a version. */
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

/** The bytes of a column, to be kept as a section. */
export function bytesOf(column: Uint32Array | Uint16Array | Uint8Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
}

/** A list of numbers for each of many things, in two columns: where each list starts, and all lists one after the other. */
export interface Lists {
  /** One more entry than there are lists. */
  readonly start: Uint32Array
  readonly items: Uint32Array
}

/** The list of one thing. */
export function listOf({ start, items }: Lists, place: number): Uint32Array {
  return items.subarray(start[place] ?? 0, start[place + 1] ?? 0)
}

/** True when a sorted list holds the number. */
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

/** Pairs of a place and an item. */
export interface Pairs {
  readonly places: Uint32Array
  readonly items: Uint32Array
}

/** Gathers pairs into lists; inside a list the order of the pairs stays. */
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

/** Attribute relationships in rows; those of one concept follow each other, in the order of their groups. */
export interface AttributeRows {
  /** Ordinal of the attribute. */
  readonly types: Uint32Array
  /** Number of the role group; 0 for none. */
  readonly groups: Uint32Array
  /** Ordinal of the value, or the number of a concrete value with `CONCRETE` added. */
  readonly values: Uint32Array
}

/** The attribute relationships of all concepts. */
export interface AttributeTable extends AttributeRows {
  /** By concept: where its rows start; one more entry than there are concepts. */
  readonly start: Uint32Array
  /** By value concept: the concepts that have it as a value. */
  readonly users: Lists
}

/** Marks a concrete value in `AttributeRows.values`. */
export const CONCRETE = 0x80000000

/** True when the value is a number, a string or a boolean instead of a concept. */
export function isConcrete(value: number): boolean {
  return value >= CONCRETE
}
