import { OperationError } from 'fhir-ops/errors'
import type { Storage } from 'fhir-ops/storage'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { basic, byCode } from '../../core/test/basics.js'
import { testDatabase, type TestSchema } from '../test/test-database.js'
import { openPostgres, type PostgresClient, type PostgresPool, type PostgresQuery } from './index.js'

// Nothing here stops a machine, and each test makes a schema: without flushes that takes half the time.
const database = await testDatabase({ fsync: 'off' })
afterAll(() => database.remove())

interface Fault {
  /** Whether this call fails, before or after the server has carried it out. */
  strikes(text: string): 'before' | 'after' | undefined
  readonly error: Error
}

/** A pool whose connections fail when the fault strikes; they are closed then, as a lost connection would be. */
function faulty(pool: PostgresPool, fault: Fault): PostgresPool {
  const clients = new WeakMap<PostgresClient, PostgresClient>()
  return {
    async connect() {
      const client = await pool.connect()
      const known = clients.get(client) ?? faultyClient(client, fault)
      clients.set(client, known)
      return known
    },
    on: pool.on.bind(pool),
    end: () => pool.end(),
  }
}

function faultyClient(client: PostgresClient, fault: Fault): PostgresClient {
  let lost = false
  return {
    on: ((event: 'error', listener: () => void) => client.on(event, listener)) as PostgresClient['on'],
    release: (destroy) => client.release(destroy === true || lost),
    async query(query: PostgresQuery) {
      const when = fault.strikes(query.text)
      lost ||= when !== undefined && !('code' in fault.error)
      if (when === 'before') throw fault.error
      const result = await client.query(query)
      if (when === 'after') throw fault.error
      return result
    },
  }
}

const LOST = new Error('Connection terminated unexpectedly')
const CHANGES = [basic('changed', { code: 'b' }), basic('new', { code: 'b' }), { op: 'delete', type: 'Basic', id: 'gone' }] as const

function failing(code: string): Error {
  return Object.assign(new Error('injected'), { code })
}

async function seen(storage: Storage): Promise<unknown> {
  const versions = await Promise.all(['kept', 'changed', 'gone', 'new'].map(async (id) => (await storage.read('Basic', id))?.versionId))
  const found = await Promise.all(['a', 'b'].map(async (code) => (await storage.search(byCode(code))).items.map((item) => item.id)))
  return { versions, found, count: await storage.count(byCode('a')) }
}

const BEFORE = { versions: ['1', '1', '1', undefined], found: [['changed', 'gone', 'kept'], []], count: 3 }
const AFTER = { versions: ['1', '2', undefined, '1'], found: [['kept'], ['changed', 'new']], count: 1 }

interface World {
  readonly storage: Storage
  readonly calls: string[]
  readonly fault: { strikes: Fault['strikes']; error: Error }
}

async function withWorld(work: (world: World) => Promise<void>): Promise<void> {
  const schema: TestSchema = await database.schema()
  const calls: string[] = []
  const fault: World['fault'] = { strikes: () => undefined, error: LOST }
  const striking: Fault = {
    strikes: (text) => (calls.push(text), fault.strikes(text)),
    get error() {
      return fault.error
    },
  }
  const { storage } = await openPostgres(faulty(schema.pool(), striking), { allowLossyCommits: true, notify: false })
  await storage.write([basic('kept', { code: 'a' }), basic('changed', { code: 'a' }), basic('gone', { code: 'a' })])
  calls.length = 0
  try {
    await work({ storage, calls, fault })
  } finally {
    await storage.close()
    await schema.drop()
  }
}

/** Strikes at the n-th call from now, once. */
function nth(n: number, when: 'before' | 'after'): Fault['strikes'] {
  let left = n
  return () => (left-- === 0 ? when : undefined)
}

describe.skipIf(database.url === undefined)('a connection that is lost (needs a PostgreSQL server)', () => {
  it.each(['before', 'after'] as const)(
    '%s any call leaves a write done as a whole or not at all, and the next one works',
    async (when) => {
      let faults = 0
      for (let n = 0, failed = true; failed; n++) {
        await withWorld(async ({ storage, fault }) => {
          fault.strikes = nth(n, when)
          failed = await storage.write(CHANGES).then(
            () => false,
            (error: unknown) => error instanceof OperationError && error.code === 'storage-unavailable',
          )
          fault.strikes = () => undefined
          if (failed) faults++
          const found = await seen(storage)
          expect([BEFORE, AFTER], `call ${n}`).toContainEqual(found)
          if (!failed) expect(found).toEqual(AFTER)
        })
      }
      expect(faults).toBeGreaterThan(5)
    },
  )

  it.each(['before', 'after'] as const)(
    '%s the commit is answered makes the outcome unknown: an error, and no second try',
    async (when) => {
      await withWorld(async ({ storage, calls, fault }) => {
        fault.strikes = (text) => (text === 'COMMIT' ? when : undefined)
        await expect(storage.write(CHANGES)).rejects.toMatchObject({ code: 'storage-unavailable' })
        expect(calls.filter((text) => text === 'COMMIT')).toHaveLength(1)
        expect(calls.filter((text) => text.startsWith('BEGIN'))).toHaveLength(1)
        fault.strikes = () => undefined
        expect(await seen(storage)).toEqual(when === 'after' ? AFTER : BEFORE)
      })
    },
  )
})

