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
import { createNumbers } from '../bits/index.js'
import type { Work } from '../work/index.js'
import { followed, linksOf, matchingRows } from './matches.js'
import { findMatches, pageMadeOf, type PageItem } from './page.js'
import type { ResourceTable, Row } from './resource-table.js'
import type { MemoryState } from './write.js'

/** Maximum number of rows of a page, so high that pages end by their bytes. */
const SCAN_PAGE = 10_000

/**
 * Returns pages of scans, in the order of ids. The resources that refer to the population are found once for all pages with the same `referring`, as within
 * one scan, and again after a write.
 */
export function createScan(): (state: MemoryState, query: ScanQuery) => Work<ScanPage> {
  const found = new WeakMap<readonly Referring[], Found>()
  const referrersOf = (state: MemoryState, type: string, referring: readonly Referring[]): readonly Referrers[] => {
    const known = found.get(referring)
    if (known?.type === type && known.writes === state.writes) return known.referrers
    const referrers = referring.flatMap((one) => findReferrers(state, type, one) ?? [])
    found.set(referring, { type, writes: state.writes, referrers })
    return referrers
  }
  return function* scan(state, { referring = [], limit = SCAN_PAGE, maxBytes = SCAN_PAGE_BYTES, ...query }) {
    for (const { params, ...from } of referring) {
      yield* followed(state.tables, from)
      for (const param of params) yield* linksOf(state.tables, { from: from.type, param, to: query.type })?.catchUp() ?? []
    }
    const matches = yield* findMatches(state.tables, { ...query, limit })
    if (matches === undefined) return { items: [] }
    const referrers = referrersOf(state, query.type, referring)
    return pageMadeOf(matches, { ...query, limit, maxBytes, itemOf: (row, number) => itemOf(row, number, referrers) })
  }
}

interface Found {
  /** The type that is referred to. */
  readonly type: string
  /** `writes` of the state when they were found. */
  readonly writes: number
  readonly referrers: readonly Referrers[]
}

/** The rows of a table that refer to each row of the population. */
interface Referrers {
  readonly table: ResourceTable
  /** The index in `sources` at which those of each row begin; they end at the index of the next row. */
  readonly starts: Uint32Array
  /** A row occurs twice if it refers by two parameters. */
  readonly sources: Uint32Array
}

function findReferrers({ tables }: MemoryState, type: string, { params, ...query }: Referring): Referrers | undefined {
  const [table, targets] = [tables.get(query.type), tables.get(type)]
  const rows = matchingRows(tables, query)
  if (table === undefined || targets === undefined || rows === undefined) return undefined
  const [from, to] = [createNumbers(), createNumbers()]
  for (const param of params)
    linksOf(tables, { from: query.type, param, to: type })?.visit(rows, (source, target) => {
      from.push(source)
      to.push(target)
    })
  const starts = new Uint32Array(targets.size() + 1)
  for (let link = 0; link < to.length(); link++) add(starts, to.at(link) + 1, 1)
  for (let target = 1; target < starts.length; target++) add(starts, target, starts[target - 1] ?? 0)
  const sources = new Uint32Array(from.length())
  const ends = starts.slice()
  for (let link = 0; link < to.length(); link++) {
    sources[ends[to.at(link)] ?? 0] = from.at(link)
    add(ends, to.at(link), 1)
  }
  return { table, starts, sources }
}

function add(numbers: Uint32Array, at: number, number: number): void {
  numbers[at] = (numbers[at] ?? 0) + number
}

function itemOf(row: Row, number: number, referrers: readonly Referrers[]): PageItem<ScanItem> {
  const referring = new Set<Row>()
  let bytes = row.length
  for (const { table, starts, sources } of referrers) {
    for (const source of sources.subarray(starts[number], starts[number + 1])) {
      const found = table.row(source)
      if (found === undefined || referring.has(found)) continue
      referring.add(found)
      bytes += found.length
      if (bytes > SCAN_ITEM_BYTES) throw scanItemTooLong(row.stored)
    }
  }
  return { item: { stored: fresh(row), referring: Array.from(referring, fresh) }, bytes }
}

/** Parsed content is not kept with the row, because a scan would leave that of a whole population in memory. */
function fresh({ stored }: Row): StoredResource {
  const { type, id, versionId, lastUpdated } = stored
  return storedResource({ type, id, versionId, lastUpdated, text: '' }, () => stored.text)
}
