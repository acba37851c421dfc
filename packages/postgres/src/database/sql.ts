import { sqlTag, type Sql as AnySql, type SqlTag } from '@fhir-ops/sql'
import type { PostgresQuery, PostgresValue } from './pool.js'

/** A piece of SQL for PostgreSQL. */
export type Sql = AnySql<PostgresValue>

/** Writes SQL for PostgreSQL as a template; what is interpolated is bound. */
export const sql: SqlTag<PostgresValue> = sqlTag()

/** A statement, with a name when it is always the same but for its values. */
export interface Statement extends Sql {
  readonly name?: string
  /** How long the driver waits for the answer, where that is another time than for all statements. */
  readonly timeoutMs?: number
}

/** Names a statement so that each connection plans it once. */
export function prepared(name: string, { text, values }: Sql): Statement {
  return { name: `fhir_ops_${name}`, text, values }
}

/** The statement as the driver takes it: numbered placeholders, values that PostgreSQL can keep. No SQL here has a `?` of its own. */
export function queryOf({ name, text, values, timeoutMs: own }: Statement, timeoutMs: number): PostgresQuery {
  let count = 0
  return {
    ...(name !== undefined && { name }),
    text: text.replaceAll('?', () => `$${++count}`),
    values: values.map(keepable),
    query_timeout: own ?? timeoutMs,
  }
}

/**
 * PostgreSQL's texts have no U+0000, and FHIR allows none. Where one comes all the same, in a value or in a question, it becomes a
 * code point that no text may have, so that both still agree.
 */
function keepable(value: PostgresValue): PostgresValue {
  if (typeof value === 'string') return withoutNul(value)
  if (!Array.isArray(value)) return value
  return value.map((item) => (typeof item === 'string' ? withoutNul(item) : item))
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uffff') : text
}
