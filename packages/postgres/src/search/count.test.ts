import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import { writableText, type IndexEntry, type SearchQuery, type WriteEntry } from 'fhir-ops/storage'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { keptCounts } from '../resources/storage.js'
import { openPostgres, type PostgresDatabase } from '../index.js'

const database = await sharedDatabase()

const RUNS = rounds({ quick: 5, all: 15 })

const value = fc.constantFrom('a', 'b')
const entry: fc.Arbitrary<IndexEntry> = fc.record({
  param: fc.constantFrom('one', 'many'),
  system: fc.constantFrom('s', 't'),
  value,
  text: value,
  high: fc.nat(3),
})
/** Of the parameter `one` a resource has no second entry, as most have none of a status or a subject, unless it is an odd one. */
const entries = fc
  .tuple(fc.array(entry, { maxLength: 5 }), fc.nat(9))
  .map(([all, odd]) =>
    odd === 0 ? all : all.filter(({ param }, n) => param === 'many' || n === all.findIndex((other) => other.param === 'one')),
  )
const write: fc.Arbitrary<WriteEntry> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.nat(20), entries).map(([n, made]) => put(`b${n}`, made)) },
  fc.nat(20).map((n): WriteEntry => ({ op: 'delete', type: 'Basic', id: `b${n}` })),
)

const QUERIES: readonly SearchQuery[] = ['one', 'many', 'none'].flatMap((param) =>
  [
    [{ field: 'value', op: 'eq', operand: 'a' }] as const,
    [{ field: 'value', op: 'in', operands: ['a', 'b'] }] as const,
    [{ field: 'high', op: 'gt', operand: 0 }] as const,
    [{ field: 'text', op: 'prefix', operand: 'b' }] as const,
  ].flatMap((all): SearchQuery[] => [
    { type: 'Basic', where: { kind: 'entry', param, all } },
    {
      type: 'Basic',
      where: {
        kind: 'or',
        conditions: [all, [{ field: 'system', op: 'eq', operand: 's' }] as const].map((each) => ({ kind: 'entry', param, all: each })),
      },
    },
  ]),
)

describe('a count', () => {
  let schema: TestSchema
  const opened: PostgresDatabase[] = []
  beforeEach(async () => {
    schema = await database.schema()
  })
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close()
    await schema.drop()
  })
  const open = async (): Promise<PostgresDatabase> => {
    const db = await openPostgres(schema.pool({ max: 4 }), { ...UNHURRIED, notify: false })
    opened.push(db)
    return db
  }

  it('has each resource once, however many entries it has, after any writes of two processes', async () => {
    const [first, second] = [await open(), await open()]
    let at = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.boolean(), fc.uniqueArray(write, { selector: ({ id }) => id, minLength: 1, maxLength: 6 })), { maxLength: 8 }),
        async (writes) => {
          const memory = memoryStorage()
          const kept = new Map(
            [first, second].map(({ storage }) => [storage, keptCounts(storage.changes ?? expect.fail(), storage.count, 0)]),
          )
          const type = `Basic`
          const all = Array.from({ length: 21 }, (_, n): WriteEntry => ({ op: 'delete', type, id: `b${n}` }))
          await first.storage.write(all)
          for (const [isFirst, batch] of writes) {
            at++
            await Promise.all([(isFirst ? first : second).storage.write(batch), memory.write(batch)])
            // Few are asked often, so that some are kept.
            for (const query of [QUERIES[at % QUERIES.length], ...QUERIES.slice(0, 2)]) {
              if (query === undefined) continue
              const { storage } = isFirst ? second : first
              expect([await storage.count(query), await kept.get(storage)?.(query)]).toEqual(Array(2).fill(await memory.count(query)))
            }
          }
          for (const query of QUERIES) expect(await first.storage.count(query), JSON.stringify(query)).toBe(await memory.count(query))
        },
      ),
      { numRuns: RUNS, seed: SEED },
    )
  })

  it.skipIf(database.url === undefined)(
    'is of one state while another process gives resources a second entry (needs a PostgreSQL server)',
    async () => {
      const [reading, writing] = [await open(), await open()]
      const ids = Array.from({ length: 30 }, (_, n) => `b${n}`)
      const of = (times: number): WriteEntry[] =>
        ids.map((id) =>
          put(
            id,
            Array.from({ length: times }, () => ({ param: 'one', value: 'a' })),
          ),
        )
      await writing.storage.write(of(1))
      const stop = new AbortController()
      const query: SearchQuery = {
        type: 'Basic',
        where: { kind: 'entry', param: 'one', all: [{ field: 'value', op: 'eq', operand: 'a' }] },
      }
      const counts = new Set<number>()
      const count = async (): Promise<void> => {
        while (!stop.signal.aborted) counts.add(await reading.storage.count(query))
      }
      const counting = [count(), count()]
      for (let n = 0; n < 60; n++) await writing.storage.write(of(1 + (n % 2)))
      stop.abort()
      await Promise.all(counting)
      expect([...counts]).toEqual([ids.length])
    },
  )

  it.skipIf(database.url === undefined)(
    'is right over entries that a version before numbered together (needs a PostgreSQL server)',
    async () => {
      const { storage } = await open()
      await storage.write([
        put('b1', [
          { param: 'other', value: 'a' },
          { param: 'one', value: 'a' },
          { param: 'one', value: 'b' },
        ]),
      ])
      const client = new pg.Client({ connectionString: schema.url })
      await client.connect()
      await client.query('UPDATE fhir_entry SET n = n + 10 WHERE param = $1', ['one'])
      await client.end()
      expect(
        await storage.count({
          type: 'Basic',
          where: { kind: 'entry', param: 'one', all: [{ field: 'value', op: 'in', operands: ['a', 'b'] }] },
        }),
      ).toBe(1)
    },
  )
})

function put(id: string, made: readonly IndexEntry[]): WriteEntry {
  return { op: 'put', type: 'Basic', id, text: writableText('Basic', id, { resourceType: 'Basic' }), entries: made }
}
