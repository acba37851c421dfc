import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { sessionStoreContract, storageContract } from '@fhir-ops/storage-contract'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../test/temporary-folder.js'
import { sqliteSessionStore, sqliteStorage, type SqliteConnection } from './index.js'

/** It comes without types. */
const BetterSqlite: new (file: string) => SqliteConnection = createRequire(import.meta.url)('better-sqlite3')

/** A driver that knows no array rows. */
function objectRows(file: string): SqliteConnection {
  const db = new DatabaseSync(file)
  return {
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      const statement = db.prepare(sql)
      return { run: (...values) => statement.run(...values), all: (...values) => statement.all(...values) }
    },
    close: () => db.close(),
    get isTransaction() {
      return db.isTransaction
    },
  }
}

const DRIVERS: readonly (readonly [string, (file: string) => SqliteConnection])[] = [
  ['node:sqlite', (file) => new DatabaseSync(file)],
  ['better-sqlite3', (file) => new BetterSqlite(file)],
  ['a connection with object rows', objectRows],
]

for (const [name, connect] of DRIVERS) {
  storageContract(`SQLite over ${name}`, async (clock) => {
    const folder = await temporaryFolder()
    const open = () => sqliteStorage(connect(folder.file('data.db')), clock)
    return { storage: open(), reopen: async () => open(), dispose: folder.remove }
  })
  sessionStoreContract(`SQLite over ${name}`, () => ({ store: sqliteSessionStore(connect(':memory:')) }))
}

describe('a connection of the caller', () => {
  it('is refused when it holds tables of another application', () => {
    const db = new DatabaseSync(':memory:')
    db.exec('CREATE TABLE mine (x)')
    expect(() => sqliteStorage(db)).toThrow(expect.objectContaining({ code: 'storage-damaged' }))
    expect(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()).toEqual({ n: 1 })
  })

  it('is refused when a newer version wrote it', () => {
    const db = new DatabaseSync(':memory:')
    db.exec('PRAGMA user_version = 1000')
    expect(() => sqliteStorage(db)).toThrow(expect.objectContaining({ code: 'storage-damaged' }))
  })
})
