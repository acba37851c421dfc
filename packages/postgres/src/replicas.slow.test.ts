import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { storageContract } from '@fhir-ops/storage-contract'
import type { Storage } from 'fhir-ops/storage'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { basic, byCode } from '../../core/test/basics.js'
import { asked, followerOf, REPLICATION } from '../test/failover-pair.js'
import { testServer, type TestServer } from '../test/test-server.js'
import { openPostgres, type OpenPostgresOptions, type PostgresDatabase } from './index.js'

// Commits wait for nobody: a standby may be behind.
const primary = await testServer({ ...REPLICATION, synchronous_commit: 'local' })
const standby = primary && (await followerOf(primary))
afterAll(async () => {
  await standby?.remove()
  await primary?.remove()
})
if (primary === undefined || standby === undefined)
  process.stdout.write('No PostgreSQL server can be had: the tests of reading from standbys are skipped\n')

const BY_CODE = byCode('a')

describe.skipIf(standby === undefined)('reading from a standby (needs PostgreSQL servers)', () => {
  if (primary === undefined || standby === undefined) return

  storageContract('PostgreSQL with a standby', async (clock) => {
    const world = await freshWorld(clock)
    return { storage: (await world.open()).storage, reopen: async () => (await world.open()).storage, dispose: async () => {} }
  })

  it('happens for searches, counts, scans and histories, and writes and reads of one resource go to the primary', async () => {
    const { open, seen } = await freshWorld()
    const { storage } = await open()
    await storage.write([basic('one')])
    seen.length = 0
    expect((await storage.search(BY_CODE)).items).toHaveLength(1)
    expect(await storage.count(BY_CODE)).toBe(1)
    expect((await storage.scan?.({ type: 'Basic', where: BY_CODE.where }))?.items).toHaveLength(1)
    expect((await storage.history?.page({ types: ['Basic'] }))?.items).toHaveLength(1)
    expect(
      new Set(seen.filter(({ text }) => text.includes('FROM fhir_entry') || text.includes('FROM fhir_resource')).map(({ at }) => at)),
    ).toEqual(new Set(['standby']))
    seen.length = 0
    await storage.read('Basic', 'one')
    await storage.write([basic('one')])
    expect(new Set(seen.map(({ at }) => at))).toEqual(new Set(['primary']))
  })

  it('shows what any process had acknowledged when the call began', async () => {
    const { open, seen } = await freshWorld()
    const [one, other] = await Promise.all([open(), open()])
    for (let n = 1; n <= 100; n++) {
      await one.storage.write([basic(`b${n}`)])
      expect([await one.storage.count(BY_CODE), await other.storage.count(BY_CODE)]).toEqual([n, n])
    }
    expect(seen.filter(({ at, text }) => at === 'standby' && text.includes('FROM fhir_entry')).length).toBeGreaterThan(0)
  })

  it('is left to the primary while the standby is behind, and comes back', async () => {
    const { open, seen } = await freshWorld()
    const { storage } = await open()
    await storage.write([basic('one')])
    await asked(standby, 'SELECT pg_wal_replay_pause()')
    await storage.write([basic('two')])
    expect(await storage.count(BY_CODE)).toBe(2)
    await asked(standby, 'SELECT pg_wal_replay_resume()')
    await expect.poll(() => foundAt(seen, storage)).toEqual('standby')
    expect(await storage.count(BY_CODE)).toBe(2)
  })

  it('is left to the primary while the standby is away, and comes back', async () => {
    const { open, seen } = await freshWorld()
    const { storage } = await open()
    await storage.write([basic('one')])
    expect(await foundAt(seen, storage)).toBe('standby')
    await standby.stop('kill')
    expect(await storage.count(BY_CODE)).toBe(1)
    expect(await foundAt(seen, storage)).toBe('primary')
    await standby.start()
    await expect.poll(() => foundAt(seen, storage)).toEqual('standby')
  })

  it('makes one read wait, not all, where a standby that was away does not answer', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const url = `postgres://fhir@127.0.0.1:${Object(silent.address()).port}/fhir`
    const { open } = await freshWorld({ connectTimeoutMs: 2_000 }, { ...(standby ?? unreachable()), url })
    const { storage } = await open()
    const answered: string[] = []
    const search = async (name: string): Promise<void> => {
      expect((await storage.search(BY_CODE)).items).toEqual([])
      answered.push(name)
    }
    await search('first')
    await after(1_100)
    await Promise.all([search('trying'), search('other'), after(20).then(() => search('later'))])
    expect(answered.at(-1)).toBe('trying')
  })

  it('ends where the standby becomes a primary of its own', async () => {
    const other = await followerOf(primary)
    onTestFinished(() => other.remove())
    const { open, seen } = await freshWorld({}, other)
    const { storage } = await open()
    await storage.write([basic('one')])
    await asked(other, 'SELECT pg_promote(true, 60)')
    expect(await storage.count(BY_CODE)).toBe(1)
    expect(await foundAt(seen, storage)).toBe('primary')
  })

  it('refuses what is not a pool', async () => {
    const open = Reflect.apply(openPostgres, undefined, [new pg.Pool(), { replicas: ['postgres://localhost'] }])
    await expect(open).rejects.toThrow('openPostgres: replicas must be a list, with a pool')
  })

  /** An empty schema with its standby, and what was asked of each. */
  async function freshWorld(options: OpenPostgresOptions = {}, replica: TestServer = standby ?? unreachable()) {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await asked(primary ?? unreachable(), `CREATE SCHEMA ${name}`)
    const seen: Seen[] = []
    const open = async (): Promise<PostgresDatabase> => {
      const [main, copy] = [primary ?? unreachable(), replica].map(
        ({ url }) => new pg.Pool({ connectionString: url, options: `-c search_path=${name}`, max: 4 }),
      )
      if (main === undefined || copy === undefined) return unreachable()
      observe(main, 'primary', seen)
      observe(copy, 'standby', seen)
      return openPostgres(main, { ...options, replicas: [copy], notify: false })
    }
    return { open, seen }
  }
})

interface Seen {
  readonly at: 'primary' | 'standby'
  readonly text: string
}

function observe(pool: pg.Pool, at: Seen['at'], seen: Seen[]): void {
  pool.on('connect', (client) => {
    const send = client.query.bind(client)
    Object.assign(client, {
      query(...args: readonly unknown[]) {
        const text = Reflect.get(Object(args[0]), 'text')
        if (typeof text === 'string') seen.push({ at, text })
        return Reflect.apply(send, client, args)
      },
    })
  })
}

async function foundAt(seen: Seen[], storage: Storage): Promise<Seen['at'] | undefined> {
  seen.length = 0
  await storage.search(BY_CODE)
  return seen.findLast(({ text }) => text.includes('FROM fhir_entry'))?.at
}

function unreachable(): never {
  throw new Error('There is no server.')
}
