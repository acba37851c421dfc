import { expect } from 'vitest'
import { ALL_PATIENTS, byGender, idsOf, patient } from './fixtures.js'
import type { StoragePromise } from './storage-promise.js'

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
