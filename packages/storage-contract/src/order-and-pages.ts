import type { SearchQuery, SortKey, Storage } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { ALL_PATIENTS, EVERYTHING, byGender, idsOf, indexed, patient, type StoragePromise } from './promises.js'

export const sortingPromises: readonly StoragePromise[] = [
  {
    promise: 'sorting orders by a text, then by id',
    check: async ({ storage }) => {
      await write(storage, { d: ['x'], c: ['y'], b: ['x'], a: ['z'] })
      expect(await sorted(storage, [byText])).toEqual(['b', 'd', 'c', 'a'])
      expect(await sorted(storage, [{ ...byText, descending: true }])).toEqual(['a', 'c', 'b', 'd'])
    },
  },
  {
    promise: 'sorting orders texts by code points',
    check: async ({ storage }) => {
      await write(storage, { a: ['🙂'], b: ['\uffee'], c: ['é'], d: ['z'], e: ['Z'], f: ['za'], g: ['🙂\u{10ffff}'] })
      expect(await sorted(storage, [byText])).toEqual(['e', 'd', 'f', 'c', 'b', 'a', 'g'])
    },
  },
  {
    promise: 'sorting orders numbers by value',
    check: async ({ storage }) => {
      for (const [id, low] of [
        ['a', 10],
        ['b', 9],
        ['c', -1.5],
        ['d', 0],
      ] as const)
        await storage.write([indexed(id, { param: 'n', low, high: low })])
      expect(await sorted(storage, [{ param: 'n', field: 'low', descending: false }])).toEqual(['c', 'd', 'b', 'a'])
      expect(await sorted(storage, [{ param: 'n', field: 'high', descending: true }])).toEqual(['a', 'b', 'd', 'c'])
    },
  },
  {
    promise: 'of several entries the smallest counts when ascending and the largest when descending',
    check: async ({ storage }) => {
      await write(storage, { a: ['m'], b: ['a', 'z'], c: ['l', 'n'] })
      expect(await sorted(storage, [byText])).toEqual(['b', 'c', 'a'])
      expect(await sorted(storage, [{ ...byText, descending: true }])).toEqual(['b', 'c', 'a'])
    },
  },
  {
    promise: 'resources without an entry come last in both directions',
    check: async ({ storage }) => {
      await write(storage, { a: [], b: ['x'], c: [], d: ['y'] })
      expect(await sorted(storage, [byText])).toEqual(['b', 'd', 'a', 'c'])
      expect(await sorted(storage, [{ ...byText, descending: true }])).toEqual(['d', 'b', 'a', 'c'])
    },
  },
  {
    promise: 'several sort keys are compared one after the other',
    check: async ({ storage }) => {
      for (const [id, text, low] of [
        ['a', 'x', 2],
        ['b', 'y', 1],
        ['c', 'x', 1],
        ['d', 'x', 2],
      ] as const) {
        await storage.write([indexed(id, { param: 't', text }, { param: 'n', low, high: low })])
      }
      expect(await sorted(storage, [byText, { param: 'n', field: 'low', descending: true }])).toEqual(['a', 'd', 'c', 'b'])
    },
  },
  {
    promise: 'sorting by lastUpdated and by id needs no entries',
    check: async ({ storage, setTime }) => {
      for (const [id, time] of [
        ['a', '2024-03-01'],
        ['b', '2024-01-01'],
        ['c', '2024-02-01'],
      ] as const) {
        setTime(`${time}T00:00:00.000Z`)
        await storage.write([indexed(id)])
      }
      expect(await sorted(storage, [{ param: '', field: 'lastUpdated', descending: false }])).toEqual(['b', 'c', 'a'])
      expect(await sorted(storage, [{ param: '', field: 'id', descending: true }])).toEqual(['c', 'b', 'a'])
    },
  },
  {
    promise: 'sorted pages join without gap or repetition',
    check: async ({ storage }) => {
      await write(storage, { a: ['x'], b: [], c: ['x'], d: ['y'], e: [], f: ['w', 'z'], g: ['é'] })
      for (const descending of [false, true]) {
        const whole = await sorted(storage, [{ ...byText, descending }])
        for (const limit of [1, 2, 3, 7]) expect(await idsOf(storage, query([{ ...byText, descending }], limit))).toEqual(whole)
        expect(whole).toHaveLength(7)
      }
    },
  },
]

const byText: SortKey = { param: 't', field: 'text', descending: false }

function query(sort: readonly SortKey[], limit = 100): SearchQuery {
  return { type: 'Basic', where: EVERYTHING, sort, limit }
}

function sorted(storage: Storage, sort: readonly SortKey[]): Promise<readonly string[]> {
  return idsOf(storage, query(sort))
}

async function write(storage: Storage, texts: Readonly<Record<string, readonly string[]>>): Promise<void> {
  for (const [id, values] of Object.entries(texts)) await storage.write([indexed(id, ...values.map((text) => ({ param: 't', text })))])
}

