import { DatabaseSync } from 'node:sqlite'
import { writableText, type Condition, type IndexEntry, type PutEntry } from 'fhir-ops/storage'
import { beforeAll, describe, expect, it } from 'vitest'
import { sqliteDriver } from '../database/driver.js'
import { sqliteStorage } from '../index.js'
import { FEW_TO_ASK } from './condition-sql.js'
import { createKeptSets } from '../sets/kept-sets.js'
import { countOf } from './search-page.js'

const connection = new DatabaseSync(':memory:')
const storage = sqliteStorage(connection)

function put(type: string, id: string, entries: readonly IndexEntry[]): PutEntry {
  return { op: 'put', type, id, text: writableText(type, id, { resourceType: type }), entries }
}

/** Ten Patients, every second female; each but the first has an Observation, of three codes in turn. */
beforeAll(async () => {
  const numbers = Array.from({ length: 10 }, (_, n) => n)
  const patients = numbers.map((n) => put('Patient', `p${n}`, [{ param: 'gender', value: n % 2 === 0 ? 'female' : 'male' }]))
  const observations = numbers.slice(1).map((n) =>
    put('Observation', `o${n}`, [
      { param: 'code', value: `c${n % 3}` },
      { param: 'subject', system: 'Patient', value: `p${n}` },
      { param: 'date', low: n, high: n },
    ]),
  )
  await storage.write([...patients, ...observations])
})

function has(param: string, value: string): Condition {
  return { kind: 'entry', param, all: [{ field: 'value', op: 'eq', operand: value }] }
}

function all(...conditions: readonly Condition[]): Condition {
  return { kind: 'and', conditions }
}

function subject(where: Condition): Condition {
  return { kind: 'refersTo', param: 'subject', query: { type: 'Patient', where } }
}

function observed(where: Condition): Condition {
  return { kind: 'referredBy', param: 'subject', query: { type: 'Observation', where } }
}

const FEMALE = has('gender', 'female')
const LATE: Condition = { kind: 'entry', param: 'date', all: [{ field: 'high', op: 'gt', operand: 4 }] }

describe.each([
  ['each of the fewest is asked', FEW_TO_ASK],
  ['sets are compared', -1],
])('of several conditions, where %s, those resources count that meet all', (_, fewToAsk) => {
  it.each<readonly [type: string, where: Condition, count: number]>([
    ['Observation', all(has('code', 'c1'), LATE), 1],
    ['Observation', all(has('code', 'c1'), subject(FEMALE)), 1],
    ['Observation', all(LATE, all(subject(FEMALE), { kind: 'not', condition: has('code', 'c0') })), 1],
    ['Patient', all(FEMALE, observed(has('code', 'c2'))), 2],
    ['Patient', all(FEMALE, observed(all(has('code', 'c2'), subject(observed(LATE))))), 1],
    ['Patient', all(observed(LATE), observed(has('code', 'c0'))), 2],
    ['Patient', all(FEMALE, has('gender', 'male')), 0],
  ])('%s %j', (type, where, count) => {
    expect(countOf(sqliteDriver(connection), { type, where }, { fewToAsk, sets: createKeptSets() })).toBe(count)
  })
})
