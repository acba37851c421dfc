import pg from 'pg'
import { expect, test } from 'vitest'
import { openPostgres } from './index.js'

/** As plain JavaScript may call it. */
const open = async (...args: readonly unknown[]): Promise<unknown> => Reflect.apply(openPostgres, undefined, args)

test.each<[string, () => unknown, string]>([
  ['a connection', () => new pg.Client(), 'the pool is a connection (Client of pg). Pass a pool: new Pool(config) of pg.'],
  ['nothing', () => undefined, 'the pool must be a pool (an object with connect, on, end); Pool of pg is one.'],
  ['an address', () => 'postgres://localhost/fhir', 'the pool must be a pool'],
])('%s instead of a pool is a TypeError that names what to pass', async (_, pool, message) => {
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
