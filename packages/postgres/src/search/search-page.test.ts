import { writableText, type SearchQuery } from 'fhir-ops/storage'
import { expect, it } from 'vitest'
import { sharedDatabase, UNHURRIED } from '../../test/test-database.js'
import { connectionsOf } from '../database/connections.js'
import { databaseOver } from '../database/database.js'
import { openPostgres } from '../index.js'
import { searchPage } from './search-page.js'

const database = await sharedDatabase()

it('a page of large resources ends early, and the next one goes on behind it', async () => {
  const schema = await database.schema()
  const { storage } = await openPostgres(schema.pool(), UNHURRIED)
  const data = 'x'.repeat(3 * 1024 * 1024)
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    await storage.write([
      { op: 'put', type: 'Binary', id, text: writableText('Binary', id, { resourceType: 'Binary', data }), entries: [] },
    ])
  }
  const all = { type: 'Binary', where: { kind: 'and', conditions: [] } } as const
  const first = await storage.search(all)
  expect(first.items.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  const second = await storage.search({ ...all, after: first.next ?? '' })
  expect(second.items.map(({ id }) => id)).toEqual(['d', 'e'])
  expect(second.next).toBeUndefined()
  await storage.close()
  await schema.drop()
})

it('a text that is longer than an index can hold is found by all of it, and only by that', async () => {
  const schema = await database.schema()
  const { storage } = await openPostgres(schema.pool(), UNHURRIED)
  const long = `${'🙂'.repeat(300)}${'é'.repeat(3_000)}`
  const texts = { whole: `${long}a`, other: `${long}b`, beginning: long.slice(0, 400), short: 'a' }
  for (const [id, value] of Object.entries(texts)) {
    const text = writableText('Basic', id, { resourceType: 'Basic' })
    await storage.write([{ op: 'put', type: 'Basic', id, text, entries: [{ param: 'p', system: value, value, text: value }] }])
  }
  const idsFor = async (op: 'eq' | 'prefix' | 'contains' | 'suffix', operand: string) => {
    const found = await Promise.all(
      (['system', 'value', 'text'] as const).map((field) =>
        storage.search({ type: 'Basic', where: { kind: 'entry', param: 'p', all: [{ field, op, operand }] } }),
      ),
    )
    const ids = found.map(({ items }) => items.map(({ id }) => id))
    expect(ids[1]).toEqual(ids[0])
    expect(ids[2]).toEqual(ids[0])
    return ids[0]
  }
  expect(await idsFor('eq', `${long}a`)).toEqual(['whole'])
  expect(await idsFor('eq', long)).toEqual([])
  expect(await idsFor('eq', long.slice(0, 400))).toEqual(['beginning'])
  expect(await idsFor('prefix', long)).toEqual(['other', 'whole'])
  expect(await idsFor('prefix', long.slice(0, 398))).toEqual(['beginning', 'other', 'whole'])
  expect(await idsFor('contains', 'éb')).toEqual(['other'])
  expect(await idsFor('suffix', 'a')).toEqual(['short', 'whole'])
  const descending = await storage.search({
    type: 'Basic',
    where: { kind: 'and', conditions: [] },
    sort: [{ param: 'p', field: 'value', descending: true }],
  })
  expect(descending.items.map(({ id }) => id)).toEqual(['other', 'whole', 'beginning', 'short'])
  await storage.close()
  await schema.drop()
})

it.each([
  ['few enough to be sorted', 60],
  ['too many to be sorted', 130],
])('pages begin where the matches do, be they far off and %s', async (_, matching) => {
  const schema = await database.schema()
  const [opened, pool] = [await openPostgres(schema.pool(), UNHURRIED), schema.pool()]
  const ids = Array.from({ length: 150 }, (_value, n) => `b${100 + n}`)
  const expected = ids.slice(-matching)
  const text = (id: string): string => writableText('Basic', id, { resourceType: 'Basic' })
  const entriesOf = (id: string, n: number) => [
    { param: 'code', value: expected.includes(id) ? 'a' : 'b' },
    { param: 'date', low: n },
  ]
  await opened.storage.write(ids.map((id, n) => ({ op: 'put', type: 'Basic', id, text: text(id), entries: entriesOf(id, n) })))
  const db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
  const found: SearchQuery = { type: 'Basic', where: { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: 'a' }] } }
  for (const sort of [
    [],
    [{ param: 'date', field: 'low', descending: false }],
    [{ param: '_id', field: 'id', descending: false }],
  ] as const) {
    const seen: string[] = []
    for (let after: string | undefined = '', left = 20; after !== undefined && left > 0; left--) {
      const page = await searchPage(db, { ...found, sort, limit: 17, ...(after !== '' && { after }) }, { few: 1 })
      seen.push(...page.items.map(({ id }) => id))
      after = page.next
    }
    expect(seen).toEqual(expected)
  }
  await db.close()
  await opened.close()
  await schema.drop()
})