describe('a transaction that another one makes impossible', () => {
  it.each(['40001', '40P01', '23505'])('(%s) is tried again at any call', async (code) => {
    await withWorld(async ({ storage, calls, fault }) => {
      await storage.write([basic('kept', { code: 'a' })])
      fault.error = failing(code)
      fault.strikes = nth(calls.length - 1, 'before')
      await storage.write([basic('kept', { code: 'a' })])
      expect((await storage.read('Basic', 'kept'))?.versionId).toBe('3')
    })
  })

  it('is given up after some tries', async () => {
    await withWorld(async ({ storage, calls, fault }) => {
      fault.error = failing('40001')
      fault.strikes = (text) => (text === 'COMMIT' ? 'before' : undefined)
      await expect(storage.write(CHANGES)).rejects.toMatchObject({ code: 'storage-locked' })
      expect(calls.filter((text) => text === 'COMMIT')).toHaveLength(6)
      fault.strikes = () => undefined
      expect(await seen(storage)).toEqual(BEFORE)
    })
  })
})

describe('errors of the server have codes of their own', () => {
  const CODES: readonly (readonly [sqlstate: string, code: string])[] = [
    ['53100', 'storage-full'],
    ['57014', 'storage-timeout'],
    ['55P03', 'storage-locked'],
    ['XX001', 'storage-damaged'],
    ['42P01', 'storage-damaged'],
    ['57P01', 'storage-unavailable'],
    ['57P03', 'storage-unavailable'],
    ['25006', 'storage-unavailable'],
    ['53300', 'storage-unavailable'],
    ['58030', 'storage-unavailable'],
    ['08006', 'storage-unavailable'],
    ['ECONNREFUSED', 'storage-unavailable'],
    ['ETIMEDOUT', 'storage-timeout'],
  ]
  it.each(CODES)('%s is %s, and the next call works', async (sqlstate, code) => {
    await withWorld(async ({ storage, fault }) => {
      fault.error = failing(sqlstate)
      fault.strikes = nth(1, 'before')
      const error: unknown = await storage.write(CHANGES).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ name: 'OperationError', code, cause: { message: 'injected' } })
      expect(String(error)).not.toContain('injected')
      fault.strikes = () => undefined
      expect(await seen(storage)).toEqual(BEFORE)
    })
  })
})

describe.skipIf(database.url === undefined)('a server that is not as it should be (needs a PostgreSQL server)', () => {
  async function withSchema<T>(work: (schema: TestSchema) => Promise<T>): Promise<T> {
    const schema = await database.schema()
    try {
      return await work(schema)
    } finally {
      await schema.drop()
    }
  }

  it('is refused when it acknowledges commits before they are on disk', async () => {
    await withSchema(async (schema) => {
      const pool = schema.pool({ options: '-c synchronous_commit=off' })
      await expect(openPostgres(pool)).rejects.toMatchObject({
        code: 'storage-unavailable',
        message: expect.stringContaining('synchronous_commit'),
      })
      await pool.end()
    })
  })

  it.each([
    ['-c search_path=pg_temp,public', 'search_path'],
    ['-c array_nulls=off', 'array_nulls'],
  ])('is refused when it would keep something else than what is written (%s)', async (options, name) => {
    await withSchema(async (schema) => {
      const pool = schema.pool({ options })
      const message = expect.stringContaining(name)
      await expect(openPostgres(pool, { allowLossyCommits: true })).rejects.toMatchObject({ code: 'storage-unavailable', message })
      await pool.end()
    })
  })

  it('is refused when a newer version of the adapter wrote the database that does not serve this one', async () => {
    await withSchema(async (schema) => {
      await (await openPostgres(schema.pool(), { allowLossyCommits: true })).close()
      const pool = schema.pool()
      const client = await pool.connect()
      await client.query({ text: 'UPDATE fhir_schema SET version = 1000, least_version = 1000', values: [], query_timeout: 0 })
      client.release()
      await expect(openPostgres(pool, { allowLossyCommits: true })).rejects.toMatchObject({ code: 'storage-damaged' })
      await pool.end()
    })
  })

  it('goes on with a migration that was cut short at any statement', async () => {
    for (let n = 0, failed = true; failed; n++) {
      await withSchema(async (schema) => {
        const cut = schema.pool()
        const error = Object.assign(new Error('injected'), { code: '57P01' })
        failed = await openPostgres(faulty(cut, { strikes: nth(n, 'before'), error }), { allowLossyCommits: true }).then(
          () => false,
          () => true,
        )
        await cut.end()
        const { storage, close } = await openPostgres(schema.pool(), { allowLossyCommits: true })
        expect((await storage.write([basic('a', { code: 'a' })]))[0]?.versionId).toBe('1')
        await close()
      })
    }
  })

  it('makes no call wait forever: not for a connection, not for an answer', async () => {
    await withSchema(async (schema) => {
      const db = await openPostgres(schema.pool({ max: 1 }), {
        allowLossyCommits: true,
        statementTimeoutMs: 2_000,
        connectTimeoutMs: 2_000,
        notify: false,
      })
      const blocker = schema.pool()
      const client = await blocker.connect()
      await client.query({ text: 'BEGIN; LOCK TABLE fhir_resource', values: [], query_timeout: 0 })
      const write = db.storage.write([basic('a', { code: 'a' })])
      await expect(db.storage.read('Basic', 'a')).rejects.toMatchObject({ code: 'storage-timeout' })
      await expect(write).rejects.toMatchObject({ code: 'storage-timeout' })
      client.release(true)
      await blocker.end()
      // On a busy machine a new connection may take longer than is waited for it.
      await vi.waitFor(() => db.storage.write([basic('a', { code: 'a' })]), { timeout: 300_000 })
      await db.close()
    })
  })
})
