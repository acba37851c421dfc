import { DEFINITION_PARAM } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { ALL_PATIENTS, idsOf, indexed, patient } from './fixtures.js'
import type { StoragePromise } from './storage-promise.js'

export const lifePromises: readonly StoragePromise[] = [
  {
    promise: 'close may be called twice',
    check: async ({ storage }) => {
      await storage.close()
      await storage.close()
    },
  },
  {
    promise: 'after close every method rejects with storage-unavailable',
    check: async ({ storage }) => {
      await storage.close()
      const closed = { name: 'OperationError', code: 'storage-unavailable' }
      await expect(storage.read('Patient', 'a')).rejects.toMatchObject(closed)
      await expect(storage.search(ALL_PATIENTS)).rejects.toMatchObject(closed)
      await expect(storage.count(ALL_PATIENTS)).rejects.toMatchObject(closed)
      await expect(storage.write([patient('a')])).rejects.toMatchObject(closed)
      if (storage.history === undefined) return
      await expect(storage.history.version('Patient', 'a', '1')).rejects.toMatchObject(closed)
      await expect(storage.history.page({ types: ['Patient'] })).rejects.toMatchObject(closed)
    },
  },
  {
    promise: 'a revision, where there is one, rises with every write of a definition, stays over reads and is refused after close',
    check: async ({ storage }) => {
      const { revision } = storage
      if (revision === undefined) return
      const definition = indexed('a', { param: `${DEFINITION_PARAM}url`, value: 'http://example.org/a' })
      const seen = [await revision()]
      for (const entry of [definition, definition, indexed('a'), definition, { op: 'delete', type: 'Basic', id: 'a' } as const]) {
        await storage.write([entry])
        seen.push(await revision())
      }
      await storage.read('Basic', 'a')
      await storage.search(ALL_PATIENTS)
      expect(await revision()).toBe(seen.at(-1))
      expect([...new Set(seen)].toSorted((a, b) => a - b)).toEqual(seen)
      await storage.close()
      await expect((async () => revision())()).rejects.toMatchObject({ code: 'storage-unavailable' })
    },
  },
  {
    promise: 'close waits for the writes under way',
    check: async ({ storage }) => {
      const write = storage.write([patient('a')])
      await storage.close()
      expect(await write).toHaveLength(1)
    },
  },
  {
    promise: 'what was written is there after reopening',
    check: async ({ storage, reopen }) => {
      if (reopen === undefined) throw new Error('The factory gives no reopen.')
      await storage.write([patient('a'), patient('b')])
      await storage.write([{ op: 'delete', type: 'Patient', id: 'b' }])
      const before = await storage.read('Patient', 'a')
      await storage.close()
      const again = await reopen()
      try {
        expect((await again.read('Patient', 'a'))?.text).toBe(before?.text)
        expect(await idsOf(again, ALL_PATIENTS)).toEqual(['a'])
        expect((await again.write([patient('b')]))[0]).toMatchObject({ versionId: '3', created: true })
        if (again.history !== undefined) expect((await again.history.page({ types: ['Patient'] })).items).toHaveLength(4)
      } finally {
        await again.close()
      }
    },
  },
]
