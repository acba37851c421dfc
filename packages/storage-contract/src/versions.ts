import { expect } from 'vitest'
import { patient } from './fixtures.js'
import type { StoragePromise } from './storage-promise.js'

export const versionPromises: readonly StoragePromise[] = [
  {
    promise: 'the first version is 1 and every write makes the next',
    check: async ({ storage }) => {
      const versions = []
      for (let n = 0; n < 12; n++) versions.push((await storage.write([patient('a')]))[0]?.versionId)
      expect(versions).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12'])
    },
  },
  {
    promise: 'versions rise across deletion and re-creation',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      const [deleted] = await storage.write([{ op: 'delete', type: 'Patient', id: 'a' }])
      expect(deleted).toMatchObject({ versionId: '2', created: false })
      await storage.write([{ op: 'delete', type: 'Patient', id: 'a' }])
      const [again] = await storage.write([patient('a')])
      expect(again).toMatchObject({ versionId: '3', created: true })
    },
  },
  {
    promise: 'created tells whether there was a current version before',
    check: async ({ storage }) => {
      expect((await storage.write([patient('a')]))[0]?.created).toBe(true)
      expect((await storage.write([patient('a')]))[0]?.created).toBe(false)
    },
  },
  {
    promise: 'ifVersion null demands that the id does not exist',
    check: async ({ storage }) => {
      await storage.write([{ ...patient('a'), ifVersion: null }])
      await expect(storage.write([{ ...patient('a'), ifVersion: null }])).rejects.toMatchObject({ code: 'version-conflict' })
      await storage.write([{ op: 'delete', type: 'Patient', id: 'a' }])
      expect((await storage.write([{ ...patient('a'), ifVersion: null }]))[0]?.versionId).toBe('3')
    },
  },
  {
    promise: 'ifVersion demands that version of a put',
    check: async ({ storage }) => {
      await expect(storage.write([{ ...patient('a'), ifVersion: '1' }])).rejects.toMatchObject({ code: 'version-conflict' })
      await storage.write([patient('a')])
      expect((await storage.write([{ ...patient('a'), ifVersion: '1' }]))[0]?.versionId).toBe('2')
      await expect(storage.write([{ ...patient('a'), ifVersion: '1' }])).rejects.toMatchObject({ code: 'version-conflict' })
    },
  },
  {
    promise: 'ifVersion demands that version of a deletion',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      const wrong = storage.write([{ op: 'delete', type: 'Patient', id: 'a', ifVersion: '2' }])
      await expect(wrong).rejects.toMatchObject({ code: 'version-conflict' })
      await storage.write([{ op: 'delete', type: 'Patient', id: 'a', ifVersion: '1' }])
      const gone = storage.write([{ op: 'delete', type: 'Patient', id: 'a', ifVersion: '2' }])
      await expect(gone).rejects.toMatchObject({ code: 'version-conflict' })
    },
  },
  {
    promise: 'lastUpdated is an instant in UTC with milliseconds from the clock',
    check: async ({ storage, setTime }) => {
      setTime('2024-02-29T23:59:59.007Z')
      const [result] = await storage.write([patient('a')])
      expect(result?.lastUpdated).toBe('2024-02-29T23:59:59.007Z')
      expect((await storage.read('Patient', 'a'))?.lastUpdated).toBe('2024-02-29T23:59:59.007Z')
    },
  },
  {
    promise: 'lastUpdated never goes back for one id, also across deletion',
    check: async ({ storage, setTime }) => {
      setTime('2024-06-01T00:00:00.000Z')
      await storage.write([patient('a')])
      setTime('2024-05-01T00:00:00.000Z')
      expect((await storage.write([patient('a')]))[0]?.lastUpdated).toBe('2024-06-01T00:00:00.000Z')
      await storage.write([{ op: 'delete', type: 'Patient', id: 'a' }])
      expect((await storage.write([patient('a')]))[0]?.lastUpdated).toBe('2024-06-01T00:00:00.000Z')
      setTime('2024-07-01T00:00:00.000Z')
      expect((await storage.write([patient('a')]))[0]?.lastUpdated).toBe('2024-07-01T00:00:00.000Z')
    },
  },
]
