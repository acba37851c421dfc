import { isAfter, orderTerms } from '@fhir-ops/sql'
import type { SearchQuery } from 'fhir-ops/storage'
import type { Row, SqliteDriver } from '../database/driver.js'
import { sql, type Sql } from '../database/sql.js'
import type { Part } from './rows-in-turn.js'
import { sortColumns } from './sort-sql.js'

/** The first matches, all of which are put in order: rows of key, id and sort values. */
export function fewRows(db: SqliteDriver, query: SearchQuery, keys: Sql, { after, limit }: Part): readonly Row[] {
  const found = sql`SELECT r.key AS key, r.id AS id${sortColumns(query)} FROM resource AS r NOT INDEXED WHERE r.key IN (${keys})`
  const behind = after === undefined ? sql`1` : isAfter(query, after)
  return db.all(sql`SELECT * FROM (${found}) WHERE ${behind} ORDER BY ${orderTerms(query)} LIMIT ${limit}`)
}
