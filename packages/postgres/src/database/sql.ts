import { LRUCache } from 'lru-cache'
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

/** A whole number that is part of the statement, so that the planner knows it: how many rows are wanted, never what a caller sends. */
export function literal(number: number): Sql {
  return { text: String(Math.max(-1, Math.min(Math.trunc(number), 2 ** 31 - 1))), values: [] }
}

/** Makes of statements what the driver takes. */
export type Queries = (statement: Statement, timeoutMs: number) => PostgresQuery

/** Statements that are remembered. */
const MAX_KNOWN = 1_000
/** Statements that are prepared beside those that have a name of their own: each takes memory of every connection. */
const MAX_PREPARED = 100
/** Longest of them, in characters: lists of many alternatives are seldom the same again, and their plans are large. */
const MAX_PREPARED_LENGTH = 8_000
/** Uses after which a statement is prepared. */
const USES = 3

interface Known {
  /** With numbered placeholders. */
  readonly text: string
  name: string | undefined
  uses: number
}

/**
 * Numbered placeholders, values that PostgreSQL can keep, and a name for what is asked again and again, so that each connection plans it once. No
 * SQL here has a `?` of its own.
 *
 * @param prepares False where connections are shared between transactions: then nothing has a name.
 */
export function createQueries(prepares: boolean): Queries {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN })
  let named = 0
  const lookUp = ({ text, name }: Statement): Known => {
    const found = known.get(text)
    if (found !== undefined) return found
    const fresh = { text: numbered(text), name: prepares ? name : undefined, uses: 0 }
    known.set(text, fresh)
    return fresh
  }
  return (statement, timeoutMs) => {
    const found = lookUp(statement)
    found.uses++
    const isWorthIt = found.uses === USES && found.text.length <= MAX_PREPARED_LENGTH
    if (prepares && found.name === undefined && isWorthIt && named < MAX_PREPARED) found.name = `fhir_ops_q${named++}`
    const { text, name } = found
    return {
      ...(name !== undefined && { name }),
      text,
      values: statement.values.map(keepable),
      query_timeout: statement.timeoutMs ?? timeoutMs,
    }
  }
}

function numbered(text: string): string {
  let count = 0
  return text.replaceAll('?', () => `$${++count}`)
}

function keepable(value: PostgresValue): PostgresValue {
  if (typeof value === 'string') return withoutNul(value)
  if (!Array.isArray(value)) return value
  return value.map((item) => (typeof item === 'string' ? withoutNul(item) : item))
}

/**
 * PostgreSQL's texts have no U+0000, and FHIR allows none. Where one comes all the same, in a value or in a question, it becomes a
 * code point that no text may have, so that both still agree.
 */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uffff') : text
}
