import { readFileSync } from 'node:fs'
import { conceptStoreContract, sessionStoreContract, storageContract } from '@fhir-ops/storage-contract'
import type { Condition } from 'fhir-ops/storage'
import { afterAll, expect, test } from 'vitest'
import { basic } from '../../core/test/basics.js'
import { noting, vocabularyOf } from '../test/sent-statements.js'
import { lender, sharedDatabase, UNHURRIED } from '../test/test-database.js'
import { connectionsOf } from './database/connections.js'
import { databaseOver } from './database/database.js'
import { openPostgres, openPostgresToFill, type PostgresDatabase } from './index.js'
import { countingBySets } from './search/set-counts.js'

const database = await sharedDatabase()

const TABLES = ['resource', 'entry', 'version', 'removed', 'user', 'session', 'used_key', 'system', 'section']
/** Deletes little in less time than TRUNCATE takes to make files; deleted resources are noted as removed, so those go after them. */
const EMPTYING = [...TABLES.map((name) => `DELETE FROM fhir_${name}`), `UPDATE fhir_revision SET state = ''`].join('; ')
const contractSchema = await database.schema()
/** Every statement of the contracts. */
const sent = new Set<string>()
const contractPool = noting(contractSchema.pool(), sent)
const lentPool = lender(contractPool)
const emptyingPool = contractSchema.pool({ max: 1 })
let isUsed = false
afterAll(async () => {
  await Promise.all([contractPool.end(), emptyingPool.end()])
  await contractSchema.drop()
})

/** The schema of the contracts without content. It is made by whoever opens it first, which takes longer than most tests. */
async function emptySchema(): Promise<void> {
  if (isUsed) {
    const client = await emptyingPool.connect()
    await client.query({ text: EMPTYING, values: [], query_timeout: 60_000 })
    client.release()
  }
  isUsed = true
}

storageContract(`PostgreSQL (${database.name})`, async (clock) => {
  await emptySchema()
  const open = async () => (await openPostgres(lentPool(), { ...UNHURRIED, ...clock })).storage
  return { storage: await open(), reopen: open }
})

sessionStoreContract(`PostgreSQL (${database.name})`, async () => {
  await emptySchema()
  const { sessions, close } = await openPostgres(lentPool(), UNHURRIED)
  return { store: sessions, dispose: close }
})

conceptStoreContract(`PostgreSQL (${database.name})`, async () => {
  await emptySchema()
  const opened: PostgresDatabase[] = []
  const open = async () => {
    const db = await openPostgres(lentPool(), UNHURRIED)
    opened.push(db)
    return db.concepts
  }
  const dispose = async (): Promise<void> => {
    for (const db of opened) await db.close()
  }
  return { store: await open(), reopen: open, dispose }
})

test.skipIf(database.url === undefined)(
  'The page on PostgreSQL lists what an engine must support, no less and no more (needs a PostgreSQL server)',
  async () => {
    const schema = await database.schema()
    const pool = () => noting(schema.pool(), sent)
    await (await openPostgresToFill(pool(), UNHURRIED)).close()
    // The primary in the place of a standby is asked whether it is one.
    const { storage, sessions, close } = await openPostgres(pool(), { ...UNHURRIED, replicas: [pool()] })
    await storage.count({ type: 'Basic', where: { kind: 'and', conditions: [] } })
    const year = { field: 'low', op: 'ge', operand: 0 } as const
    const all = [year, { ...year, op: 'lt', operand: 1 }] as const
    const code: Condition = { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: 'a' }] }
    await storage.count({ type: 'Basic', where: { kind: 'and', conditions: [code, { kind: 'entry', param: 'date', all }] } })
    const counting = pool()
    const db = databaseOver(counting, connectionsOf(counting, UNHURRIED))
    const count = countingBySets(db, storage.count, { worthMs: -1 })
    for (const id of ['one', 'other']) {
      await storage.write([basic(id)])
      await count({ type: 'Basic', where: code })
    }
    await db.close()
    sessions.news?.onChange(() => {})
    await expect.poll(() => sessions.news?.heard).toBe(true)
    await close()
    await schema.drop()
    const page = readFileSync(new URL('../../../docs/storage/postgres.md', import.meta.url), 'utf8')
    const [, table = ''] = /^### What an engine must support$([\s\S]*?)^#/m.exec(page) ?? []
    // What the lender sends.
    sent.delete('DISCARD ALL')
    const rows = table.split('\n').filter((line) => line.startsWith('|'))
    const listed = vocabularyOf(rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)))
    expect([...listed].sort()).toEqual([...vocabularyOf(sent)].sort())
  },
)
