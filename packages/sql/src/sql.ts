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
