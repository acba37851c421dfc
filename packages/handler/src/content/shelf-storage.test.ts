import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import type { Condition, Indexer } from 'fhir-ops/storage'
import { createScheduler, type Scheduler } from 'fhir-ops/internal/context'
import { describe, expect, it } from 'vitest'
import type { HeadParameters } from './definition-heads.js'
import { shelfStorage } from './definition-shelf.js'

const TYPE = 'ValueSet'
const RESOURCES = Array.from({ length: 20 }, (_, i) => ({
  resourceType: TYPE,
  id: `v${i}`,
  // Two versions of each.
  url: `http://example.org/${i >> 1}`,
  name: i % 5 === 0 ? 'Fifth' : 'Other',
  status: 'active',
}))
const indexer: Indexer = ({ url, name, id }: JsonObject) => [
  { param: 'url', value: String(url) },
  { param: 'name', value: String(name) },
  { param: 'replaces', system: TYPE, value: id === 'v0' ? 'v9' : 'none' },
]

const is = (param: string, operand: string): Condition => ({ kind: 'entry', param, all: [{ field: 'value', op: 'eq', operand }] })
const url = (i: number): Condition => is('url', `http://example.org/${i}`)
const ids = (...given: readonly string[]): Condition => ({ kind: 'id', ids: given })
const and = (...conditions: readonly Condition[]): Condition => ({ kind: 'and', conditions })
const or = (...conditions: readonly Condition[]): Condition => ({ kind: 'or', conditions })
const not = (condition: Condition): Condition => ({ kind: 'not', condition })
const replaces = (where: Condition): Condition => ({ kind: 'refersTo', param: 'replaces', query: { type: TYPE, where } })
const listed: Condition = {
  kind: 'entry',
  param: 'url',
  all: [{ field: 'value', op: 'in', operands: ['http://example.org/1', 'http://example.org/2'] }],
}
const below: Condition = { kind: 'entry', param: 'url', all: [{ field: 'value', op: 'prefix', operand: 'http://example.org/' }] }

const NONE: HeadParameters = new Map()
const NAME: HeadParameters = new Map([['name', ['ValueSet', 'name']]])

function shelf(
  scheduler: Scheduler = createScheduler(),
  ofHeads = NONE,
): {
  readonly storage: ReturnType<typeof shelfStorage>
  readonly read: readonly string[]
} {
  const read: string[] = []
  const definitions = RESOURCES.map((resource) => ({
    id: resource.id,
    url: resource.url,
    source: {
      get resource() {
        read.push(resource.id)
        return { ...resource }
      },
    },
  }))
  const options = { type: TYPE, scheduler, indexer, ofHeads, startedAt: '2026-01-01T00:00:00Z' }
  return { storage: shelfStorage(definitions, options), read }
}

const ALL = RESOURCES.length
const QUESTIONS: readonly (readonly [string, Condition, number])[] = [
  ['a url', url(3), 2],
  ['a url that there is not', url(99), 0],
  ['a url and a name', and(is('name', 'Fifth'), url(5)), 2],
  ['one of two urls', or(url(1), url(2)), 4],
  ['one of listed urls', listed, 4],
  ['an id', ids('v3'), 1],
  ['an id or a url', or(ids('v3'), url(5)), 3],
  ['a url without what stored resources hide', and(url(3), not(ids('v6'))), 2],
  ['a name', is('name', 'Fifth'), ALL],
  ['a url or a name', or(url(3), is('name', 'Fifth')), ALL],
  ['another url', not(url(3)), ALL],
  ['the beginning of a url', below, ALL],
  ['a url of what refers to another one', and(url(0), replaces(is('name', 'Other'))), ALL],
  ['nothing', and(), ALL],
]

