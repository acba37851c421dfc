import fc from 'fast-check'
import { OperationError } from 'fhir-ops/errors'
import { memoryStorage } from 'fhir-ops/memory'
import {
  containedType,
  writableText,
  type Condition,
  type IndexEntry,
  type SearchQuery,
  type Storage,
  type WriteEntry,
} from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { connectionsOf } from '../database/connections.js'
import { databaseOver, type Database } from '../database/database.js'
import type { Statement } from '../database/sql.js'
import { openPostgres } from '../index.js'
import { countMatches } from './search-page.js'
import { countingBySets, type SetCountOptions } from './set-counts.js'

const database = await sharedDatabase()

const RUNS = rounds({ quick: 6, all: 25 })

/** Reads sets from the first count on. */
const AT_ONCE: SetCountOptions = { worthMs: -1 }

const A = valued('a')
const B = valued('b')
const HIGH: Condition = { kind: 'entry', param: 'many', all: [{ field: 'high', op: 'gt', operand: 1 }] }
const ALL: Condition = { kind: 'and', conditions: [] }
const CONDITIONS: readonly Condition[] = [
  A,
  HIGH,
  ALL,
  { kind: 'and', conditions: [A, HIGH] },
  { kind: 'or', conditions: [A, HIGH, valued('c')] },
  { kind: 'or', conditions: [] },
  { kind: 'not', condition: A },
  { kind: 'and', conditions: [B, { kind: 'not', condition: HIGH }, ALL] },
  { kind: 'not', condition: { kind: 'or', conditions: [A, { kind: 'not', condition: B }] } },
  { kind: 'and', conditions: [A, { kind: 'entry', param: 'many', all: [{ field: 'text', op: 'prefix', operand: 'x' }] }] },
]
const QUERIES = CONDITIONS.map((where): SearchQuery => ({ type: 'Basic', where }))

