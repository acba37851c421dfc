import { countBits, membersOf, type Bits } from 'fhir-ops/internal/bits'
import type { SearchQuery } from 'fhir-ops/storage'
import type { Row, SqliteDriver } from '../database/driver.js'
import { asking } from '../database/functions.js'
import { sql } from '../database/sql.js'
import { inTime } from './entry-sql.js'
import { fewRows } from './few-rows.js'
import { rowsInTurn, type Part } from './rows-in-turn.js'

/** Where the keys of all matches are known. */
export interface OfSet extends Part {
  readonly set: Bits
  /** At most so many matches are put in order instead of being looked for in order. */
  readonly few: number
}

/** The first matches: rows of key, id and sort values. */
export function rowsOfSet(db: SqliteDriver, query: SearchQuery, { set, few, ...part }: OfSet): readonly Row[] {
  const count = countBits(set)
  const keys = set.length * 32
  return asking(set, () => {
    const nearby = rowsNearby(db, query, { ...part, keys, count })
    if (nearby !== undefined) return nearby
    if (count > few || count * LARGE_PART > keys) return rowsInTurn(db, { ...query, isMatch: sql`is_member(r.key)` }, part)
    return fewRows(db, query, sql`SELECT value FROM json_each(${JSON.stringify([...membersOf(set)])})`, part)
  })
}

/** Where one key of so many matches, the first matches come soon in whatever order. */
const LARGE_PART = 8

interface Nearby extends Part {
  /** How many there are. */
  readonly keys: number
  /** How many of them match. */
  readonly count: number
}

/** How many times as many rows are looked at as should be enough. */
const SPREAD = 4
/** How many rows of an index are looked at in the time that it takes to put one in order. */
const CHEAPER = 16

/** The first matches among the next resources by id; `undefined` where too few are there, or it is less to put all in order. */
function rowsNearby(db: SqliteDriver, { type, sort = [] }: SearchQuery, { after, limit, keys, count }: Nearby): readonly Row[] | undefined {
  const looked = Math.ceil((SPREAD * limit * keys) / Math.max(1, count))
  if (sort.length > 0 || looked > count * CHEAPER) return undefined
  const behind = after === undefined ? sql`1` : sql`id > ${after.id}`
  const next = sql`SELECT key, id FROM resource INDEXED BY resource_id WHERE type = ${type} AND ${behind} ORDER BY id LIMIT ${looked}`
  const found = db.all(sql`SELECT r.key, r.id FROM (${next}) AS r WHERE ${inTime(sql`r.key`)} AND is_member(r.key) LIMIT ${limit}`)
  return found.length === limit ? found : undefined
}
