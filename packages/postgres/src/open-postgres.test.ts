import { readFileSync } from 'node:fs'
import { conceptStoreContract, sessionStoreContract, storageContract } from '@fhir-ops/storage-contract'
import { afterAll, expect, test, vi } from 'vitest'
import { noting, vocabularyOf } from '../test/sent-statements.js'
import { testDatabase } from '../test/test-database.js'
import { openPostgres, openPostgresToFill, type PostgresDatabase } from './index.js'

// Nothing here stops a machine, and each test makes a schema: without flushes that takes half the time.
const database = await testDatabase({ fsync: 'off' })
afterAll(() => database.remove())

/** Every statement of the contracts. */
const sent = new Set<string>()

storageContract(`PostgreSQL (${database.name})`, async (clock) => {
  const schema = await database.schema()
  const open = async () => (await openPostgres(noting(schema.pool(), sent), { ...clock, allowLossyCommits: true })).storage
  return { storage: await open(), reopen: open, dispose: schema.drop }
})

sessionStoreContract(`PostgreSQL (${database.name})`, async () => {
  const schema = await database.schema()
  const { sessions, close } = await openPostgres(noting(schema.pool(), sent), { allowLossyCommits: true })
  const dispose = async (): Promise<void> => {
    await close()
    await schema.drop()
  }
  return { store: sessions, dispose }
})

conceptStoreContract(`PostgreSQL (${database.name})`, async () => {
  const schema = await database.schema()
  const opened: PostgresDatabase[] = []
  const open = async () => {
    const db = await openPostgres(noting(schema.pool(), sent), { allowLossyCommits: true })
    opened.push(db)
    return db.concepts
  }
  const dispose = async (): Promise<void> => {
    for (const db of opened) await db.close()
    await schema.drop()
  }
  return { store: await open(), reopen: open, dispose }
})

test.skipIf(database.url === undefined)(
  'The page on PostgreSQL lists what an engine must support, no less and no more (needs a PostgreSQL server)',
  async () => {
    const schema = await database.schema()
    const pool = () => noting(schema.pool(), sent)
    await (await openPostgresToFill(pool(), { allowLossyCommits: true })).close()
    // The primary in the place of a standby is asked whether it is one.
    const { storage, sessions, close } = await openPostgres(pool(), { allowLossyCommits: true, replicas: [pool()] })
    await storage.count({ type: 'Basic', where: { kind: 'and', conditions: [] } })
    sessions.news?.onChange(() => {})
    await vi.waitFor(() => expect(sessions.news?.heard).toBe(true), { timeout: 30_000 })
    await close()
    await schema.drop()
    const page = readFileSync(new URL('../../../docs/storage/postgres.md', import.meta.url), 'utf8')
    const [, table = ''] = /^### What an engine must support$([\s\S]*?)^#/m.exec(page) ?? []
    const rows = table.split('\n').filter((line) => line.startsWith('|'))
    const listed = vocabularyOf(rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)))
    expect([...listed].sort()).toEqual([...vocabularyOf(sent)].sort())
  },
)