describe('counts by sets', () => {
  let schema: TestSchema
  const opened: { readonly close: () => Promise<void> }[] = []
  beforeEach(async () => {
    schema = await database.schema()
  })
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close()
    await schema.drop()
  })
  const open = async (): Promise<Storage> => {
    const { storage } = await openPostgres(schema.pool({ max: 4 }), { ...UNHURRIED, notify: false })
    opened.push(storage)
    return storage
  }
  /** Counts of a process, and how many of them the database made. */
  const counting = (
    options: SetCountOptions = AT_ONCE,
  ): { readonly count: Storage['count']; readonly counted: SearchQuery[]; readonly db: Database } => {
    const pool = schema.pool({ max: 4 })
    const db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
    opened.push(db)
    const counted: SearchQuery[] = []
    const inDatabase: Storage['count'] = async (query) => {
      counted.push(query)
      return countMatches(db, query)
    }
    return { count: countingBySets(db, inDatabase, options), counted, db }
  }

  it('are the same as in memory, after any writes', async () => {
    const storage = await open()
    const [first, second] = [counting(), counting({ ...AT_ONCE, maxBytes: 900 })]
    await fc.assert(
      fc.asyncProperty(fc.array(writes, { maxLength: 6 }), async (all) => {
        const memory = memoryStorage()
        await storage.write(Array.from({ length: IDS }, (_, n) => ({ op: 'delete', type: 'Basic', id: idOf(n) })))
        for (const [at, batch] of all.entries()) {
          await Promise.all([storage.write(batch), memory.write(batch)])
          for (const query of QUERIES) {
            // Each asks for other sets than before, so that some miss several writes.
            if ((at + QUERIES.indexOf(query)) % 3 === 0) continue
            const expected = await memory.count(query)
            expect([await first.count(query), await second.count(query)], JSON.stringify(query.where)).toEqual([expected, expected])
          }
        }
      }),
      { numRuns: RUNS, seed: SEED },
    )
    // The second has no room for a set of so many resources, however full their buckets are.
    await storage.write(many('a', 999))
    for (const query of QUERIES) expect(await second.count(query), JSON.stringify(query.where)).toBe(await first.count(query))
    expect(first.counted.length).toBeLessThan(second.counted.length)
  })

  it('are read from memory, once counts in the database have taken as long as reading the sets', async () => {
    const storage = await open()
    await storage.write(many('a', 200))
    const { count, counted } = counting({ worthMs: 0 })
    for (let time = 0; time < 3; time++) expect(await count(QUERIES[3] ?? expect.fail())).toBe(0)
    expect(counted).toHaveLength(1)
    // Sets that are known answer other questions.
    expect(await count({ type: 'Basic', where: A })).toBe(200)
    expect(counted).toHaveLength(1)
    const seldom = counting({ worthMs: 600_000 })
    for (let time = 0; time < 3; time++) await seldom.count({ type: 'Basic', where: A })
    expect(seldom.counted).toHaveLength(3)
  })

  it.each(['storage-timeout', 'storage-full', 'storage-unavailable'] as const)(
    'are left to the database for long if sets could not be read: %s',
    async (code) => {
      stopClock()
      const storage = await open()
      await storage.write(many('a', 10))
      const { db } = counting()
      let tried = 0
      const slow: Database = {
        ...db,
        snapshot: async () => {
          tried++
          vi.advanceTimersByTime(200)
          throw new OperationError(code, 'The statement failed.')
        },
      }
      const count = countingBySets(slow, async (query) => countMatches(db, query), { worthMs: 0 })
      for (let time = 0; time < 3; time++) expect(await count({ type: 'Basic', where: A })).toBe(10)
      expect(tried).toBe(1)
    },
  )

  it('are left to the database for long if sets could not be brought up to date in time', async () => {
    stopClock()
    const storage = await open()
    await storage.write(many('a', 10))
    const { db } = counting()
    let tried = 0
    const slow = watching(db, async ({ text }) => {
      if (!text.includes('string_agg')) return
      tried++
      vi.advanceTimersByTime(200)
      throw new OperationError('storage-timeout', 'The statement took too long.')
    })
    const count = countingBySets(slow, async (query) => countMatches(db, query), { worthMs: 0 })
    for (let time = 0; time < 3; time++) expect(await count({ type: 'Basic', where: A })).toBe(10)
    await storage.write(many('a', 11))
    for (let time = 0; time < 3; time++) expect(await count({ type: 'Basic', where: A })).toBe(11)
    expect(tried).toBe(1)
  })

  it('are left to the database where bringing sets up to date takes longer, until that has taken as long', async () => {
    stopClock()
    const storage = await open()
    await storage.write(many('a', 2_000))
    const { db } = counting()
    const done: string[] = []
    const watched = watching(db, async ({ text }) => {
      if (!text.includes('string_agg')) return
      done.push('brought')
      vi.advanceTimersByTime(1_000)
    })
    let isSlow = false
    const inDatabase: Storage['count'] = async (query) => {
      done.push('counted')
      if (isSlow) vi.advanceTimersByTime(2_500)
      return countMatches(db, query)
    }
    const count = countingBySets(watched, inDatabase, { worthMs: 0 })
    let changed = 0
    const afterChanges = async (): Promise<void> => {
      changed++
      await storage.write(Array.from({ length: 12 }, (_, n) => put(idOf(100 + n * 70), [{ param: 'one', value: `other${changed}` }])))
    }
    const expectCount = async (expected: number, ...by: readonly string[]): Promise<void> => {
      expect(await count({ type: 'Basic', where: A })).toBe(expected)
      expect(done.splice(0)).toEqual(by)
    }
    await expectCount(2_000, 'counted')
    await expectCount(2_000)
    await afterChanges()
    await expectCount(1_988, 'brought')
    await expectCount(1_988)
    await afterChanges()
    await expectCount(1_988, 'counted')
    isSlow = true
    await expectCount(1_988, 'counted')
    await expectCount(1_988, 'brought')
    await afterChanges()
    await expectCount(1_988, 'brought')
  })

  it('do not read again what there is no room for', async () => {
    stopClock()
    const storage = await open()
    await storage.write(many('a', 100))
    const { db } = counting()
    let read = 0
    const watched = watching(db, async ({ text }) => {
      if (!text.includes('row_number')) return
      read++
      vi.advanceTimersByTime(100)
    })
    const count = countingBySets(watched, async (query) => countMatches(db, query), { worthMs: 0, maxBytes: 1 })
    for (let time = 0; time < 5; time++) expect(await count({ type: 'Basic', where: A })).toBe(100)
    expect(read).toBe(1)
  })

  it('see what another program adds and removes', async () => {
    const storage = await open()
    await storage.write(many('a', 100))
    const { count, counted, db } = counting()
    const expectCount = async (expected: number): Promise<void> =>
      expect([await count({ type: 'Basic', where: A }), await count({ type: 'Basic', where: ALL })]).toEqual([expected, expected])
    await expectCount(100)
    const run = async (text: string): Promise<unknown> => db.rows({ text, values: [] })
    await run(`DELETE FROM fhir_entry WHERE id IN ('b007', 'b050')`)
    await run(`DELETE FROM fhir_resource WHERE id IN ('b007', 'b050')`)
    await expectCount(98)
    await run(`INSERT INTO fhir_entry (type, id, param, n, value) VALUES ('Basic', 'b007', 'one', 0, 'a')`)
    await run(`INSERT INTO fhir_resource (type, id, version, updated, text) VALUES ('Basic', 'b007', 1, 0, '{}')`)
    await expectCount(99)
    expect(counted).toEqual([])
    await run('TRUNCATE fhir_resource, fhir_entry')
    await expectCount(0)
  })

  it('are of many more resources than before, wherever their ids are', async () => {
    const storage = await open()
    await storage.write(many('a', 40))
    const { count, counted } = counting()
    const query: SearchQuery = { type: 'Basic', where: { kind: 'and', conditions: [A, { kind: 'not', condition: B }] } }
    expect(await count(query)).toBe(40)
    for (const [times, prefix] of ['z', 'a', 'b0x', 'zz', 'b01x', 'm'].entries()) {
      await storage.write(Array.from({ length: 150 }, (_, n) => put(`${prefix}${n}`, [{ param: 'one', value: n % 2 === 0 ? 'a' : 'b' }])))
      expect(await count(query), prefix).toBe(40 + 75 * (times + 1))
    }
    expect(counted).toEqual([])
  })

  it('are left to the database for references, contained resources, single ids, long texts, and after thousands of changes', async () => {
    const storage = await open()
    await storage.write(many('a', 10))
    const { count, counted } = counting()
    const others: readonly SearchQuery[] = [
      { type: 'Basic', where: { kind: 'and', conditions: [A, { kind: 'refersTo', param: 'r', query: { type: 'Basic', where: ALL } }] } },
      { type: containedType('Basic'), where: A },
      { type: 'Basic', where: { kind: 'or', conditions: [A, { kind: 'id', ids: ['b001'] }] } },
      { type: 'Basic', where: valued('x'.repeat(2_000)) },
    ]
    for (const query of others) await count(query)
    expect(counted).toEqual(others)
    const seldom = counting({ worthMs: 0 })
    for (let time = 0; time < 2; time++) await seldom.count({ type: 'Basic', where: A })
    expect(seldom.counted).toHaveLength(1)
    await storage.write(many('a', 4_001))
    for (let time = 0; time < 3; time++) expect(await seldom.count({ type: 'Basic', where: A })).toBe(4_001)
    expect(seldom.counted).toHaveLength(2)
  })

  it('of several conditions asked at the same time are each of one state, while other processes write', async () => {
    const [writing, also] = [await open(), await open()]
    const ids = Array.from({ length: 300 }, (_, n) => idOf(n))
    // Each batch moves as many resources to each value as from it.
    const batch = (shift: number, part: number): WriteEntry[] =>
      ids.filter((_, n) => n % 2 === part).map((id, n) => put(id, [{ param: 'one', value: (n + shift) % 3 === 0 ? 'a' : 'b' }]))
    await writing.write([...batch(0, 0), ...batch(0, 1)])
    const { count, counted } = counting()
    let isDone = false
    const found = new Set<string>()
    const asking = async (where: Condition, name: string): Promise<void> => {
      while (!isDone) found.add(`${name} ${await count({ type: 'Basic', where })}`)
    }
    const asked = [
      asking(A, 'a'),
      asking(B, 'b'),
      asking({ kind: 'and', conditions: [A, B] }, 'both'),
      asking({ kind: 'not', condition: A }, 'not a'),
    ]
    const moves = async (storage: Storage, part: number): Promise<void> => {
      for (let n = 1; n <= 25; n++) await storage.write(batch(n, part))
    }
    await Promise.all([moves(writing, 0), moves(also, 1)]).finally(() => (isDone = true))
    await Promise.all(asked)
    expect([...found].toSorted()).toEqual(['a 100', 'b 200', 'both 0', 'not a 200'])
    expect(counted.length).toBeLessThan(found.size * 10)
  })
})

