import { FLAG_ACTIVE, KINDS, TERM_CHUNK } from '../release/descriptions.js'
import type { IdTable } from '../release/id-table.js'
import { gathered } from '../release/lists.js'
import { bytesOf } from '../release/section-reader.js'
import type { Section } from './section.js'
import { wordSections } from './word-sections.js'

/** Descriptions as they came, in rows. */
export interface GatheredDescriptions {
  /** Number of concepts. */
  readonly size: number
  /** The rows that count, in ascending order of their ids, and these. */
  readonly rows: Uint32Array
  readonly ids: IdTable
  readonly concept: Uint32Array
  readonly flags: Uint32Array
  readonly language: Uint32Array
  readonly module: Uint32Array
  readonly time: Uint32Array
  /** By language reference set. */
  readonly acceptability: readonly Uint8Array[]
  readonly term: (row: number) => Uint8Array
}

/** The sections of descriptions: those of a concept together, by kind and then by id. */
export function* descriptionSections(descriptions: GatheredDescriptions): Iterable<Section> {
  const { size, rows, ids, concept, flags, term } = descriptions
  const ordered = byKind(rows, flags)
  const { start, items } = gathered(size, { places: ordered.map((place) => concept[rows[place] ?? 0] ?? 0), items: ordered })
  const order = items.map((place) => rows[place] ?? 0)
  const taken = (values: Uint32Array | Uint8Array): Uint32Array => order.map((row) => values[row] ?? 0)
  yield ['description.start', bytesOf(start)]
  yield ['description.high', bytesOf(items.map((place) => ids.high[place] ?? 0))]
  yield ['description.low', bytesOf(items.map((place) => ids.low[place] ?? 0))]
  yield ['description.flags', Uint8Array.from(taken(flags))]
  yield ['description.language', Uint8Array.from(taken(descriptions.language))]
  yield ['description.module', bytesOf(Uint16Array.from(taken(descriptions.module)))]
  yield ['description.time', bytesOf(taken(descriptions.time))]
  for (const [i, column] of descriptions.acceptability.entries()) yield [`acceptability.${i}`, Uint8Array.from(taken(column))]
  yield* termSections(order, term)
  yield* wordSections({ size, start, isSearched: (row) => isSearched(flags[order[row] ?? 0] ?? 0), term: (row) => term(order[row] ?? 0) })
}

/** Places of rows: names, then synonyms, then definitions. */
function byKind(rows: Uint32Array, flags: Uint32Array): Uint32Array {
  const ordered = new Uint32Array(rows.length)
  let next = 0
  for (const kind of [KINDS.fsn, KINDS.synonym, KINDS.definition]) {
    rows.forEach((row, place) => {
      if (kindAt(flags, row) === kind) ordered[next++] = place
    })
  }
  return ordered
}

function kindAt(flags: Uint32Array, row: number): number {
  return (flags[row] ?? 0) >> 1
}

/** Text filters look at names in use. */
function isSearched(flags: number): boolean {
  return (flags & FLAG_ACTIVE) !== 0 && flags >> 1 !== KINDS.definition
}

function* termSections(order: Uint32Array, term: (row: number) => Uint8Array): Iterable<Section> {
  const offsets = new Uint32Array(order.length + 1)
  order.forEach((row, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + term(row).length
  })
  yield ['description.term', bytesOf(offsets)]
  const total = offsets[order.length] ?? 0
  let first = 0
  for (let base = 0; base < total; base += TERM_CHUNK) {
    const chunk = new Uint8Array(Math.min(TERM_CHUNK, total - base))
    first = firstInChunk(offsets, first, base)
    for (let i = first; (offsets[i] ?? total) < base + chunk.length; i++) {
      copyWithin(chunk, term(order[i] ?? 0), (offsets[i] ?? 0) - base)
    }
    yield [`terms.${base / TERM_CHUNK}`, chunk]
  }
}

/** The first term, from one on, that ends behind the place. */
function firstInChunk(offsets: Uint32Array, from: number, base: number): number {
  let first = from
  while ((offsets[first + 1] ?? Number.POSITIVE_INFINITY) <= base) first++
  return first
}

/** Copies the part of a term that falls into the chunk. @param at Where the term starts, perhaps before the chunk. */
function copyWithin(chunk: Uint8Array, term: Uint8Array, at: number): void {
  const part = term.subarray(Math.max(0, -at), chunk.length - at)
  chunk.set(part, Math.max(0, at))
}
