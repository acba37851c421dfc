import { OperationError } from 'fhir-ops/errors'
import type { SearchQuery, SortKey } from 'fhir-ops/storage'
import { paramKey } from './entry-sql.js'
import { joined, sql, type Sql } from './sql.js'

/** Where a resource stands in the order of a query: its id, and one value for each sort key, null where it has none. */
export interface Position {
  readonly id: string
  readonly keys: readonly (string | number | null)[]
}

/** The expressions that a query sorts by, for the resource `r`, named `s0`, `s1` and so on. */
export function sortColumns({ type, sort = [] }: SearchQuery): Sql {
  return joined(sort.map((key, index) => sql`, ${sortExpression(type, key)} AS ${columnAt(index)}`), '')
}

/** The ORDER BY terms over those names. */
export function orderTerms({ sort = [] }: SearchQuery): Sql {
  const terms = sort.map(({ descending }, index) => sql`${columnAt(index)} IS NULL, ${columnAt(index)} ${descending ? sql`DESC` : sql`ASC`}`)
  return joined([...terms, sql`id`], ', ')
}

/** What comes after the position, over the same names. */
export function isAfter({ sort = [] }: SearchQuery, { id, keys }: Position): Sql {
  const same = keys.map((key, index) => sql`${columnAt(index)} IS ${key}`)
  const steps = sort.map(({ descending }, index) => {
    const later = laterThan(columnAt(index), keys[index] ?? null, descending ? sql`<` : sql`>`)
    return joined([...same.slice(0, index), later], ' AND ')
  })
  return sql`(${joined([...steps, joined([...same, sql`id > ${id}`], ' AND ')], ' OR ')})`
}

/** The position as an opaque text. */
export function cursorOf({ id, keys }: Position): string {
  return JSON.stringify([id, ...keys])
}

/** @throws {OperationError} `search-invalid` when the cursor is none of a query with this sort. */
export function readCursor(cursor: string, { sort = [] }: SearchQuery): Position {
  const [id, ...keys] = cursorParts(cursor)
  if (typeof id !== 'string' || keys.length !== sort.length || !keys.every(isKey)) {
    throw new OperationError('search-invalid', 'The cursor of the search is not valid.')
  }
  return { id, keys: keys.filter(isKey) }
}

function columnAt(index: number): Sql {
  return { text: `s${index}`, values: [] }
}

function sortExpression(type: string, { param, field, descending }: SortKey): Sql {
  if (field === 'id') return sql`r.id`
  if (field === 'lastUpdated') return sql`r.updated`
  const column = SORT_COLUMNS[field]
  const best = descending ? sql`max(${column})` : sql`min(${column})`
  return sql`(SELECT ${best} FROM entry WHERE resource = r.key AND param = ${paramKey(type, param)})`
}

const SORT_COLUMNS: Readonly<Record<'value' | 'text' | 'low' | 'high', Sql>> = {
  value: sql`value`,
  text: sql`text`,
  low: sql`low`,
  high: sql`high`,
}

/** Resources without a value come last, so nothing of this key comes after null. */
function laterThan(column: Sql, key: string | number | null, operator: Sql): Sql {
  return key === null ? sql`0` : sql`(${column} ${operator} ${key} OR ${column} IS NULL)`
}

function isKey(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

function cursorParts(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(cursor)
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
