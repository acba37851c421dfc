import type { Condition, SearchQuery } from 'fhir-ops/storage'
import { keysWhere, rankOf } from './condition-sql.js'
import { numberOf, type SqliteDriver } from '../database/driver.js'
import { sql, type Sql } from '../database/sql.js'

/** Up to this number of resources, a condition is tested for each instead of being compared with all keys that meet it. */
export const FEW_TO_ASK = 10_000
/** Number of conditions that are examined; later ones are seldom better. */
const MAX_LOOKED_AT = 8

/** A query reduced to the keys of resources that may match. */
export interface Narrowed {
  /** Keys that meet one of the conditions; a key may occur several times. */
  readonly keys: Sql
  /** The remaining conditions. */
  readonly others: Condition
}

/**
 * Narrows a query with several conditions to the condition that the fewest resources meet, if these are few. Counts index entries for that,
 * each time no further than to the lowest count so far. SQLite's estimates do not help, because the values of entries depend on their parameter.
 */
export function narrowest(db: SqliteDriver, { type, where }: Pick<SearchQuery, 'type' | 'where'>, few: number): Narrowed | undefined {
  const conditions = conjuncts(where)
  if (conditions.length < 2) return undefined
  let found: Narrowed | undefined
  let fewest = few + 1
  for (const condition of conditions.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, MAX_LOOKED_AT)) {
    const keys = keysWhere(type, condition)
    const count = keys === undefined ? fewest : countUpTo(db, keys, fewest)
    if (keys === undefined || count >= fewest) continue
    fewest = count
    found = { keys, others: { kind: 'and', conditions: conditions.filter((other) => other !== condition) } }
  }
  return found
}

/** Counts keys, up to `most`. */
export function countUpTo(db: SqliteDriver, keys: Sql, most: number): number {
  return numberOf(db.get(sql`SELECT count(*) FROM (SELECT 1 FROM (${keys}) LIMIT ${Math.max(0, most)})`)?.[0])
}

/** Returns the conditions that must all hold. */
export function conjuncts(where: Condition): readonly Condition[] {
  return where.kind === 'and' ? where.conditions.flatMap(conjuncts) : [where]
}
