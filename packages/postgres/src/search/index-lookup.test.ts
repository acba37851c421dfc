import { memoryStorage } from 'fhir-ops/memory'
import { writableText, type Condition, type IndexEntry, type PutEntry, type SearchQuery } from 'fhir-ops/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { representative } from '../../../../test/effort.js'
import { answerOf } from '../../../core/test/storage-answers.js'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { connectionsOf } from '../database/connections.js'
import { databaseOver, type Database } from '../database/database.js'
import { openPostgres } from '../index.js'
import { countMatches, searchPage } from './search-page.js'
import { sql } from '../database/sql.js'
import { meets } from './page-sql.js'

const database = await sharedDatabase()

function put(type: string, id: string, entries: readonly IndexEntry[]): PutEntry {
  return { op: 'put', type, id, text: writableText(type, id, { resourceType: type }), entries }
}

/** Every combination of a colour, a size, a number and an owner of either colour, most of them twice. */
const CONTENT: readonly PutEntry[] = Array.from({ length: 96 }, (_, n) => {
  const entries = [
    { param: 'colour', system: n % 3 === 0 ? 's' : 't', value: n % 2 === 0 ? 'red' : 'blue' },
    ...(n % 5 === 0 ? [{ param: 'colour', system: 's', value: 'green' }] : []),
    { param: 'size', value: ['small', 'large', 'huge'][n % 3] ?? '' },
    { param: 'number', low: n % 7, high: n % 7 },
    { param: 'owner', system: 'Patient', value: `p${n % 4}` },
  ]
  return put('Basic', `b${n}`, entries)
})
const OWNERS = ['p0', 'p1', 'p2', 'p3'].map((id, n) => put('Patient', id, [{ param: 'colour', value: n % 2 === 0 ? 'red' : 'blue' }]))

const value = (param: string, operand: string): Condition => ({ kind: 'entry', param, all: [{ field: 'value', op: 'eq', operand }] })
const owned = { type: 'Patient', where: value('colour', 'red') }
const PARTS: readonly Condition[] = [
  value('colour', 'red'),
  value('colour', 'green'),
  value('size', 'large'),
  value('size', 'nothing'),
  {
    kind: 'entry',
    param: 'colour',
    all: [
      { field: 'value', op: 'eq', operand: 'red' },
      { field: 'system', op: 'in', operands: ['s'] },
    ],
  },
  { kind: 'entry', param: 'colour', all: [{ field: 'value', op: 'in', operands: ['red', 'green'] }] },
  { kind: 'entry', param: 'number', all: [{ field: 'low', op: 'gt', operand: 3 }] },
  {
    kind: 'entry',
    param: 'number',
    all: [
      { field: 'low', op: 'ge', operand: 2 },
      { field: 'low', op: 'lt', operand: 5 },
      { field: 'high', op: 'lt', operand: 5 },
    ],
  },
  { kind: 'refersTo', param: 'owner', query: owned },
  { kind: 'refersTo', param: 'owner', query: { type: 'Patient', where: { kind: 'lastUpdated', from: 1 } } },
  { kind: 'not', condition: value('colour', 'blue') },
  { kind: 'or', conditions: [value('colour', 'green'), value('size', 'huge')] },
  { kind: 'lastUpdated', from: 1, to: 2 },
  { kind: 'id', ids: ['b1', 'b10', 'b2', 'b50'] },
]

const FIRST = PARTS.slice(0, 5)
const PAIRS = FIRST.flatMap((first) => PARTS.map((second): Condition => ({ kind: 'and', conditions: [first, second] })))
/** Each third of the pairs has every part once at least. */
const CONDITIONS = [...FIRST, ...representative(PAIRS, { every: 3 })]

/** No more than so many resources are few. */
describe.each([1_000, 10, -1])('where %d resources are few', (few) => {
  let schema: TestSchema
  let db: Database
  let at = 0
  const clock = { now: () => new Date(at) }
  const memory = memoryStorage([], clock)
  beforeAll(async () => {
    schema = await database.schema()
    const { storage } = await openPostgres(schema.pool(), { ...UNHURRIED, ...clock })
    for (const [time, half] of [CONTENT.slice(0, 48), [...CONTENT.slice(48), ...OWNERS]].entries()) {
      at = time
      for (const one of [storage, memory]) await one.write(half)
    }
    await storage.close()
    const pool = schema.pool()
    db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
  })
  afterAll(async () => {
    await db.close()
    await schema.drop()
  })

  it.each([
    ['by id', []],
    ['by a number', [{ param: 'number', field: 'low', descending: true }]],
  ] as const)('any two conditions find and count what they find in memory, %s', async (_, sort) => {
    const asked = {
      search: (query: SearchQuery) => searchPage(db, query, { few }),
      count: (query: SearchQuery) => countMatches(db, query, few),
    }
    for (const where of CONDITIONS) {
      const query: SearchQuery = { type: 'Basic', where, sort, limit: 30 }
      expect(await answerOf(asked, query), JSON.stringify(where)).toEqual(await answerOf(memory, query))
    }
  })
})

it('an entry of a resource is looked up by the key of the resource, also with statistics of before a load', async () => {
  const schema = await database.schema()
  const pool = schema.pool()
  const { storage } = await openPostgres(pool, UNHURRIED)
  const db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
  await db.rows(sql`INSERT INTO fhir_entry (type, id, param, n, value) SELECT 'Patient', id::text, param, 0, 'x'
    FROM generate_series(1, 2000) AS id, unnest(ARRAY['a', 'b', 'c', 'd', 'e']) AS param`)
  await db.rows(sql`ANALYZE fhir_entry`)
  await db.rows(sql`INSERT INTO fhir_entry (type, id, param, n, value, low, high) SELECT 'Observation', id::text, param, 0, 'x', id, id
    FROM generate_series(1, 20000) AS id, unnest(ARRAY['code', 'date', 'status']) AS param`)
  const isMet = meets('Observation', { kind: 'entry', param: 'date', all: [{ field: 'low', op: 'gt', operand: 3 }] })
  const plan = await db.rows(
    sql`EXPLAIN SELECT 1 FROM (SELECT id FROM fhir_entry WHERE type = 'Observation' AND param = 'code' LIMIT 5000) AS r WHERE ${isMet}`,
  )
  const steps = plan.map((row) => String(row['QUERY PLAN']))
  const look = steps.findIndex((step) => step.includes('SubPlan 1'))
  expect(steps.slice(look).join('\n')).toMatch(/using fhir_entry_pkey.*\n.*id = .*param = /)
  await storage.close()
  await schema.drop()
})
