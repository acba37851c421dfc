import { definitionEntries } from 'fhir-ops/internal/content'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { translate } from 'fhir-ops/translate'
import { putResource, type PutEntry } from 'fhir-ops/storage'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { revisionOf } from './revision.js'
import type { Row } from '../database/sql.js'
import { openPostgres, type PostgresClient, type PostgresDatabase, type PostgresPool } from '../index.js'

const database = await sharedDatabase()

const COLOURS = 'http://example.org/colours'

describe.skipIf(database.url === undefined)('what is kept of definitions over a PostgreSQL (needs a PostgreSQL server)', () => {
  let schema: TestSchema
  const opened: PostgresDatabase[] = []

  beforeEach(async () => {
    schema = await database.schema()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.close()))
    await schema.drop()
  })

  async function instance(pool = schema.pool()): Promise<PostgresDatabase> {
    const db = await openPostgres(pool, UNHURRIED)
    opened.push(db)
    return db
  }

  it('is looked up again by the next call after another process has changed it', async () => {
    const [a, b] = [await instance(), await instance()]
    const reader = createContext({ storage: b.storage, concepts: b.concepts })
    for (let round = 0; round < 50; round++) {
      await a.storage.write([map(`red-${round}`)])
      expect(await codesIn(reader)).toEqual([`red-${round}`])
    }
    await a.storage.write([{ op: 'delete', type: 'ConceptMap', id: 'colours' }])
    await expect(codesIn(reader)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('costs one small question, also while others write what is not a definition', async () => {
    const { pool, asked } = heard(schema.pool({ max: 1 }))
    const [a, b] = [await instance(), await instance(pool)]
    const reader = createContext({ storage: b.storage, concepts: b.concepts })
    await a.storage.write([map('red')])
    await codesIn(reader)
    await a.storage.write([patient()])
    await a.storage.write([patient()])
    const before = asked().length
    expect(await codesIn(reader)).toEqual(['red'])
    expect(asked().slice(before)).toEqual(['SELECT state FROM fhir_revision'])
  })

  it('is not used when the connection is lost meanwhile', async () => {
    const [a, b] = [await instance(), await instance(schema.pool({ application_name: 'reader' }))]
    const reader = createContext({ storage: b.storage, concepts: b.concepts })
    for (const code of ['red', 'blue', 'green']) {
      await a.storage.write([map(code)])
      await run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reader'")
      expect(await afterLostConnections(() => codesIn(reader))).toEqual([code])
    }
  })
})

/** Each connection of the pool may be found lost, one after the other. */
async function afterLostConnections<T>(ask: () => Promise<T>, left = 10): Promise<T> {
  return ask().catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'storage-unavailable' })
    if (left === 0) throw error
    return afterLostConnections(ask, left - 1)
  })
}

test('who asks while a question is under way gets the answer of a later one, and shares it', async () => {
  const questions: ((rows: readonly Row[]) => void)[] = []
  const revision = revisionOf({ rows: () => new Promise((answer) => questions.push(answer)) })
  const [first, second, third] = [revision(), revision(), revision()]
  questions[0]?.([{ state: 'before' }])
  expect(await first).toBe(1)
  questions[1]?.([{ state: 'after' }])
  expect(await Promise.all([second, third])).toEqual([2, 2])
  expect(questions).toHaveLength(2)
})

async function codesIn(ctx: OperationContext): Promise<readonly string[]> {
  const { matches } = await translate(ctx, { url: COLOURS, coding: { system: 'http://example.org/s', code: 'a' } })
  return matches.map(({ concept }) => concept?.code ?? '')
}

function map(code: string): PutEntry {
  const group = [
    { source: 'http://example.org/s', target: 'http://example.org/t', element: [{ code: 'a', target: [{ code, equivalence: 'equal' }] }] },
  ]
  return putResource(
    { type: 'ConceptMap', id: 'colours', source: { resourceType: 'ConceptMap', url: COLOURS, status: 'active', group } },
    definitionEntries,
  )
}

function patient(): PutEntry {
  return putResource({ type: 'Patient', id: 'ann', source: { resourceType: 'Patient' } }, () => [])
}

/** A pool of one connection, with what was asked over it. */
function heard(pool: PostgresPool): { readonly pool: PostgresPool; readonly asked: () => readonly string[] } {
  const queries: PostgresClient['query'][] = []
  const connect = async (): Promise<PostgresClient> => {
    const client = await pool.connect()
    queries[0] = vi.spyOn(client, 'query')
    return client
  }
  return {
    pool: { connect, on: pool.on.bind(pool), end: () => pool.end() },
    asked: () => queries.flatMap((query) => vi.mocked(query).mock.calls.map(([{ text }]) => text)),
  }
}

async function run(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(statement)
  await client.end()
}
