import { describe, expect, it } from 'vitest'
import { allMatches, putResource, type Condition, type IndexEntry, type SearchQuery, type Storage } from '../storage/index.js'
import { memoryStorage } from './index.js'

const EVERYTHING: Condition = { kind: 'and', conditions: [] }

function entriesOf(value: number): readonly IndexEntry[] {
  return [{ param: 'n', value: `v${value % 7}`, low: value, high: value + 0.5 }]
}

async function put(storage: Storage, id: string, value: number): Promise<void> {
  await storage.write([putResource({ type: 'Basic', id, source: { resourceType: 'Basic' } }, () => entriesOf(value))])
}

async function idsOf(storage: Storage, query: SearchQuery): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { id } of allMatches(storage, query)) ids.push(id)
  return ids
}

describe('memoryStorage', () => {
  it.each([
    [{ resourceType: 'Patient' }, 'resources[1] has no id.'],
    [{ id: 'p' }, 'resources[1] has no resourceType.'],
    [{ resourceType: 'Patient', id: 5 }, 'resources[1] has something else than a text as id.'],
    [{ resourceType: 5, id: 'p' }, 'resources[1] has something else than a text as resourceType.'],
    [{ resourceType: 'Bundle', id: 5 }, 'resources[1] has something else than a text as id.'],
    [
      { resourceType: 'Bundle', type: 'collection' },
      'resources[1] is a Bundle without id. To store the resources in it, pass bundle.entry.map(',
    ],
    [{ resource: { resourceType: 'Patient', id: 'p' } }, 'resources[1] is an entry of a Bundle, not its resource: pass bundle.entry.map('],
    ['{}', 'resources[1] is not an object; JSON.parse makes one of a text.'],
    [null, 'resources[1] is not an object'],
    [[{ resourceType: 'Patient', id: 'p' }], 'resources[1] is not an object'],
    [Promise.resolve(), 'resources[1] is a promise that was not awaited.'],
  ])('says which of the resources is without an address: %j', (resource, message) => {
    expect(() => Reflect.apply(memoryStorage, undefined, [[{ resourceType: 'Patient', id: 'first' }, resource]])).toThrow(message)
  })

  it('holds the resources it is given, as version 1, with the entries of the indexer', async () => {
    const resources = [
      { resourceType: 'Patient', id: 'a', active: true },
      { resourceType: 'ValueSet', id: 'v', url: 'http://x' },
    ]
    const storage = memoryStorage(resources, { now: () => new Date('2024-01-01T00:00:00Z') })
    const patient = await storage.read('Patient', 'a')
    expect(patient?.text).toBe(
      '{"resourceType":"Patient","id":"a","meta":{"versionId":"1","lastUpdated":"2024-01-01T00:00:00.000Z"},"active":true}',
    )
    const where: Condition = { kind: 'entry', param: 'definition:url', all: [{ field: 'value', op: 'eq', operand: 'http://x' }] }
    expect(await storage.count({ type: 'ValueSet', where })).toBe(1)
    const indexed = memoryStorage(resources, { indexer: () => [{ param: 'p' }] })
    expect(await indexed.count({ type: 'Patient', where: { kind: 'entry', param: 'p', all: [] } })).toBe(1)
  })

  it('lets other work run while it looks for many alternatives', async () => {
    const storage = memoryStorage()
    const texts = (id: number): readonly IndexEntry[] => [{ param: 't', text: `a text of its own ${id}` }]
    await storage.write(
      Array.from({ length: 20_000 }, (_, n) =>
        putResource({ type: 'Basic', id: `b${n}`, source: { resourceType: 'Basic' } }, () => texts(n)),
      ),
    )
    const conditions = Array.from({ length: 200 }, (_, n): Condition => {
      return { kind: 'entry', param: 't', all: [{ field: 'text', op: 'suffix', operand: `own ${n}` }] }
    })
    let isDone = false
    let gaps = 0
    const beat = (): void => void (!isDone && ++gaps && setTimeout(beat))
    setTimeout(beat)
    expect(await storage.count({ type: 'Basic', where: { kind: 'or', conditions } })).toBe(200)
    isDone = true
    expect(gaps).toBeGreaterThan(3)
  })

  it('finds what meets several conditions, in whichever order they come', async () => {
    const storage = memoryStorage()
    for (let n = 0; n < 100; n++) await put(storage, `b${n}`, n)
    const from: Condition = { kind: 'entry', param: 'n', all: [{ field: 'low', op: 'ge', operand: 97 }] }
    const to: Condition = { kind: 'entry', param: 'n', all: [{ field: 'high', op: 'lt', operand: 99 }] }
    const code: Condition = { kind: 'entry', param: 'n', all: [{ field: 'value', op: 'in', operands: ['v6', 'v1', 'v0'] }] }
    const other: Condition = { kind: 'not', condition: { kind: 'id', ids: ['b97'] } }
    for (const conditions of [
      [from, to, code],
      [to, code, from],
      [code, from, to],
    ])
      expect(await idsOf(storage, { type: 'Basic', where: { kind: 'and', conditions } })).toEqual(['b97', 'b98'])
    expect(await idsOf(storage, { type: 'Basic', where: { kind: 'and', conditions: [other, from, to] } })).toEqual(['b98'])
  })

  it('refuses a given resource that cannot be stored', () => {
    expect(() => memoryStorage([{ resourceType: 'Patient' }])).toThrow(expect.objectContaining({ code: 'resource-invalid' }))
    expect(() => memoryStorage([{ resourceType: 'Nothing', id: 'a' }])).toThrow(expect.objectContaining({ code: 'resource-invalid' }))
  })

  it('does not see later changes of the objects it was given', async () => {
    const given = { resourceType: 'Patient', id: 'a', name: [{ family: 'A' }] }
    const storage = memoryStorage([given])
    given.name[0] = { family: 'B' }
    expect((await storage.read('Patient', 'a'))?.resource['name']).toEqual([{ family: 'A' }])
  })

  it('answers the same while its indexes grow, are sorted anew and shed replaced resources', async () => {
    const storage = memoryStorage()
    const current = new Map<string, number>()
    // Different ones each time: what is asked often is looked up in an order, which follows the writes, and rows that were found before are kept.
    const lowFrom = (operand: number): Condition => ({ kind: 'entry', param: 'n', all: [{ field: 'low', op: 'ge', operand }] })
    const withText = (operands: readonly string[]): Condition => ({
      kind: 'entry',
      param: 'n',
      all: [{ field: 'value', op: 'in', operands }],
    })
    for (let step = 0; step < 9_000; step++) {
      const id = `r${(step * 7_919) % 3_001}`
      if (step % 5 === 4) {
        await storage.write([{ op: 'delete', type: 'Basic', id }])
        current.delete(id)
      } else {
        await put(storage, id, step)
        current.set(id, step)
      }
      if (step % 150 !== 0) continue
      const values = [...current.values()]
      expect(await storage.count({ type: 'Basic', where: lowFrom(step / 3) })).toBe(values.filter((value) => value >= step / 3).length)
      const asked = { type: 'Basic', where: withText(['v3', `none ${step}`]) }
      expect(await storage.count(asked)).toBe(values.filter((value) => value % 7 === 3).length)
      if (step % 750 !== 0) continue
      const page = await storage.search({ type: 'Basic', where: EVERYTHING, limit: 10_000 })
      expect(page.items.map(({ id: found }) => found)).toEqual([...current.keys()].sort())
      const byValue = [...current].toSorted(([, a], [, b]) => b - a).map(([found]) => found)
      const some = byValue.filter((_found, index) => index % 300 === 7)
      for (const [where, expected] of [
        [EVERYTHING, byValue],
        [{ kind: 'id', ids: some }, some],
      ] as const) {
        expect(
          await idsOf(storage, { type: 'Basic', where, sort: [{ param: 'n', field: 'high', descending: true }], limit: 1_000 }),
        ).toEqual(expected)
      }
    }
  })

  it('serves others while the first search in an order sorts many resources, and finds what they write', async () => {
    const storage = memoryStorage()
    const puts = Array.from({ length: 50_000 }, (_, n) =>
      putResource({ type: 'Basic', id: `b${n}`, source: { resourceType: 'Basic' } }, () => entriesOf((n * 7_919) % 50_021)),
    )
    await storage.write(puts)
    const ended: string[] = []
    const sort = [{ param: 'n', field: 'low', descending: false } as const]
    const search = storage.search({ type: 'Basic', where: EVERYTHING, sort, limit: 2 }).finally(() => ended.push('search'))
    await new Promise(setImmediate)
    await put(storage, 'least', -1)
    ended.push('write')
    expect((await search).items.map(({ id }) => id)).toEqual(['least', 'b0'])
    expect(ended).toEqual(['write', 'search'])
  })
})

