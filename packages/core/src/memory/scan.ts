import { hasBit, type Bits } from '../bits/index.js'
import {
  scanItemTooLong,
  SCAN_ITEM_BYTES,
  SCAN_PAGE_BYTES,
  storedResource,
  type Referring,
  type ScanItem,
  type ScanPage,
  type ScanQuery,
  type StoredResource,
} from '../storage/index.js'
import { matchingRows, type Tables } from './matches.js'
import { pageMadeOf } from './page.js'
import type { ResourceTable, Row } from './resource-table.js'

/** One page of a scan, in the order of ids. */
export function scanPage(tables: Tables, query: ScanQuery): ScanPage {
  const table = tables.get(query.type)
  const rows = matchingRows(tables, query)
  if (table === undefined || rows === undefined) return { items: [] }
  const sources = (query.referring ?? []).flatMap((referring) => sourceOf(tables, referring) ?? [])
  const { type, limit = SCAN_PAGE, after, maxBytes = SCAN_PAGE_BYTES } = query
  return pageMadeOf(table, rows, { type, limit, maxBytes, ...(after !== undefined && { after }), itemOf: (row) => itemOf(row, sources) })
}

const SCAN_PAGE = 500

/** Where what refers to a resource is found. */
interface Source {
  readonly params: readonly string[]
  readonly table: ResourceTable
  /** The rows that may come. */
  readonly rows: Bits
}

function sourceOf(tables: Tables, { params, ...query }: Referring): Source | undefined {
  const table = tables.get(query.type)
  const rows = matchingRows(tables, query)
  return table && rows && { params, table, rows }
}

function itemOf(row: Row, sources: readonly Source[]): { readonly row: Row; readonly item: ScanItem; readonly bytes: number } {
  const referring = new Map<string, Row>()
  let bytes = row.text.length
  for (const source of sources) {
    for (const found of rowsReferring(source, row)) {
      const address = `${found.stored.type}/${found.stored.id}`
      if (referring.has(address)) continue
      referring.set(address, found)
      bytes += found.text.length
      if (bytes > SCAN_ITEM_BYTES) throw scanItemTooLong(row.stored)
    }
  }
  return { row, item: { stored: fresh(row), referring: Array.from(referring.values(), fresh) }, bytes }
}

function rowsReferring({ params, table, rows }: Source, { stored: { type, id } }: Row): readonly Row[] {
  const all = [
    { field: 'value', op: 'eq', operand: id },
    { field: 'system', op: 'eq', operand: type },
  ] as const
  const numbers = params.flatMap((param) => table.param(param)?.rows(all) ?? [])
  return numbers.flatMap((number) => (hasBit(rows, number) ? (table.row(number) ?? []) : []))
}

/** What is parsed of it is not kept with the row: a scan would leave all of a population behind. */
function fresh({ stored: { type, id, versionId, lastUpdated }, text }: Row): StoredResource {
  return storedResource({ type, id, versionId, lastUpdated, text })
}
