import { expect, test } from 'vitest'
import { connectionsOf } from './connections.js'
import { databaseOver, type Database } from './database.js'
import { storageFailure } from './failure.js'
import { sql, type PostgresClient, type PostgresPool } from './sql.js'

test.each([
  ['57P01', 'a shutdown'],
  ['57P02', 'a crash'],
  ['57P04', 'a database that is dropped'],
  ['25P03', 'a transaction that was idle for too long'],
  ['08006', 'a lost connection'],
])('a connection that ends with %s (%s) is asked nothing more and closed', async (code) => {
  const { db, asked, closed } = failingWith(code)
  await expect(db.transaction((executor) => executor.rows(STATEMENT))).rejects.toMatchObject({ name: 'OperationError' })
  expect(asked).toEqual(['BEGIN ISOLATION LEVEL READ COMMITTED', 'SELECT 1'])
  expect(closed).toEqual([true])
})

test.each([
  [{ code: '57P01' }, 'lost'],
  [{ code: '57P02' }, 'lost'],
  [{ code: '08006' }, 'lost'],
  [{ code: 'ECONNRESET' }, 'lost'],
  [new Error('Connection terminated unexpectedly'), 'lost'],
  [{ code: '57P03' }, 'reached'],
])('a server that went away or is not up yet is named as such: %o', (error, word) => {
  expect(storageFailure(error)).toMatchObject({ code: 'storage-unavailable', message: expect.stringContaining(word) })
})

test.each([
  ['57014', 'a statement that took too long'],
  ['53100', 'a full disk'],
])('a connection that goes on after %s (%s) is rolled back and kept', async (code) => {
  const { db, asked, closed } = failingWith(code)
  await expect(db.transaction((executor) => executor.rows(STATEMENT))).rejects.toMatchObject({ name: 'OperationError' })
  expect(asked).toEqual(['BEGIN ISOLATION LEVEL READ COMMITTED', 'SELECT 1', 'ROLLBACK'])
  expect(closed).toEqual([false])
})

const STATEMENT = sql`SELECT 1`

interface Failing {
  readonly db: Database
  readonly asked: readonly string[]
  /** For each connection that was given back, whether it was closed. */
  readonly closed: readonly boolean[]
}

function failingWith(code: string): Failing {
  const asked: string[] = []
  const closed: boolean[] = []
  const client: PostgresClient = {
    async query({ text }) {
      if (text.includes('server_encoding')) return { rows: [{ encoding: 'UTF8', commits: 'on', flushes: 'on' }] }
      asked.push(text)
      if (text === STATEMENT.text) throw Object.assign(new Error('injected'), { code })
      return { rows: [] }
    },
    release: (destroy = false) => closed.push(destroy),
    on: () => undefined,
  }
  const pool: PostgresPool = { connect: async () => client, on: () => undefined, end: async () => undefined }
  const options = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000, allowLossyCommits: false }
  return { db: databaseOver(pool, connectionsOf(pool, options)), asked, closed }
}