describe('definitions whose heads have what is asked for', () => {
  const sort = [{ param: 'name', field: 'value', descending: true }] as const
  it.each([
    ['a name', { where: is('name', 'Fifth'), limit: 50 }, 4],
    ['a page by name', { where: is('name', 'Other'), limit: 3 }, 4],
    ['the next page', { where: is('name', 'Other'), limit: 3, after: '["v12"]' }, 4],
    ['a page without a name', { where: not(is('name', 'Fifth')), limit: 2 }, 3],
    ['a page in an order', { where: and(), sort, limit: 2 }, 3],
    ['a time', { where: { kind: 'lastUpdated', from: 0, to: 1 } as const, limit: 50 }, 0],
    ['what others refer to', { where: and(is('name', 'Fifth'), replaces(is('name', 'Other'))) }, ALL],
    ['what is not in heads', { where: is('replaces', 'none') }, ALL],
  ])('by %s are parsed again only where they match', async (_, asked, most) => {
    const query = { type: TYPE, ...asked }
    const whole = memoryStorage(RESOURCES, { indexer, now: () => new Date('2026-01-01T00:00:00Z') })
    const { storage, read } = shelf(createScheduler(), NAME)
    const [counted, found, expected] = [await storage.count(query), await storage.search(query), await whole.search(query)]
    expect(counted).toBe(await whole.count(query))
    expect([found.items.map(({ id }) => id), found.next]).toEqual([expected.items.map(({ id }) => id), expected.next])
    const again = read.filter((id, place) => read.indexOf(id) < place).length
    expect(most === ALL ? read.length : again).toBe(most)
  })

  it('are parsed once for their heads, however many ask at once', async () => {
    const { storage, read } = shelf(createScheduler(), NAME)
    await Promise.all([1, 2, 3].map(async () => storage.count({ type: TYPE, where: is('name', 'Fifth') })))
    expect(read).toHaveLength(ALL)
  })
})

describe('definitions that are asked for', () => {
  it.each(QUESTIONS)('by %s are those that there are, and only what may be one is read', async (_, where, most) => {
    const whole = memoryStorage(RESOURCES, { indexer })
    const { storage, read } = shelf()
    const idsOf = async (of: typeof storage): Promise<readonly string[]> =>
      (await of.search({ type: TYPE, where })).items.map(({ id }) => id)
    expect(await idsOf(storage)).toEqual(await idsOf(whole))
    expect(await storage.count({ type: TYPE, where })).toBe(await whole.count({ type: TYPE, where }))
    expect(read).toHaveLength(most)
  })

  it('without a condition on their content are counted unread, and read as far as the page goes, with one more that tells of another page', async () => {
    const whole = memoryStorage(RESOURCES, { indexer })
    const { storage, read } = shelf()
    const query = { type: TYPE, where: and(and(), not(ids('v1', 'v12'))), limit: 4 }
    expect([await storage.count(query), read]).toEqual([18, []])
    let after: string | undefined
    for (const most of [5, 9, 13, 17, 18]) {
      const asked = { ...query, ...(after !== undefined && { after }) }
      const [page, expected] = [await storage.search(asked), await whole.search(asked)]
      expect([page.items.map(({ id }) => id), page.next, read.length]).toEqual([expected.items.map(({ id }) => id), expected.next, most])
      after = page.next
    }
    expect(after).toBeUndefined()
    await expect(storage.search({ ...query, after: 'nonsense' })).rejects.toMatchObject({ code: 'search-invalid' })
  })

  it('in an order of their content are all read', async () => {
    const { storage, read } = shelf()
    const sort = [{ param: 'name', field: 'value', descending: false }] as const
    expect((await storage.search({ type: TYPE, where: and(), sort, limit: 1 })).items.map(({ id }) => id)).toEqual(['v0'])
    expect(read).toHaveLength(ALL)
  })

  it('are read once, in whatever order and at the same time questions come, and have one version', async () => {
    const { storage, read } = shelf()
    const everything = { type: TYPE, where: and() }
    await Promise.all([
      storage.read(TYPE, 'v7'),
      storage.search({ type: TYPE, where: url(3) }),
      storage.search(everything),
      storage.search(everything),
    ])
    const { items } = await storage.search(everything)
    expect(items.map(({ id }) => id)).toEqual(RESOURCES.map(({ id }) => id).toSorted())
    expect(new Set(items.map(({ versionId }) => versionId))).toEqual(new Set(['1']))
    expect(read.toSorted()).toEqual(items.map(({ id }) => id))
  })

  it('are read once, also where a question waits for its turn while another one has them read', async () => {
    const first = Promise.withResolvers<void>()
    const { storage, read } = shelf({ mayGoOn: () => false, turn: async () => (turns++ === 0 ? first.promise : undefined) })
    let turns = 0
    const waiting = storage.read(TYPE, 'v7')
    await storage.read(TYPE, 'v7')
    first.resolve()
    expect([(await waiting)?.versionId, read]).toEqual(['1', ['v7']])
  })

  it('are not there under an id that none has', async () => {
    const { storage, read } = shelf()
    expect([await storage.read(TYPE, 'v99'), read.length]).toEqual([undefined, 0])
  })
})
