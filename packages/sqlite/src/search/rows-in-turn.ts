import { isAfter, orderTerms, type Position } from '@fhir-ops/sql'
import type { Condition, SearchQuery, SortKey } from 'fhir-ops/storage'
import { meets } from './condition-sql.js'
import { sql, textOf, type Row, type Sql, type SqliteDriver } from '../database/driver.js'
import { rowsInOrder, sortColumns } from './entry-sql.js'

/** The part of the matches to return. */
export interface Cut {
  /** Position after which the part begins. */
  readonly after: Position | undefined
  readonly limit: number
}

/** A query for matches by an SQL condition. */
interface Matching extends Pick<SearchQuery, 'type' | 'sort'> {
  /** Condition that the resource `r` is a match. */
  readonly isMatch: Sql
}

/**
 * Finds the first matches along an index in the order of the first sort key: rows of key, id and sort values. Resources without that
 * key come last, in the order of the next key.
 */
export function rowsInTurn(db: SqliteDriver, query: Matching, { after, limit }: Cut): readonly Row[] {
  const { type, isMatch, sort: [first, ...rest] = [] } = query
  if (first === undefined) return db.all(byIdSql(query, { after, limit }))
  const isBehind = after !== undefined && after.keys[0] === null
  const found = isBehind ? [] : db.all(inOrderSql(query, first, { after, limit }))
  if (found.length === limit || first.field === 'id' || first.field === 'lastUpdated') return found
  const isWithout = sql`NOT ${meets(type, hasKey(first), { key: sql`r.key`, each: true })}`
  const last = rowsInTurn(
    db,
    { type, isMatch: sql`${isMatch} AND ${isWithout}`, sort: rest },
    {
      after: isBehind ? { ...after, keys: after.keys.slice(1) } : undefined,
      limit: limit - found.length,
    },
  )
  return [...found, ...last.map(([key = null, id = null, ...keys]) => [key, id, null, ...keys])]
}

/** Returns the position of a row in the sort order. */
export function positionOf([, id, ...keys]: Row): Position {
  return { id: textOf(id), keys: keys.map((key) => (typeof key === 'string' || typeof key === 'number' ? key : null)) }
}

function byIdSql({ type, isMatch }: Matching, { after, limit }: Cut): Sql {
  const behind = after === undefined ? sql`1` : sql`r.id > ${after.id}`
  return sql`SELECT r.key AS key, r.id AS id FROM resource AS r INDEXED BY resource_id WHERE r.type = ${type} AND ${behind}
    AND in_time() AND ${isMatch} ORDER BY r.id LIMIT ${limit}`
}

function inOrderSql(query: Matching, first: SortKey, { after, limit }: Cut): Sql {
  const { key, from, where } = rowsInOrder(query.type, first)
  const value = after?.keys[0] ?? null
  // The index is ordered by the key, so its bound comes first; the rest decides among equal keys.
  const behind = after === undefined ? sql`1` : sql`${key} ${first.descending ? sql`<=` : sql`>=`} ${value} AND ${isAfter(query, after)}`
  return sql`SELECT r.key AS key, r.id AS id, ${key} AS s0${sortColumns(query, 1)} FROM ${from} WHERE ${where} AND ${behind}
    AND in_time() AND ${query.isMatch} ORDER BY ${orderTerms(query, 1)} LIMIT ${limit}`
}

/** Condition that an entry has a value for the sort key. */
function hasKey({ param, field }: SortKey): Condition {
  if (field === 'low' || field === 'high') return { kind: 'entry', param, all: [{ field, op: 'ge', operand: -Number.MAX_VALUE }] }
  return { kind: 'entry', param, all: field === 'value' || field === 'text' ? [{ field, op: 'prefix', operand: '' }] : [] }
}

/** Finds the first matches by sorting all of them: rows of key, id and sort values. */
export function fewRows(db: SqliteDriver, query: SearchQuery, keys: Sql, { after, limit }: Cut): readonly Row[] {
  const found = sql`SELECT r.key AS key, r.id AS id${sortColumns(query)} FROM resource AS r NOT INDEXED WHERE r.key IN (${keys})`
  const behind = after === undefined ? sql`1` : isAfter(query, after)
  return db.all(sql`SELECT * FROM (${found}) WHERE ${behind} ORDER BY ${orderTerms(query)} LIMIT ${limit}`)
}