describe('resources that were given without an indexer', () => {
  const patients = [
    { resourceType: 'Patient', id: 'a', gender: 'female' },
    { resourceType: 'ValueSet', id: 'v', url: 'http://x' },
  ]
  const gender: Condition = { kind: 'entry', param: 'gender', all: [{ field: 'value', op: 'eq', operand: 'female' }] }
  const inner = { type: 'Observation', where: EVERYTHING }
  const ofPatients = { type: 'Patient', where: EVERYTHING }

  it.each<[string, SearchQuery]>([
    ['a parameter', { type: 'Patient', where: gender }],
    ['what they are not', { type: 'Patient', where: { kind: 'not', condition: { kind: 'or', conditions: [gender] } } }],
    ['an order', { type: 'Patient', where: EVERYTHING, sort: [{ param: 'birthdate', field: 'low', descending: false }] }],
    ['what they refer to', { type: 'Patient', where: { kind: 'refersTo', param: 'organization', query: inner } }],
    ['what of them refers', { type: 'Observation', where: { kind: 'referredBy', param: 'link', query: ofPatients } }],
    [
      'what the others refer to',
      { type: 'Observation', where: { kind: 'refersTo', param: 'subject', query: { type: 'Patient', where: gender } } },
    ],
  ])('are not searched for by %s: nothing would be found', async (_, query) => {
    const storage = memoryStorage(patients)
    const refused = { code: 'search-unsupported', message: expect.stringContaining('give it an indexer') }
    await expect(storage.search(query)).rejects.toMatchObject(refused)
    await expect(storage.count(query)).rejects.toMatchObject(refused)
    expect(await idsOf(memoryStorage(patients, { indexer: () => [] }), query)).toBeDefined()
  })

  it('refuse what is not a query as others do', async () => {
    const storage = memoryStorage(patients)
    for (const query of ['Patient', {}, { type: 'Patient' }]) {
      for (const method of [storage.search, storage.count, storage.scan])
        await expect(Reflect.apply(method ?? storage.count, storage, [query])).rejects.toMatchObject({ code: 'parameter-value' })
    }
  })

  it('are not scanned by what refers to others', async () => {
    const referring = [{ type: 'Patient', where: EVERYTHING, params: ['organization'] }]
    const scanned = memoryStorage(patients).scan?.({ type: 'Organization', where: EVERYTHING, referring })
    await expect(scanned).rejects.toMatchObject({ code: 'search-unsupported' })
  })

  it.each<[string, SearchQuery, readonly string[]]>([
    ['id', { type: 'Patient', where: { kind: 'id', ids: ['a'] } }, ['a']],
    [
      'time',
      { type: 'Patient', where: { kind: 'lastUpdated', from: 0 }, sort: [{ param: '', field: 'lastUpdated', descending: true }] },
      ['a'],
    ],
    [
      'url, for definitions',
      { type: 'ValueSet', where: { kind: 'entry', param: 'definition:url', all: [{ field: 'value', op: 'eq', operand: 'http://x' }] } },
      ['v'],
    ],
    ['anything of another type', { type: 'Basic', where: gender }, []],
  ])('are found by %s', async (_, query, ids) => {
    expect(await idsOf(memoryStorage(patients), query)).toEqual(ids)
  })

  it('are not referred to by an id without their type, even if no entry of the parameter has a type', async () => {
    const storage = memoryStorage([{ resourceType: 'Basic', id: 'a' }], { indexer: () => [{ param: 'subject', value: 'a' }] })
    const whole: SearchQuery = { type: 'Basic', where: EVERYTHING }
    for (const kind of ['refersTo', 'referredBy'] as const)
      expect(await storage.count({ type: 'Basic', where: { kind, param: 'subject', query: whole } })).toBe(0)
  })

  it('follows references while what they lead to comes, is replaced, goes, and is shed', async () => {
    const storage = memoryStorage([], { history: false })
    const write = async (type: string, id: string, entries: readonly IndexEntry[]): Promise<unknown> =>
      storage.write([putResource({ type, id, source: { resourceType: type } }, () => entries)])
    const code = (value: string): readonly IndexEntry[] => [{ param: 'code', value }]
    const coded = (type: string, operand: string): SearchQuery => ({
      type,
      where: { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand }] },
    })
    const toRed: SearchQuery = { type: 'Basic', where: { kind: 'refersTo', param: 'owner', query: coded('Group', 'red') } }
    const byBig: SearchQuery = { type: 'Group', where: { kind: 'referredBy', param: 'owner', query: coded('Basic', 'big') } }
    const colours = new Map<string, string>()
    for (let n = 0; n < 100; n++)
      await write('Basic', `b${n}`, [...code(n % 3 === 0 ? 'big' : 'small'), { param: 'owner', system: 'Group', value: `g${n % 10}` }])
    const expectAll = async (): Promise<void> => {
      const owners = Array.from({ length: 100 }, (_, n) => [`b${n}`, `g${n % 10}`, n % 3 === 0] as const)
      const reds = owners.filter(([, owner]) => colours.get(owner) === 'red').map(([id]) => id)
      expect(await idsOf(storage, toRed)).toEqual(reds.sort())
      const bigs = owners.filter(([, owner, isBig]) => isBig && colours.has(owner)).map(([, owner]) => owner)
      expect(await idsOf(storage, byBig)).toEqual([...new Set(bigs)].sort())
    }
    await expectAll()
    for (let n = 0; n < 2_400; n++) {
      const [id, colour] = [`g${(n * 7) % 10}`, n % 4 < 2 ? 'red' : 'blue']
      if (n % 11 === 0) await storage.write([{ op: 'delete', type: 'Group', id }])
      else await write('Group', id, code(colour))
      if (n % 11 === 0) colours.delete(id)
      else colours.set(id, colour)
      if (n % 97 === 0 || n > 2_390) await expectAll()
    }
  })
})
