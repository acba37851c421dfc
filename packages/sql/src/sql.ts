import type { Comparison } from 'fhir-ops/storage'

/** An SQL fragment with a `?` for each value, in order; `V` is the type of values that the database accepts. */
export interface Sql<V> {
  readonly text: string
  readonly values: readonly V[]
}

/** A template tag for SQL. */
export type SqlTag<V> = (strings: TemplateStringsArray, ...parts: readonly (Sql<V> | V)[]) => Sql<V>

/**
 * Creates the template tag of a database: an interpolated `Sql` is inserted, any other value becomes a bound placeholder. There is no
 * other way to put a value into a statement.
 */
export function sqlTag<V>(): SqlTag<V> {
  return (strings, ...parts) => {
    let text = strings[0] ?? ''
    const values: V[] = []
    parts.forEach((part, index) => {
      if (isSql(part)) {
        text += part.text
        values.push(...part.values)
      } else {
        text += '?'
        values.push(part)
      }
      text += strings[index + 1] ?? ''
    })
    return { text, values }
  }
}

/** Joins fragments with `separator`, which must be code, never data. */
export function joined<V>(pieces: readonly Sql<V>[], separator: string): Sql<V> {
  return { text: pieces.map(({ text }) => text).join(separator), values: pieces.flatMap(({ values }) => values) }
}

function isSql<V>(part: Sql<V> | V): part is Sql<V> {
  return typeof part === 'object' && part !== null && 'text' in part
}

const sql = sqlTag<never>()

/** The column of index entries for each field. */
export const COLUMN: Readonly<Record<Comparison['field'], Sql<never>>> = {
  system: sql`system`,
  value: sql`value`,
  text: sql`text`,
  low: sql`low`,
  high: sql`high`,
}

/** SQL operators for ordered comparisons. */
export const ORDER_OPERATOR: Readonly<Record<'lt' | 'le' | 'gt' | 'ge', Sql<never>>> = { lt: sql`<`, le: sql`<=`, gt: sql`>`, ge: sql`>=` }

/** Condition that a text begins with a prefix, as a range that an index can answer: from the prefix itself to the first text after all that begin with it. */
export function hasPrefix<V>(text: Sql<V>, prefix: string): Sql<V | string> {
  const sql = sqlTag<V | string>()
  const end = textAfter(prefix)
  return end === undefined ? sql`${text} >= ${prefix}` : sql`${text} >= ${prefix} AND ${text} < ${end}`
}

const LAST_CODE_POINT = 0x10ffff

/** Returns the least text that follows every text with this prefix in code point order; `undefined` if there is none. */
export function textAfter(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  // Surrogates are not valid code points of a text.
  return last === undefined ? undefined : String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
