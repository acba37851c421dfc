import { conceptStoreContract, sessionStoreContract, storageContract } from '@fhir-ops/storage-contract'
import { afterAll } from 'vitest'
import { testDatabase } from '../test/test-database.js'
import { openPostgres, type PostgresDatabase } from './index.js'

// Nothing here stops a machine, and each test makes a schema: without flushes that takes half the time.
const database = await testDatabase({ fsync: 'off' })
afterAll(() => database.remove())

storageContract(`PostgreSQL (${database.name})`, async (clock) => {
  const schema = await database.schema()
  const open = async () => (await openPostgres(schema.pool(), { ...clock, allowLossyCommits: true })).storage
  return { storage: await open(), reopen: open, dispose: schema.drop }
})

sessionStoreContract(`PostgreSQL (${database.name})`, async () => {
  const schema = await database.schema()
  const { sessions, close } = await openPostgres(schema.pool(), { allowLossyCommits: true })
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
    const db = await openPostgres(schema.pool(), { allowLossyCommits: true })
    opened.push(db)
    return db.concepts
  }
  const dispose = async (): Promise<void> => {
    for (const db of opened) await db.close()
    await schema.drop()
  }
  return { store: await open(), reopen: open, dispose }
})
