import type { PostgresPool } from '../src/index.js'

/** The pool, whose connections note the text of every statement that they send, COPY and the statements of the driver included. */
export function noting(pool: PostgresPool, sent: Set<string>): PostgresPool {
  const noted = new WeakSet<object>()
  pool.on('acquire', (client) => {
    if (noted.has(client)) return
    noted.add(client)
    const connection: object = Reflect.get(client, 'connection')
    for (const [on, method, textOf] of [
      [connection, 'query', (text: unknown) => text],
      [connection, 'parse', (query: unknown) => Reflect.get(Object(query), 'text')],
    ] as const) {
      const send: unknown = Reflect.get(on, method)
      if (typeof send !== 'function') throw new TypeError(`The connection has no ${method}.`)
      Reflect.set(on, method, (...args: readonly unknown[]): unknown => {
        sent.add(String(textOf(args[0])))
        return Reflect.apply(send, on, args)
      })
    }
  })
  return pool
}

const DDL = ['CREATE TABLE', 'ALTER TABLE'] as const
/** Types of columns stand behind their names. */
const COLUMN_TYPES = /(?:[(,]|\bEXISTS)\s*[a-z_]+ ([a-z]+(?: precision)?)/g

/** What statements ask an engine for: keywords, functions with `()` and types; no names, values or places of values. */
export function vocabularyOf(statements: Iterable<string>): ReadonlySet<string> {
  const words = new Set<string>()
  for (const statement of statements) {
    const text = statement.replaceAll(/'[^']*'/g, "''").replaceAll(/"[^"]*"/g, 'name')
    for (const [word] of text.matchAll(/\b[A-Z]{2,}\b/g)) words.add(word)
    for (const [, name] of text.matchAll(/\b([a-z][a-z0-9_]*)\(/g)) words.add(`${name}()`)
    for (const [, type = ''] of text.matchAll(/::\s*([a-z][a-z0-9_]*(?: precision)?(?:\[\])?)/g)) words.add(type)
    if (DDL.some((start) => text.startsWith(start))) for (const [, type = ''] of text.matchAll(COLUMN_TYPES)) words.add(type)
  }
  return words
}
