import { joined, sqlTag, type Sql as AnySql, type SqlTag } from '@fhir-ops/sql'
import type { SqliteValue } from './connection.js'

/** An SQL fragment for SQLite. */
export type Sql = AnySql<SqliteValue>

/** Template tag for SQL of SQLite; interpolated values are bound. */
export const sql: SqlTag<SqliteValue> = sqlTag()

/** Combines conditions as `(a OP b) OP (c OP d)`: the depth grows logarithmically, because SQLite limits the depth of expressions. An empty list is true. */
export function balanced(pieces: readonly Sql[], operator: 'AND' | 'OR'): Sql {
  const [first, second] = pieces
  if (first === undefined) return sql`1`
  if (second === undefined) return first
  const middle = Math.ceil(pieces.length / 2)
  return joined([sql`(${balanced(pieces.slice(0, middle), operator)}`, sql`${balanced(pieces.slice(middle), operator)})`], ` ${operator} `)
}
