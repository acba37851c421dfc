import type { HistoryQuery, ResourceHistory, Storage, WriteEntry } from 'fhir-ops/storage'
import type { HistoryItem } from 'fhir-ops/internal/storage'
import { expect } from 'vitest'
import { indexed, observation, patient, type StoragePromise, type Subject } from './promises.js'

export const historyPromises: readonly StoragePromise[] = [
  {
    promise: 'history has every version of a resource, the latest first',
    check: async (subject) => {
      await writeAt(
        subject,
        ['01', patient('a', 'male')],
        ['02', patient('a', 'female')],
        ['03', patient('b')],
        ['04', patient('a', 'other')],
      )
      const { items } = await historyOf(subject.storage).page({ types: ['Patient'], id: 'a' })
      expect(items.map(({ versionId, created, stored }) => [versionId, created, stored?.resource['gender']])).toEqual([
        ['3', false, 'other'],
        ['2', false, 'female'],
        ['1', true, 'male'],
      ])
    },
  },
  {
    promise: 'history has each version as it was read when it was current',
    check: async (subject) => {
      const { storage } = subject
      const texts: (string | undefined)[] = []
      for (const gender of ['male', 'female', 'other']) {
        await storage.write([patient('a', gender)])
        texts.push((await storage.read('Patient', 'a'))?.text)
      }
      const versions = await Promise.all(['1', '2', '3'].map((version) => historyOf(storage).version('Patient', 'a', version)))
      expect(versions.map((version) => version?.stored?.text)).toEqual(texts)
    },
  },
  {
    promise: 'a page of a history ends when it is long, and next leads to the rest',
    check: async ({ storage }) => {
      for (let version = 1; version <= 5; version++) await storage.write([patient('a')])
      const history = historyOf(storage)
      expect((await history.page({ types: ['Patient'], maxBytes: 1 })).items.map(brief)).toEqual(['a/5'])
      for (const maxBytes of [0, 1, 300]) {
        const found: unknown[] = []
        let after: string | undefined
        do {
          const page = await history.page({ types: ['Patient'], maxBytes, ...(after !== undefined && { after }) })
          found.push(...page.items.map(brief))
          after = page.next
        } while (after !== undefined)
        expect(found).toEqual(['a/5', 'a/4', 'a/3', 'a/2', 'a/1 created'])
      }
    },
  },
  {
    promise: 'history has no version that there never was',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      for (const version of ['0', '2', '01', '1.0', '-1', 'x', '', '9'.repeat(15)]) {
        expect(await historyOf(storage).version('Patient', 'a', version)).toBeUndefined()
      }
      expect(await historyOf(storage).version('Patient', 'b', '1')).toBeUndefined()
      expect(await historyOf(storage).version('Nothing', 'a', '1')).toBeUndefined()
      expect(await historyOf(storage).page({ types: ['Patient'], id: 'b' })).toEqual({ items: [] })
    },
  },
  {
    promise: 'a deletion is a version without a resource, and the next put creates again',
    check: async (subject) => {
      await writeAt(subject, ['01', patient('a')], ['02', remove('a')], ['03', remove('a')], ['04', patient('a')], ['05', patient('a')])
      const { items } = await historyOf(subject.storage).page({ types: ['Patient'], id: 'a' })
      expect(items.map(brief)).toEqual(['a/4', 'a/3 created', 'a/2 deleted', 'a/1 created'])
      const deletion = await historyOf(subject.storage).version('Patient', 'a', '2')
      expect(deletion).toMatchObject({ type: 'Patient', id: 'a', versionId: '2', lastUpdated: '2024-03-02T00:00:00.000Z' })
      expect(deletion?.stored).toBeUndefined()
    },
  },
  {
    promise: 'the deletion of what is still deleted is in the history',
    check: async (subject) => {
      await writeAt(subject, ['01', patient('a')], ['02', remove('a')])
      const { items } = await historyOf(subject.storage).page({ types: ['Patient'] })
      expect(items.map(brief)).toEqual(['a/2 deleted', 'a/1 created'])
      expect(items.map(({ lastUpdated }) => lastUpdated)).toEqual(['2024-03-02T00:00:00.000Z', '2024-03-01T00:00:00.000Z'])
    },
  },
  {
    promise: 'history has every version that one write makes',
    check: async ({ storage }) => {
      await storage.write([patient('a', 'male'), patient('a', 'female'), remove('a'), patient('a', 'other'), patient('b')])
      const { items } = await historyOf(storage).page({ types: ['Patient'] })
      expect(items.map(brief)).toEqual(['a/4 created', 'a/3 deleted', 'a/2', 'a/1 created', 'b/1 created'])
      expect(items.map(({ stored }) => stored?.resource['gender'])).toEqual(['other', undefined, 'female', 'male', 'female'])
    },
  },
  {
    promise: 'history of several types has those only, in the order of time, then of type, id and falling version',
    check: async (subject) => {
      const both = [observation('o', 'a'), patient('b'), patient('a')]
      await writeAt(subject, ['01', patient('a')], ['02', ...both], ['03', indexed('c')])
      const { items } = await historyOf(subject.storage).page({ types: ['Patient', 'Observation'] })
      expect(items.map(brief)).toEqual(['o/1 created', 'a/2', 'b/1 created', 'a/1 created'])
      expect(await historyOf(subject.storage).page({ types: [] })).toEqual({ items: [] })
    },
  },
  {
    promise: 'history since a time begins with that millisecond',
    check: async (subject) => {
      await writeAt(subject, ['01', patient('a')], ['02', patient('a')], ['03', patient('a')])
      const since = async (time: string): Promise<readonly string[]> =>
        (await historyOf(subject.storage).page({ types: ['Patient'], since: Date.parse(time) })).items.map(brief)
      expect(await since('2024-03-02T00:00:00.000Z')).toEqual(['a/3', 'a/2'])
      expect(await since('2024-03-02T00:00:00.001Z')).toEqual(['a/3'])
      expect(await since('2024-03-04T00:00:00.000Z')).toEqual([])
    },
  },
  {
    promise: 'history at a time has what was current then, and no deletion',
    check: async (subject) => {
      await writeAt(
        subject,
        ['02', patient('a'), patient('b'), observation('o', 'a')],
        ['04', patient('a'), remove('b')],
        ['06', patient('a'), patient('b')],
      )
      const at = async (from: string, to: string, asked?: Partial<HistoryQuery>): Promise<string> => {
        const period = { from: Date.parse(`2024-03-${from}`), to: Date.parse(`2024-03-${to}`) }
        const pages = await pagesOf(subject.storage, { types: ['Patient'], at: period, limit: 2, ...asked })
        return pages.join(', ')
      }
      expect(await at('01', '02T00:00:00.000Z')).toBe('a/1 created, b/1 created')
      expect(await at('01', '01T23:59:59.999Z')).toBe('')
      expect(await at('03', '03')).toBe('a/1 created, b/1 created')
      expect(await at('03', '04')).toBe('a/2, a/1 created, b/1 created')
      expect(await at('04', '05')).toBe('a/2')
      expect(await at('03T23:59:59.999Z', '06')).toBe('a/3, b/3 created, a/2, a/1 created, b/1 created')
      expect(await at('07', '08')).toBe('a/3, b/3 created')
      expect(await at('03', '04', { id: 'a' })).toBe('a/2, a/1 created')
      expect(await at('05', '05', { id: 'b' })).toBe('')
      expect(await at('03', '06', { since: Date.parse('2024-03-04') })).toBe('a/3, b/3 created, a/2')
      expect(await at('05', '05', { types: ['Patient', 'Observation'] })).toBe('a/2, o/1 created')
    },
  },
  {
    promise: 'pages of a history join without gap or repetition, whatever is written meanwhile',
    check: async (subject) => {
      const { storage } = subject
      await writeAt(
        subject,
        ['01', patient('a'), patient('b')],
        ['02', patient('a'), observation('o', 'a')],
        ['03', remove('b')],
        ['03', patient('c')],
      )
      const whole = ['b/2 deleted', 'c/1 created', 'o/1 created', 'a/2', 'a/1 created', 'b/1 created']
      for (const limit of [1, 2, 3, 5, 6]) expect(await pagesOf(storage, { types: ['Patient', 'Observation'], limit })).toEqual(whole)
      const { next = '' } = await historyOf(storage).page({ types: ['Patient', 'Observation'], limit: 3 })
      await writeAt(subject, ['04', patient('a'), patient('b')])
      expect(await pagesOf(storage, { types: ['Patient', 'Observation'], limit: 2, after: next })).toEqual(whole.slice(3))
    },
  },
  {
    promise: 'a cursor that is none of a history is refused',
    check: async ({ storage }) => {
      for (const after of ['', 'x', '[]', '["a"]', '[1,"Patient","a","1"]', '[null,"Patient","a",1]']) {
        await expect(historyOf(storage).page({ types: ['Patient'], after })).rejects.toMatchObject({ code: 'search-invalid' })
      }
    },
  },
  {
    promise: 'a refused write leaves no version',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      await expect(storage.write([patient('a'), { ...patient('b'), ifVersion: '7' }])).rejects.toMatchObject({ code: 'version-conflict' })
      expect((await historyOf(storage).page({ types: ['Patient'] })).items.map(brief)).toEqual(['a/1 created'])
    },
  },
]

function historyOf({ history }: Storage): ResourceHistory {
  if (history === undefined) throw new TypeError("The storage keeps no history: skip 'history', with a reason.")
  return history
}

async function pagesOf(storage: Storage, query: HistoryQuery): Promise<readonly string[]> {
  const found: string[] = []
  let after = query.after
  do {
    const page = await historyOf(storage).page({ ...query, ...(after !== undefined && { after }) })
    expect(page.items.length).toBeLessThanOrEqual(query.limit ?? 0)
    found.push(...page.items.map(brief))
    after = page.next
  } while (after !== undefined)
  return found
}

function brief({ id, versionId, created, stored }: HistoryItem): string {
  return `${id}/${versionId}${created ? ' created' : ''}${stored === undefined ? ' deleted' : ''}`
}

/** Runs one write per row, on the given day of March 2024. */
async function writeAt(
  { storage, setTime }: Subject,
  ...writes: readonly (readonly [day: string, ...entries: WriteEntry[]])[]
): Promise<void> {
  for (const [day, ...entries] of writes) {
    setTime(`2024-03-${day}T00:00:00.000Z`)
    await storage.write(entries)
  }
}

function remove(id: string): WriteEntry {
  return { op: 'delete', type: 'Patient', id }
}
