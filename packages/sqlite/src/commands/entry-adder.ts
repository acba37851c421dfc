import type { PutEntry } from 'fhir-ops/storage'
import type { SqliteValue } from '../database/connection.js'
import { numberOf, type SqliteDriver } from '../database/driver.js'
import { sql } from '../database/sql.js'

/** Adds the index entries of the resource that has a key, which has none. */
export type AddEntries = (resource: number, put: PutEntry) => void

/** Rows of one statement: each statement has costs of its own, which `npm run bench first-load` shows. */
const MAX_ROWS = 32

/** For one write only: it remembers numbers of search parameters, which go when the write that makes them is rolled back. */
export function entryAdder(db: SqliteDriver): AddEntries {
  const paramsOf = paramNumbers(db)
  return (resource, { type, entries }) => {
    const numberOfParam = paramsOf(type)
    for (let from = 0; from < entries.length; from += MAX_ROWS) {
      const values: SqliteValue[] = []
      const end = Math.min(from + MAX_ROWS, entries.length)
      for (const [index, { param, system, value, text, low, high }] of entries.slice(from, end).entries())
        values.push(resource, numberOfParam(param), from + index, system ?? null, value ?? null, text ?? null, low ?? null, high ?? null)
      db.fixed(ADD_ROWS[end - from - 1] ?? '').run(...values)
    }
  }
}

const ROW = '(?, ?, ?, ?, ?, ?, ?, ?)'

/**
 * The statements for 1, 2, and so on rows. What fails ends the whole write: told so by OR FAIL, SQLite keeps no journal of the single
 * statement, which costs more than the rows.
 */
const ADD_ROWS: readonly string[] = Array.from(
  { length: MAX_ROWS },
  (_, others) => `INSERT OR FAIL INTO entry (resource, param, n, system, value, text, low, high) VALUES ${ROW}${`, ${ROW}`.repeat(others)}`,
)

function paramNumbers(db: SqliteDriver): (type: string) => (name: string) => number {
  const byType = new Map<string, Map<string, number>>()
  return (type) => {
    const known = byType.get(type) ?? new Map<string, number>()
    byType.set(type, known)
    return (name) => {
      const number = known.get(name) ?? paramNumber(db, type, name)
      known.set(name, number)
      return number
    }
  }
}

function paramNumber(db: SqliteDriver, type: string, name: string): number {
  const known = db.get(sql`SELECT key FROM param WHERE type = ${type} AND name = ${name}`)
  return numberOf((known ?? db.get(sql`INSERT INTO param (type, name) VALUES (${type}, ${name}) RETURNING key`))?.[0])
}
