import type { SearchQuery, SortKey, Storage } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { EVERYTHING, idsOf, indexed } from './fixtures.js'
import type { StoragePromise } from './storage-promise.js'

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
