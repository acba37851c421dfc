import { memoryStorage } from 'fhir-ops/memory'
import { scanResources, writableText, type Condition, type IndexEntry, type PutEntry, type ScanQuery } from 'fhir-ops/storage'
import { isObject } from 'fhir-ops/internal/json'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scanOf } from '../../../core/test/storage-answers.js'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { connectionsOf } from '../database/connections.js'
import { databaseOver, type Database } from '../database/database.js'
import { sql } from '../database/sql.js'
import { openPostgres } from '../index.js'
import { scanPage, scanPageSql } from './scan-page.js'

const database = await sharedDatabase()

const [PATIENTS, EACH] = [40, 30]

function put(type: string, id: string, entries: readonly IndexEntry[]): PutEntry {
  return { op: 'put', type, id, text: writableText(type, id, { resourceType: type }), entries }
}

/** Of the observations of a patient, every tenth is a pressure, and every third of these of the period. */
const CONTENT: readonly PutEntry[] = Array.from({ length: PATIENTS }, (_, n) => [
  put('Patient', `p${n}`, []),
  ...Array.from({ length: EACH }, (_entry, i) =>
    put('Observation', `o${n}-${i}`, [
      { param: 'patient', system: 'Patient', value: `p${n}` },
      { param: 'code', system: 'c', value: i % 10 === 0 ? 'pressure' : 'other' },
      { param: 'date', low: i, high: i },
      { param: 'status', system: 's', value: 'final' },
    ]),
  ),
]).flat()

const coded = (operand: string): Condition => ({
  kind: 'entry',
  param: 'code',
  all: [
    { field: 'value', op: 'eq', operand },
    { field: 'system', op: 'eq', operand: 'c' },
  ],
})
const ofStatus = (operand: string): Condition => ({ kind: 'entry', param: 'status', all: [{ field: 'value', op: 'eq', operand }] })
const PERIOD: readonly Condition[] = [
  { kind: 'entry', param: 'date', all: [{ field: 'high', op: 'gt', operand: 5 }] },
  { kind: 'entry', param: 'date', all: [{ field: 'low', op: 'lt', operand: 15 }] },
]
const ALL: Condition = { kind: 'and', conditions: [] }

function pressures(code: Condition): ScanQuery {
  const where: Condition = {
    kind: 'and',
    conditions: [{ kind: 'or', conditions: [ofStatus('final'), ofStatus('amended')] }, code, ...PERIOD],
  }
  return { type: 'Patient', where: ALL, referring: [{ type: 'Observation', where, params: ['patient'] }] }
}

let [schema, db]: [TestSchema?, Database?] = []
const clock = { now: () => new Date(0) }
const memory = memoryStorage([], clock)

beforeAll(async () => {
  schema = await database.schema()
  const opened = await openPostgres(schema.pool(), { ...UNHURRIED, ...clock })
  for (const storage of [opened.storage, memory]) await storage.write(CONTENT)
  await opened.close()
  const pool = schema.pool()
  db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
})

afterAll(async () => {
  await db?.close()
  await schema?.drop()
})

const CODES: readonly (readonly [string, Condition])[] = [
  ['a code', coded('pressure')],
  ['one of several codes', { kind: 'or', conditions: [coded('pressure'), coded('nothing')] }],
]

it.each(CODES.flatMap(([name, code]) => [['few', name, code, 10_000] as const, ['many', name, code, 5] as const]))(
  'where %s resources have %s, a scan reads only the resources that it returns',
  async (_, _name, code, mostHashed) => {
    if (db === undefined) throw new TypeError('No database.')
    const executor = db
    const query = pressures(code)
    expect(await scanOf({ search: memory.search, scan: (asked) => scanPage(executor, asked, mostHashed) }, query)).toEqual(
      await scanOf(memory, query),
    )
    let returned = 0
    for await (const { referring } of scanResources(memory, query)) returned += 1 + referring.length
    expect(returned).toBe(PATIENTS * 2)
    const [row] = await db.rows(sql`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${scanPageSql(query, mostHashed)}`)
    // The page itself is found in the order of ids, and its resources are read again for their texts.
    expect(rowsReadFrom('fhir_resource', row?.['QUERY PLAN'])).toBe(returned + PATIENTS)
  },
)

/** The number of rows of a table that a plan read. */
function rowsReadFrom(table: string, plan: unknown): number {
  if (Array.isArray(plan)) return plan.reduce((sum: number, part) => sum + rowsReadFrom(table, part), 0)
  if (!isObject(plan)) return 0
  const own = plan['Relation Name'] === table ? Number(plan['Actual Rows']) * Number(plan['Actual Loops']) : 0
  return Object.values(plan).reduce((sum: number, part) => sum + rowsReadFrom(table, part), own)
}