export const pagingPromises: readonly StoragePromise[] = [
  {
    promise: 'a type without resources has no matches',
    check: async ({ storage }) => {
      expect(await storage.search(ALL_PATIENTS)).toEqual({ items: [] })
      expect(await storage.count(ALL_PATIENTS)).toBe(0)
    },
  },
  {
    promise: 'matches come in ascending order of ids by code units',
    check: async ({ storage }) => {
      for (const id of ['b', 'A', '10', 'a.b', 'B', 'a', 'a-b', '9', '-']) await storage.write([patient(id)])
      expect(await idsOf(storage, ALL_PATIENTS)).toEqual(['-', '10', '9', 'A', 'B', 'a', 'a-b', 'a.b', 'b'])
    },
  },
  {
    promise: 'a resource that was written again comes once, in its place',
    check: async ({ storage }) => {
      await storage.write([patient('a'), patient('b'), patient('c')])
      await storage.write([patient('a'), patient('b')])
      expect(await idsOf(storage, ALL_PATIENTS)).toEqual(['a', 'b', 'c'])
      expect(await storage.count(ALL_PATIENTS)).toBe(3)
    },
  },
  {
    promise: 'a page has at most limit items, and next leads to the rest',
    check: async ({ storage }) => {
      await storage.write(['a', 'b', 'c', 'd', 'e'].map((id) => patient(id)))
      const first = await storage.search({ ...ALL_PATIENTS, limit: 2 })
      expect(first.items.map(({ id }) => id)).toEqual(['a', 'b'])
      const second = await storage.search({ ...ALL_PATIENTS, limit: 2, after: String(first.next) })
      expect(second.items.map(({ id }) => id)).toEqual(['c', 'd'])
      const third = await storage.search({ ...ALL_PATIENTS, limit: 2, after: String(second.next) })
      expect(third.items.map(({ id }) => id)).toEqual(['e'])
      expect(third.next).toBeUndefined()
    },
  },
  {
    promise: 'a page ends when it is long, and next leads to the rest',
    check: async ({ storage }) => {
      const ids = ['a', 'b', 'c', 'd', 'e', 'f']
      await storage.write(ids.map((id) => patient(id)))
      const length = (await storage.read('Patient', 'a'))?.text.length ?? 0
      expect((await storage.search({ ...ALL_PATIENTS, maxBytes: 1 })).items.map(({ id }) => id)).toEqual(['a'])
      const page = await storage.search({ ...ALL_PATIENTS, maxBytes: 2 * length })
      expect(page.items.length).toBeGreaterThan(1)
      expect(page.items.length).toBeLessThanOrEqual(4)
      for (const maxBytes of [0, 1, 2 * length, 100 * length])
        expect(await idsOf(storage, { ...ALL_PATIENTS, maxBytes, limit: 4 })).toEqual(ids)
    },
  },
  {
    promise: 'the last page has no next, also when it is full',
    check: async ({ storage }) => {
      await storage.write(['a', 'b'].map((id) => patient(id)))
      expect((await storage.search({ ...ALL_PATIENTS, limit: 2 })).next).toBeUndefined()
      expect((await storage.search({ ...ALL_PATIENTS, limit: 3 })).next).toBeUndefined()
    },
  },
  {
    promise: 'without a limit every match is reached by paging',
    check: async ({ storage }) => {
      const ids = Array.from({ length: 250 }, (_, index) => `p${String(index).padStart(4, '0')}`)
      await storage.write(ids.map((id) => patient(id)))
      expect(await idsOf(storage, ALL_PATIENTS)).toEqual(ids)
    },
  },
  {
    promise: 'writes between two pages do not disturb the rest',
    check: async ({ storage }) => {
      await storage.write(['b', 'd', 'f', 'h'].map((id) => patient(id)))
      const first = await storage.search({ ...ALL_PATIENTS, limit: 2 })
      await storage.write([patient('a'), { op: 'delete', type: 'Patient', id: 'd' }, patient('b')])
      expect(await idsOf(storage, { ...ALL_PATIENTS, limit: 2, after: String(first.next) })).toEqual(['f', 'h'])
    },
  },
  {
    promise: 'a cursor that is none is refused',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      for (const after of ['', 'x', '[]', '{}', '[1]']) {
        await expect(storage.search({ ...ALL_PATIENTS, after })).rejects.toMatchObject({ code: 'search-invalid' })
      }
    },
  },
  {
    promise: 'what is not a query is refused, such as the text of a search',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      const given: readonly (readonly [query: unknown, code: string])[] = [
        ['Patient?gender=x', 'parameter-value'],
        [{ type: 'Patient' }, 'parameter-value'],
        [{ where: ALL_PATIENTS.where }, 'parameter-value'],
        [{ type: 'Patient', where: { kind: 'gender' } }, 'parameter-value'],
        [undefined, 'parameter-required'],
      ]
      for (const [query, code] of given) {
        for (const method of [storage.search, storage.count])
          await expect(Reflect.apply(method, storage, [query])).rejects.toMatchObject({ name: 'OperationError', code })
      }
    },
  },
  {
    promise: 'count is exact and looks at neither limit nor cursor nor sort',
    check: async ({ storage }) => {
      await storage.write([patient('a'), patient('b', 'male'), patient('c'), patient('d')])
      const { next } = await storage.search({ ...ALL_PATIENTS, limit: 1 })
      const sort = [{ param: 'gender', field: 'value', descending: false }] as const
      expect(await storage.count({ ...byGender('female'), limit: 1, after: String(next), sort })).toBe(3)
    },
  },
]
