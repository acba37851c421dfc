import { memoryStorage } from 'fhir-ops/memory'
import { CONTAINED_PARAM, containedType, type Condition, type PutEntry, type SearchQuery } from 'fhir-ops/storage'
import { beforeEach, expect, it } from 'vitest'
import { basic, byCode } from '../../../core/test/basics.js'
import { keptCounts } from '../resources/storage.js'

const storage = memoryStorage()
const counted: SearchQuery[] = []
const slow = async (query: SearchQuery): Promise<number> => {
  counted.push(query)
  return storage.count(query)
}
const changes = storage.changes ?? expect.fail()
const A = byCode('a')
const OTHERS: Condition = { kind: 'not', condition: { kind: 'refersTo', param: 'r', query: { ...A, type: 'Other' } } }

beforeEach(async () => {
  await storage.write(['one', 'two', 'other', 'container'].map((id) => ({ op: 'delete', type: id === 'other' ? 'Other' : 'Basic', id })))
  await storage.write([basic('one')])
  counted.length = 0
})

async function times(query: SearchQuery, count = keptCounts(changes, slow, 0)): Promise<(count: number) => Promise<void>> {
  for (let time = 0; time < 5; time++) await count(query)
  expect(counted).toHaveLength(2)
  return async (expected) => expect(await count(query)).toBe(expected)
}

it('is done twice and then kept, until something of the type has changed', async () => {
  const expectCount = await times(A)
  await storage.write([other('a')])
  await expectCount(1)
  expect(counted).toHaveLength(2)
  await storage.write([basic('two')])
  await expectCount(2)
  await expectCount(2)
  expect(counted).toHaveLength(3)
  await storage.write([{ op: 'delete', type: 'Basic', id: 'two' }])
  await expectCount(1)
})

it('is done again after any change where it looks at other resources', async () => {
  const refers: PutEntry = { ...basic('one'), entries: [{ param: 'r', system: 'Other', value: 'other' }] }
  await storage.write([refers])
  const expectCount = await times({ type: 'Basic', where: { kind: 'and', conditions: [OTHERS] } })
  await storage.write([other('a')])
  await expectCount(0)
})

it('is done again after any change where it is of what is within others', async () => {
  const within = containedType('Medication')
  const expectCount = await times({ type: within, where: A.where })
  const contained = [{ type: within, id: 'Basic/container#m', entries: [{ param: 'code', value: 'a' }] }]
  await storage.write([
    { ...basic('container'), entries: [{ param: CONTAINED_PARAM, system: within, value: 'Basic/container#m' }], contained },
  ])
  await expectCount(1)
})

it('is not kept where it takes no time, and where the changes are not known', async () => {
  const quick = keptCounts(changes, slow)
  for (let time = 0; time < 5; time++) await quick(A)
  expect(counted).toHaveLength(5)
  const unknown = keptCounts(async () => ({ mark: '', changed: 'unknown' }), slow, 0)
  for (let time = 0; time < 5; time++) await unknown(A)
  expect(counted).toHaveLength(10)
})

function other(code: string): PutEntry {
  const { text, ...entry } = basic('other', { code })
  return { ...entry, type: 'Other', text: text.replace('"Basic"', '"Other"') }
}
