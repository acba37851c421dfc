import { bitmapFrom, type Bitmap } from 'fhir-ops/terminology'
import { emptyBitmap } from 'fhir-ops/internal/bits'
import type { RefsetHeader, SnomedHeader, SectionReader } from './section-reader.js'

/** A row of a reference set. */
export interface RefsetRow {
  /** Position among the rows, from 0. */
  readonly place: number
  readonly active: boolean
  readonly effectiveTime: string
  readonly moduleId: string
  readonly referencedComponentId: string
  /** Values in the order of `RefsetHeader.fields`. */
  readonly fields: readonly string[]
}

/** The reference sets of a version whose members are concepts. */
export interface RefsetTable {
  readonly all: readonly RefsetHeader[]
  find(id: string): RefsetHeader | undefined
  /** Returns the concepts in active rows; none for an unknown reference set. */
  members(id: string): Bitmap
  /** Returns all rows, active or not. */
  rows(id: string): Iterable<RefsetRow>
  /** Returns the ids of the rows, in order; `undefined` if the import did not store them. */
  rowIds(id: string): readonly string[] | undefined
}

/** Opens the table of a version with `size` concepts. */
export function refsetTable(reader: SectionReader, { refsets, memberIds }: SnomedHeader, size: number): RefsetTable {
  const byId = new Map(refsets.map((refset) => [refset.id, refset]))
  const members = new Map<string, Bitmap>()
  return {
    all: refsets,
    find: (id) => byId.get(id),
    members(id) {
      if (!byId.has(id)) return emptyBitmap(size)
      const found = members.get(id) ?? bitmapFrom(reader.numbers(`refset.${id}`), size)
      members.set(id, found)
      return found
    },
    rows: (id) => (byId.has(id) ? readRows(new TextDecoder().decode(reader.bytes(`refset.${id}.rows`))) : []),
    rowIds: (id) => (memberIds === true ? new TextDecoder().decode(reader.bytes(`refset.${id}.ids`)).split('\n') : undefined),
  }
}

function* readRows(text: string): Generator<RefsetRow, void, undefined> {
  for (let from = 0, place = 0; from < text.length; place++) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    yield readRow(place, text.slice(from, to))
    from = to + 1
  }
}

function readRow(place: number, line: string): RefsetRow {
  const [active, effectiveTime = '', moduleId = '', referencedComponentId = '', ...fields] = line.split('\t')
  return { place, active: active === '1', effectiveTime, moduleId, referencedComponentId, fields }
}
