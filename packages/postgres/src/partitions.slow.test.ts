import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { storageContract } from '@fhir-ops/storage-contract'
import pg from 'pg'
import { afterAll, describe } from 'vitest'
import { testServer } from '../test/test-server.js'
import { openPostgres } from './index.js'

const server = await testServer({ fsync: 'off' })
afterAll(async () => server?.remove())
if (server === undefined) process.stdout.write('No PostgreSQL server can be had: the test of partitions is skipped\n')

/** As the page on this storage has it. */
const PAGE = readFileSync(new URL('../../../docs/storage/postgres.md', import.meta.url), 'utf8')
const PARTITIONS = /```sql\n(CREATE TABLE fhir_resource[^`]*)```/.exec(PAGE)?.[1] ?? ''

describe.skipIf(server === undefined)('tables that were made in partitions by type and id beforehand (needs a PostgreSQL server)', () => {
  if (server === undefined) return
  if (PARTITIONS === '') throw new Error('The page has no tables in partitions.')

  storageContract('PostgreSQL in partitions', async (clock) => {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(`CREATE SCHEMA ${name}; SET search_path = ${name}; ${PARTITIONS}`)
    await client.end()
    const pool = () => new pg.Pool({ connectionString: server.url, options: `-c search_path=${name}`, max: 4 })
    const open = async () => (await openPostgres(pool(), { ...clock, allowLossyCommits: true })).storage
    return { storage: await open(), reopen: open, dispose: async () => {} }
  })
})
