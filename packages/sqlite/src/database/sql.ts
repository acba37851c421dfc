import { joined, sqlTag, type Sql as AnySql, type SqlTag } from '@fhir-ops/sql'
import type { SqliteValue } from './connection.js'

/** A piece of SQL for SQLite. */
export type Sql = AnySql<SqliteValue>

/** Writes SQL for SQLite as a template; what is interpolated is bound. */
export const sql: SqlTag<SqliteValue> = sqlTag()

/** `(a OP b) OP (c OP d)`: the depth grows with the logarithm, as SQLite bounds the depth of an expression. None at all hold. */
export function balanced(pieces: readonly Sql[], operator: 'AND' | 'OR'): Sql {
  const [first, second] = pieces
  if (first === undefined) return sql`1`
  if (second === undefined) return first
  const middle = Math.ceil(pieces.length / 2)
  return joined([sql`(${balanced(pieces.slice(0, middle), operator)}`, sql`${balanced(pieces.slice(middle), operator)})`], ` ${operator} `)
}
