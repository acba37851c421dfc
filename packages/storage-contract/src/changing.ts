import type { Storage } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { observation, patient } from './fixtures.js'
import type { StoragePromise } from './storage-promise.js'

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
