import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { conceptStoreContract, sessionStoreContract, storageContract } from '@fhir-ops/storage-contract'
import { describe, expect, it } from 'vitest'
import { ALL } from '../../../test/effort.js'
import { basic } from '../../core/test/basics.js'
import { temporaryFolder } from '../test/temporary-folder.js'
import { sqliteConceptStore, sqliteSessionStore, sqliteStorage, type SqliteConnection, type SqliteStatement } from './index.js'

/** As `@types/better-sqlite3` has it: the values of a statement are a parameter of its type. */
interface TypedStatement<Values extends unknown[]> {
  readonly reader: boolean
  run(...values: Values): unknown
  all(...values: Values): unknown[]
  raw(enabled?: boolean): this
}

interface TypedDatabase {
  readonly inTransaction: boolean
  exec(sql: string): this
  prepare<Values extends unknown[] | object = unknown[]>(
    sql: string,
  ): Values extends unknown[] ? TypedStatement<Values> : TypedStatement<[Values]>
  function(name: string, implementation: () => unknown): this
  close(): this
}

const BetterSqlite: new (file: string) => TypedDatabase = createRequire(import.meta.url)('better-sqlite3')

/** A driver that knows no array rows. */
function objectRows(file: string): SqliteConnection {
  const db = new DatabaseSync(file)
  return {
    exec: (sql) => db.exec(sql),
    prepare(sql): SqliteStatement {
      const statement = db.prepare(sql)
      return { run: (...values) => statement.run(...values), all: (...values) => statement.all(...values) }
    },
    function: (called, implementation) => db.function(called, implementation),
    close: () => db.close(),
    get isTransaction() {
      return db.isTransaction
    },
  }
}

const DRIVERS: readonly (readonly [string, (file: string) => SqliteConnection])[] = [
  ['node:sqlite', (file) => new DatabaseSync(file)],
  ['better-sqlite3', (file) => new BetterSqlite(file)],
  ...(ALL ? [['a connection with object rows', objectRows] as const] : []),
]

for (const [name, connect] of DRIVERS) {
  storageContract(`SQLite over ${name}`, async (clock) => {
    const folder = await temporaryFolder()
    const open = () => sqliteStorage(connect(folder.file('data.db')), clock)
    return { storage: open(), reopen: async () => open(), dispose: folder.remove }
  })
  sessionStoreContract(`SQLite over ${name}`, () => ({ store: sqliteSessionStore(connect(':memory:')) }))
  conceptStoreContract(`SQLite over ${name}`, async () => {
    const folder = await temporaryFolder()
    const open = () => sqliteConceptStore(connect(folder.file('data.db')))
    return { store: open(), reopen: async () => open(), dispose: folder.remove }
  })
}

describe('a connection of the caller', () => {
  it.each([undefined, 'content.db', {}, Promise.resolve()])('%s is none', (given) => {
    const refused = new TypeError(
      'The connection must be an open SQLite database (an object with exec, prepare, function, close). openSqlite takes the path of a file.',
    )
    for (const make of [sqliteStorage, sqliteSessionStore, sqliteConceptStore])
      expect(() => Reflect.apply(make, undefined, [given])).toThrow(refused)
  })

  it.each([0, 3, 1000])('is refused when it holds tables of another application, whose version is %s', (version) => {
    const db = new DatabaseSync(':memory:')
    db.exec(`CREATE TABLE resource (x); PRAGMA user_version = ${version}`)
    const message = 'The database holds tables of another application.'
    expect(() => sqliteStorage(db)).toThrow(expect.objectContaining({ code: 'storage-damaged', message }))
    expect(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()).toEqual({ n: 1 })
  })

  it('that may not write says so, and reads', async () => {
    const folder = await temporaryFolder()
    const file = folder.file('data.db')
    const writable = sqliteStorage(new DatabaseSync(file))
    await writable.write([basic('kept')])
    await writable.close()
    const storage = sqliteStorage(new DatabaseSync(file, { readOnly: true }))
    const refused = { code: 'storage-unavailable', message: expect.stringContaining('read-only') }
    await expect(storage.write([basic('more')])).rejects.toMatchObject(refused)
    expect(await storage.read('Basic', 'kept')).toBeDefined()
    await storage.close()
    await folder.remove()
  })

  it('is refused when a newer version wrote it', () => {
    const db = new DatabaseSync(':memory:')
    db.exec('PRAGMA user_version = 1000')
    expect(() => sqliteStorage(db)).toThrow(expect.objectContaining({ code: 'storage-damaged' }))
  })

  it('is brought from the schema without history, which then begins with what is there', async () => {
    const clock = { now: () => new Date(0) }
    const db = new DatabaseSync(':memory:')
    const storage = sqliteStorage(db, { ...clock, history: false })
    await storage.write([basic('kept'), basic('gone'), { op: 'delete', type: 'Basic', id: 'gone' }, basic('kept')])
    expect(storage.history).toBeUndefined()
    db.exec(
      'DROP TRIGGER resource_added; DROP TRIGGER resource_changed; DROP TRIGGER resource_removed; DROP TABLE change; DROP TABLE index_to_make; DROP TABLE used_key; DROP TABLE old_version; DROP INDEX deleted_updated; DROP INDEX entry_high; ALTER TABLE stored_system DROP COLUMN staged_at; PRAGMA user_version = 2',
    )
    const { history, write } = sqliteStorage(db, clock)
    await write([basic('kept')])
    const { items = [] } = (await history?.page({ types: ['Basic'] })) ?? {}
    expect(items.map(({ id, versionId, stored }) => [id, versionId, stored === undefined])).toEqual([
      ['gone', '2', true],
      ['kept', '3', false],
      ['kept', '2', false],
    ])
  })
})
