import { definitionEntries } from '../content/index.js'
import { OperationError } from '../errors/index.js'
import { checkOptions, CLOCK, FLAG, FUNCTION, inputShape, ITERABLE, type InputShape } from '../input/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import {
  checkQuery,
  putResource,
  comparePositions,
  cursorParts,
  positionOf,
  type Capabilities,
  type Indexer,
  type SearchPage,
  type SearchQuery,
  type Storage,
  type ReadResult,
  type SortKey,
  type SortPosition,
} from '../storage/index.js'
import { countBits, hasBit, membersOf, type Bits } from '../bits/index.js'
import { createVersionLog, historyOf } from './history.js'
import { matchingRows } from './matches.js'
import type { ResourceTable, Row } from './resource-table.js'
import { applyWrites, type MemoryState } from './write.js'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /** What the given resources are found by. Default: definitions by their url. Later writes bring their own entries. */
  readonly indexer?: Indexer
  /** The clock of `lastUpdated`. */
  readonly now?: () => Date
  /** Whether replaced and deleted versions are kept, which takes their memory. Default true; false leaves `history` out. */
  readonly history?: boolean
}

const SHAPE: InputShape = inputShape<MemoryStorageOptions>({ indexer: FUNCTION, now: CLOCK, history: FLAG })

const CAPABILITIES: Capabilities = { atomic: true, counts: true, preconditions: true, sorts: true, contained: true }

/**
 * A storage that lives and ends with the process: for tests, and for content that is loaded at start. Nothing in it waits, so every
 * call sees all earlier ones done.
 *
 * @param resources Its first content; each needs a `resourceType` and an `id`.
 * @throws {TypeError} when the resources are no list, and for an option that is unknown or of another type.
 * @throws {OperationError} `resource-invalid` when one of the resources cannot be stored.
 */
export function memoryStorage(resources: Iterable<object> = [], options: MemoryStorageOptions = {}): Storage {
  if (!ITERABLE.is(resources)) throw new TypeError('memoryStorage: resources must be a list of resources.')
  checkOptions('memoryStorage', SHAPE, options)
  const { now = () => new Date(), history = true } = options
  const log = history ? createVersionLog() : undefined
  const state: MemoryState = { tables: new Map(), versions: new Map(), log, now, writes: 0 }
  const indexer = options.indexer ?? definitionEntries
  for (const resource of resources) applyWrites(state, [putResource(addressed({ ...resource }), indexer)])
  let closed = false
  const open = (): MemoryState => {
    if (closed) throw new OperationError('storage-unavailable', 'The storage is closed.')
    return state
  }
  return {
    capabilities: CAPABILITIES,
    ...(log !== undefined && { history: historyOf(() => ({ log, versions: open().versions })) }),
    read: async (type, id) => readRow(open().tables.get(type), id),
    search: async (query) => search(open(), query),
    async count(query) {
      checkQuery(query)
      return countBits(matchingRows(open().tables, query) ?? new Uint32Array())
    },
    write: async (entries) => applyWrites(open(), entries),
    revision: () => open().writes,
    close: async () => {
      closed = true
    },
  }
}

function addressed(resource: JsonObject): { readonly type: string; readonly id: string; readonly source: JsonObject } {
  return { type: stringAt(resource, 'resourceType') ?? '', id: stringAt(resource, 'id') ?? '', source: resource }
}

function readRow(table: ResourceTable | undefined, id: string): ReadResult {
  const number = table?.find(id)
  return number === undefined ? undefined : table?.row(number)?.stored
}

function search(state: MemoryState, query: SearchQuery): SearchPage {
  checkQuery(query)
  const table = state.tables.get(query.type)
  const rows = matchingRows(state.tables, query)
  return table === undefined || rows === undefined ? { items: [] } : pageOf(table, rows, query)
}

const DEFAULT_PAGE = 100

/** The page of the rows that the query asks for. */
export function pageOf(table: ResourceTable, rows: Bits, query: SearchQuery): SearchPage {
  const sort = query.sort ?? []
  const limit = query.limit ?? DEFAULT_PAGE
  const after = query.after === undefined ? undefined : readCursor(query.after, sort)
  const found = firstRows(table, rows, { after, limit, sort })
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return {
    items: items.map((row) => row.stored),
    ...(last !== undefined && found.length > limit && { next: cursorAt(positionOf(last, sort)) }),
  }
}

interface Cut {
  readonly after: SortPosition | undefined
  readonly limit: number
  readonly sort: readonly SortKey[]
}

/** One row more than the limit, where there are so many. */
function firstRows(table: ResourceTable, rows: Bits, cut: Cut): readonly Row[] {
  return isLargePart(table, rows) ? firstInOrder(table, rows, cut) : firstOfFew(table, rows, cut)
}

/** Of how many rows one must match, so that the first matches come soon when all rows are gone through in order. */
const LARGE_PART = 64

function isLargePart(table: ResourceTable, rows: Bits): boolean {
  return countBits(rows) * LARGE_PART >= table.size()
}

function firstInOrder(table: ResourceTable, rows: Bits, { after, limit, sort }: Cut): readonly Row[] {
  const found: Row[] = []
  for (const number of table.after(sort, after)) {
    const row = hasBit(rows, number) ? table.row(number) : undefined
    if (row !== undefined) found.push(row)
    if (found.length > limit) break
  }
  return found
}

function firstOfFew(table: ResourceTable, rows: Bits, { after, limit, sort }: Cut): readonly Row[] {
  const all = Array.from(membersOf(rows), (number) => table.row(number)).filter((row) => row !== undefined)
  const placed = all.map((row) => ({ row, position: positionOf(row, sort) }))
  const behind = after === undefined ? placed : placed.filter(({ position }) => comparePositions(position, after, sort) > 0)
  behind.sort((a, b) => comparePositions(a.position, b.position, sort))
  return behind.slice(0, limit + 1).map(({ row }) => row)
}

function cursorAt({ keys, id }: SortPosition): string {
  return JSON.stringify([id, ...keys.map((key) => key ?? null)])
}

function readCursor(cursor: string, sort: readonly SortKey[]): SortPosition {
  const parts = cursorParts(cursor)
  const [id, ...keys] = parts
  const fits = typeof id === 'string' && keys.length === sort.length && keys.every(isKey)
  if (!fits) throw new OperationError('search-invalid', 'The cursor of the search is not valid.')
  return { id, keys: keys.filter(isKey).map((key) => key ?? undefined) }
}

function isKey(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
