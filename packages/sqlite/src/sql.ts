import type { SqliteValue } from './connection.js'

/** A piece of SQL with the values of its placeholders, in order. */
export interface Sql {
  readonly text: string
  readonly values: readonly SqliteValue[]
}

/**
 * Writes SQL as a template: an interpolated `Sql` is spliced in, every other value becomes a bound placeholder. There is no other way
 * here to put a value into a statement.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | SqliteValue)[]): Sql {
  let text = strings[0] ?? ''
  const values: SqliteValue[] = []
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

/** The pieces with `separator` between them, which is code and never data. */
export function joined(pieces: readonly Sql[], separator: string): Sql {
  return { text: pieces.map(({ text }) => text).join(separator), values: pieces.flatMap(({ values }) => values) }
}

/** `(a OP b) OP (c OP d)`: the depth grows with the logarithm, as SQLite bounds the depth of an expression. None at all hold. */
export function balanced(pieces: readonly Sql[], operator: 'AND' | 'OR'): Sql {
  const [first, second] = pieces
  if (first === undefined) return sql`1`
  if (second === undefined) return first
  const middle = Math.ceil(pieces.length / 2)
  return joined([sql`(${balanced(pieces.slice(0, middle), operator)}`, sql`${balanced(pieces.slice(middle), operator)})`], ` ${operator} `)
}

function isSql(part: Sql | SqliteValue): part is Sql {
  return typeof part === 'object' && part !== null && 'text' in part
}