/** Makes the clock one that only the test moves: how long the database takes, which depends on what else it does, counts as nothing. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Calls `before` with each statement of snapshots. */
function watching(db: Database, before: (statement: Statement) => Promise<void>): Database {
  return {
    ...db,
    snapshot: async (work) =>
      db.snapshot(async (executor) =>
        work({
          rows: async (statement) => {
            await before(statement)
            return executor.rows(statement)
          },
        }),
      ),
  }
}

const IDS = 300
const value = fc.constantFrom('a', 'b', 'c')
const entries = fc.tuple(
  fc.option(value),
  fc.array(fc.record({ param: fc.constant('many'), text: fc.constantFrom('x', 'xy', 'z'), high: fc.nat(3) }), { maxLength: 2 }),
)
const write = fc.tuple(fc.nat(IDS - 1), fc.nat(4), entries).map(([n, kind, [one, many]]): WriteEntry => {
  if (kind === 0) return { op: 'delete', type: 'Basic', id: idOf(n) }
  return put(idOf(n), [...(one === null ? [] : [{ param: 'one', value: one }]), ...many])
})
const writes = fc.oneof(
  { weight: 3, arbitrary: fc.uniqueArray(write, { selector: ({ id }) => id, minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.uniqueArray(write, { selector: ({ id }) => id, minLength: 100, maxLength: IDS }) },
)

function idOf(n: number): string {
  return `b${String(n).padStart(3, '0')}`
}

function many(code: string, count: number): readonly WriteEntry[] {
  return Array.from({ length: count }, (_, n) => put(idOf(n), [{ param: 'one', value: code }]))
}

function valued(operand: string): Condition {
  return { kind: 'entry', param: 'one', all: [{ field: 'value', op: 'eq', operand }] }
}

function put(id: string, made: readonly IndexEntry[]): WriteEntry {
  return { op: 'put', type: 'Basic', id, text: writableText('Basic', id, { resourceType: 'Basic' }), entries: made }
}
