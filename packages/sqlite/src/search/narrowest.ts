import type { Condition, SearchQuery } from 'fhir-ops/storage'
import { keysWhere, rankOf } from './condition-sql.js'
import { numberOf, type SqliteDriver } from '../database/driver.js'
import { sql, type Sql } from '../database/sql.js'

/** Up to this many resources are tested one by one for a condition, instead of being compared with all that meet it. */
export const FEW_TO_ASK = 10_000
/** Conditions that are looked at; there is seldom a better one after these. */
const MAX_LOOKED_AT = 8

/** A query by the keys of resources that may match. */
export interface Narrowed {
  /** Those that meet one of the conditions; a key may come several times. */
  readonly keys: Sql
  /** What they must meet besides it. */
  readonly others: Condition
}

/**
 * Narrows a query of several conditions to the one that the fewest resources meet, when they are few: found by counting into the indexes,
 * no further than to the fewest so far. What SQLite guesses is of no use here, as the values of an entry depend on its parameter.
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

/** How many keys there are, counted no further than to `most`. */
export function countUpTo(db: SqliteDriver, keys: Sql, most: number): number {
  return numberOf(db.get(sql`SELECT count(*) FROM (SELECT 1 FROM (${keys}) LIMIT ${Math.max(0, most)})`)?.[0])
}

/** The conditions that must all hold. */
export function conjuncts(where: Condition): readonly Condition[] {
  return where.kind === 'and' ? where.conditions.flatMap(conjuncts) : [where]
}
