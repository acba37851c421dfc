import { DEFINITION_PARAM, type Storage } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { ALL_PATIENTS, idsOf, indexed, observation, patient, type StoragePromise } from './promises.js'

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

/** Returns the changes since a mark, and the next mark; 'unknown' if the storage does not report changes. */
async function since(storage: Storage, mark?: string): Promise<{ readonly mark: string; readonly changed: readonly string[] | 'unknown' }> {
  const { mark: next, changed } = (await storage.changes?.(mark)) ?? { mark: '', changed: 'unknown' }
  const addresses =
    changed === 'unknown' ? changed : [...new Set(changed.map(({ type, id }) => `${type}/${id}`))].toSorted((a, b) => (a < b ? -1 : 1))
  return { mark: next, changed: addresses }
}

/** Promises of storages with `changes`. */
export const changingPromises: readonly StoragePromise[] = [
  {
    promise: 'changes since a mark are all that was put after it, and nothing else',
    check: async ({ storage }) => {
      if (storage.changes === undefined) return
      await storage.write([patient('a'), patient('b')])
      const { mark } = await since(storage)
      expect((await since(storage, mark)).changed).toEqual([])
      await storage.write([observation('o1', 'a'), patient('b', 'male')])
      await storage.write([observation('o1', 'b')])
      const next = await since(storage, mark)
      expect(next.changed).toEqual(['Observation/o1', 'Patient/b'])
      expect((await since(storage, next.mark)).changed).toEqual([])
      expect((await since(storage, mark)).changed).toEqual(['Observation/o1', 'Patient/b'])
    },
  },
  {
    promise: 'changes do not depend on the clock',
    check: async ({ storage, setTime }) => {
      if (storage.changes === undefined) return
      await storage.write([patient('a')])
      const { mark } = await since(storage)
      setTime('2001-01-01T00:00:00.000Z')
      await storage.write([patient('b')])
      expect((await since(storage, mark)).changed).toEqual(['Patient/b'])
    },
  },
  {
    promise: 'changes since a mark tell deletions, or say that they are not known',
    check: async ({ storage }) => {
      if (storage.changes === undefined) return
      await storage.write([patient('a'), patient('b'), observation('o1', 'a')])
      const { mark } = await since(storage)
      await storage.write([{ op: 'delete', type: 'Observation', id: 'o1' }])
      const { changed, mark: next } = await since(storage, mark)
      if (changed !== 'unknown') expect(changed).toEqual(['Observation/o1'])
      // A new resource may reuse the slot of a deleted one.
      await storage.write([observation('o2', 'b')])
      expect((await since(storage, next)).changed).toEqual(['Observation/o2'])
      const both = (await since(storage, mark)).changed
      if (both !== 'unknown') expect(both).toEqual(['Observation/o1', 'Observation/o2'])
    },
  },
  {
    promise: 'changes since a mark of another storage are not known',
    check: async ({ storage }) => {
      if (storage.changes === undefined) return
      await storage.write([patient('a')])
      for (const mark of ['', 'x', '99999999', '-1', '1 2', '1e1']) expect((await since(storage, mark)).changed).toBe('unknown')
    },
  },
]
