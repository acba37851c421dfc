import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { expect, test } from 'vitest'
import { pglitePool, openPostgres, type OpenPostgresOptions } from './index.js'

/** As plain JavaScript may call it. */
const open = async (...args: readonly unknown[]): Promise<unknown> => Reflect.apply(openPostgres, undefined, args)

test.each<[string, () => unknown, string]>([
  ['a connection', () => new pg.Client(), 'the pool is a connection (Client of pg). Pass a pool: new Pool(config) of pg.'],
  ['nothing', () => undefined, 'the pool must be a pool (an object with connect, on, end); Pool of pg is one.'],
  ['an address', () => 'postgres://localhost/fhir', 'the pool must be a pool'],
])('%s in place of a pool is a TypeError that names what to pass', async (_, pool, message) => {
  await expect(open(pool())).rejects.toThrow(TypeError)
  await expect(open(pool())).rejects.toThrow(message)
})

test('a misspelt option is a TypeError', async () => {
  await expect(open(new pg.Pool(), { statementTimeout: 5 })).rejects.toThrow(
    "openPostgres: there is no option 'statementTimeout'. Did you mean 'statementTimeoutMs'?",
  )
})

test('transactionPooling without notify: false is a TypeError', async () => {
  await expect(open(new pg.Pool(), { transactionPooling: true })).rejects.toThrow('notify must be false')
})

test('a PGlite is refused by name, and works behind its pool', async () => {
  const db = await PGlite.create()
  await expect(open(db)).rejects.toThrow('Pass pglitePool(db) of @fhir-ops/postgres.')
  const options: OpenPostgresOptions = { notify: false, allowLossyCommits: true }
  const { storage, close } = await openPostgres(pglitePool(db), options)
  const text = '{"resourceType":"Basic","id":"a","meta":{}}'
  await Promise.all(['1', '2', '3'].map(async () => storage.write([{ op: 'put', type: 'Basic', id: 'a', text, entries: [] }])))
  expect((await storage.read('Basic', 'a'))?.versionId).toBe('3')
  await close()
  expect((await db.query('SELECT count(*)::int AS n FROM fhir_version')).rows).toEqual([{ n: 2 }])
  await db.close()
})
