import { OperationError } from 'fhir-ops/errors'
import { cursorParts } from 'fhir-ops/internal/storage'
import type { SearchQuery } from 'fhir-ops/storage'
import { joined, sqlTag, type Sql, type SqlTag } from './sql.js'

const DEFAULT_PAGE = 500
const MAX_PAGE = 10_000

/** Returns the maximum number of items on a page: the limit of the query, within bounds. */
export function pageLimit({ limit = DEFAULT_PAGE }: Pick<SearchQuery, 'limit'>): number {
  return Math.min(limit, MAX_PAGE)
}

/** Length of text after which a page ends, if the query has no limit of its own; in characters or bytes, as the database counts. */
export const MAX_PAGE_TEXT: number = 8 * 1024 * 1024

/** A value of a sort key. */
export type KeyValue = string | number | null

/** Position of a resource in the order of a query: its id, and a value for each sort key, null if it has none. */
export interface Position {
  readonly id: string
  readonly keys: readonly KeyValue[]
}

/** Column name under which a statement selects the sort key with this index: `s0`, `s1` and so on. */
export function sortColumn(index: number): Sql<never> {
  return { text: `s${index}`, values: [] }
}

/**
 * Returns the ORDER BY terms over sort columns and `id`.
 *
 * @param filled Number of leading keys that are never null, so that an index can have their order.
 */
export function orderTerms({ sort = [] }: Pick<SearchQuery, 'sort'>, filled = 0): Sql<never> {
  const terms = sort.map(
    ({ descending }, index) => `${index < filled ? '' : `s${index} IS NULL, `}s${index} ${descending ? 'DESC' : 'ASC'}`,
  )
  return { text: [...terms, 'id'].join(', '), values: [] }
}

/** Condition for rows after the position, over sort columns and `id`. */
export function isAfter({ sort = [] }: Pick<SearchQuery, 'sort'>, { id, keys }: Position): Sql<KeyValue> {
  const same = keys.map((key, index) => sql`${sortColumn(index)} IS NOT DISTINCT FROM ${key}`)
  const steps = sort.map(({ descending }, index) => {
    const later = laterThan(sortColumn(index), keys[index] ?? null, descending ? sql`<` : sql`>`)
    return joined([...same.slice(0, index), later], ' AND ')
  })
  return sql`(${joined([...steps, joined([...same, sql`id > ${id}`], ' AND ')], ' OR ')})`
}

/** Writes a position as an opaque text. */
export function cursorOf({ id, keys }: Position): string {
  return JSON.stringify([id, ...keys])
}

/**
 * Reads a position from `cursorOf`, for a query with the same sort.
 *
 * @throws {OperationError} `search-invalid` if the cursor does not belong to a query with this sort.
 */
export function readCursor(cursor: string, { sort = [] }: Pick<SearchQuery, 'sort'>): Position {
  const [id, ...keys] = cursorParts(cursor)
  if (typeof id !== 'string' || keys.length !== sort.length || !keys.every(isKey)) {
    throw new OperationError('search-invalid', 'The cursor of the search is not valid.', { expression: ['_cursor'] })
  }
  return { id, keys: keys.filter(isKey) }
}

const sql: SqlTag<KeyValue> = sqlTag()

/** Condition for a later key. Resources without a value come last, so nothing follows null. */
function laterThan(column: Sql<never>, key: KeyValue, operator: Sql<KeyValue>): Sql<KeyValue> {
  return key === null ? sql`FALSE` : sql`(${column} ${operator} ${key} OR ${column} IS NULL)`
}

function isKey(value: unknown): value is KeyValue {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
