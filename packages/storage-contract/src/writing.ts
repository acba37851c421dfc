import { writableText, type PutEntry } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { ALL_PATIENTS, byGender, idsOf, patient, type StoragePromise } from './promises.js'

export const writingPromises: readonly StoragePromise[] = [
  {
    promise: 'read gives undefined for what never existed',
    check: async ({ storage }) => {
      expect(await storage.read('Patient', 'a')).toBeUndefined()
      await storage.write([patient('a')])
      expect(await storage.read('Patient', 'b')).toBeUndefined()
      expect(await storage.read('Observation', 'a')).toBeUndefined()
    },
  },
  {
    promise: 'read gives what was written, with version and time',
    check: async ({ storage }) => {
      const [result] = await storage.write([patient('a')])
      const stored = await storage.read('Patient', 'a')
      expect(stored).toMatchObject({ type: 'Patient', id: 'a', versionId: result?.versionId, lastUpdated: result?.lastUpdated })
      expect(stored?.resource).toEqual({
        resourceType: 'Patient',
        id: 'a',
        meta: { versionId: result?.versionId, lastUpdated: result?.lastUpdated },
        gender: 'female',
      })
    },
  },
  {
    promise: 'what is not a type and an id is refused by name instead of being read as absent',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      // Plain JavaScript may pass any value.
      const given: readonly (readonly [args: readonly unknown[], code: string, message: string])[] = [
        [['Patient/a'], 'parameter-value', "type is 'Patient/a'. A read takes a type and an id"],
        [['Patient/a', 'a'], 'parameter-value', "type is 'Patient/a'."],
        [['Patient'], 'parameter-required', 'id is missing.'],
        [['Patient', 1], 'parameter-value', 'id is not a text.'],
        [[{ type: 'Patient', id: 'a' }], 'parameter-value', 'type is not a text.'],
        [[], 'parameter-required', 'type is missing.'],
      ]
      for (const [args, code, message] of given)
        await expect(Reflect.apply(storage.read, storage, args)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
      expect(await storage.read('Patient', 'a/b')).toBeUndefined()
    },
  },
  {
    promise: 'what is not a list of entries is refused by name, and nothing is written',
    check: async ({ storage }) => {
      // Plain JavaScript may pass any value.
      const write = (entries: unknown): Promise<unknown> => Reflect.apply(storage.write, storage, [entries])
      for (const wrong of [patient('a'), 'a', [patient('a'), undefined], [patient('a'), 'a']])
        await expect(write(wrong)).rejects.toMatchObject({ code: 'parameter-value', message: expect.stringContaining('a list of entries') })
      await expect(write(undefined)).rejects.toMatchObject({ code: 'parameter-required' })
      expect(await storage.read('Patient', 'a')).toBeUndefined()
    },
  },
  {
    promise: 'read gives undefined for what was deleted',
    check: async ({ storage }) => {
      await storage.write([patient('a'), patient('b')])
      await storage.write([{ op: 'delete', type: 'Patient', id: 'a' }])
      expect(await storage.read('Patient', 'a')).toBeUndefined()
      expect(await idsOf(storage, ALL_PATIENTS)).toEqual(['b'])
      expect(await storage.count(byGender('female'))).toBe(1)
    },
  },
  {
    promise: 'the text is kept byte for byte, except for version and time',
    check: async ({ storage }) => {
      const source = `{"resourceType":"Observation","status":"final","code":{"text":"\\u00e9 ß 水 🙂 \\\\ \\" \\n"},
        "valueQuantity":{"value":1.50,"extension":[{"url":"x","valueDecimal":0.00000000000000000000000010}]},
        "component":[{"code":{},"valueInteger":9007199254740993},{"code":{},"valueQuantity":{"value":1E2}}]}`
      const text = writableText('Observation', 'a', source)
      const [result] = await storage.write([{ op: 'put', type: 'Observation', id: 'a', text, entries: [] }])
      const stamp = `"meta":{"versionId":"${result?.versionId}","lastUpdated":"${result?.lastUpdated}"}`
      const expected = text.replace('"meta":{}', stamp)
      expect((await storage.read('Observation', 'a'))?.text).toBe(expected)
      const page = await storage.search({ type: 'Observation', where: { kind: 'id', ids: ['a'] }, parameters: [['_id', 'a']] })
      expect(page.items[0]?.text).toBe(expected)
    },
  },
  {
    promise: 'other members of meta stay',
    check: async ({ storage }) => {
      const meta = { versionId: '99', profile: ['http://example.org/p'], lastUpdated: '1999-01-01T00:00:00Z', tag: [{ code: 't' }] }
      const text = writableText('Patient', 'a', { resourceType: 'Patient', meta })
      await storage.write([{ op: 'put', type: 'Patient', id: 'a', text, entries: [] }])
      const stored = await storage.read('Patient', 'a')
      expect(stored?.resource['meta']).toEqual({
        versionId: stored?.versionId,
        lastUpdated: stored?.lastUpdated,
        profile: ['http://example.org/p'],
        tag: [{ code: 't' }],
      })
    },
  },
  {
    promise: 'a put replaces the entries of the version before',
    check: async ({ storage }) => {
      await storage.write([patient('a', 'female')])
      await storage.write([patient('a', 'male')])
      expect(await idsOf(storage, byGender('female'))).toEqual([])
      expect(await idsOf(storage, byGender('male'))).toEqual(['a'])
    },
  },
  {
    promise: 'results are in the order of the entries',
    check: async ({ storage }) => {
      await storage.write([patient('b')])
      const results = await storage.write([patient('c'), { op: 'delete', type: 'Patient', id: 'b' }, patient('a')])
      expect(results.map(({ id, created }) => [id, created])).toEqual([
        ['c', true],
        ['b', false],
        ['a', true],
      ])
    },
  },
  {
    promise: 'deleting what does not exist succeeds and makes no version',
    check: async ({ storage }) => {
      const [result] = await storage.write([{ op: 'delete', type: 'Patient', id: 'a' }])
      expect(result).toMatchObject({ type: 'Patient', id: 'a', created: false })
      expect(result?.versionId).toBeUndefined()
    },
  },
  {
    promise: 'an empty write does nothing',
    check: async ({ storage }) => {
      expect(await storage.write([])).toEqual([])
    },
  },
  {
    promise: 'an entry of a write sees what the entries before it did',
    check: async ({ storage }) => {
      const results = await storage.write([
        patient('a', 'female'),
        { ...patient('a', 'male'), ifVersion: '1' },
        { op: 'delete', type: 'Patient', id: 'a', ifVersion: '2' },
        { ...patient('a', 'other'), ifVersion: null },
      ])
      expect(results.map(({ versionId, created }) => [versionId, created])).toEqual([
        ['1', true],
        ['2', false],
        ['3', false],
        ['4', true],
      ])
      expect((await storage.read('Patient', 'a'))?.versionId).toBe('4')
      expect(await idsOf(storage, byGender('other'))).toEqual(['a'])
    },
  },
  {
    promise: 'a write with a failing precondition writes nothing',
    check: async ({ storage }) => {
      await storage.write([patient('b')])
      const batch = [patient('a'), { ...patient('b', 'male'), ifVersion: '7' }, patient('c')]
      await expect(storage.write(batch)).rejects.toMatchObject({ name: 'OperationError', code: 'version-conflict' })
      expect(await idsOf(storage, ALL_PATIENTS)).toEqual(['b'])
      expect((await storage.read('Patient', 'b'))?.versionId).toBe('1')
      const [result] = await storage.write([patient('a')])
      expect(result?.versionId).toBe('1')
    },
  },
  {
    promise: 'a text that is not laid out is refused and nothing is written',
    check: async ({ storage }) => {
      const bad: PutEntry = { op: 'put', type: 'Patient', id: 'b', text: '{"id":"b","resourceType":"Patient"}', entries: [] }
      await expect(storage.write([patient('a'), bad])).rejects.toMatchObject({ code: 'resource-invalid' })
      expect(await storage.count(ALL_PATIENTS)).toBe(0)
    },
  },
  {
    promise: 'a resource instead of an entry is refused and nothing is written or deleted',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      const bare = JSON.parse('{"resourceType":"Patient","type":"Patient","id":"a"}')
      await expect(storage.write([bare])).rejects.toMatchObject({ code: 'parameter-value' })
      expect(await storage.count(ALL_PATIENTS)).toBe(1)
    },
  },
  {
    promise: 'a put with a condition is refused, unless the storage checks it',
    check: async ({ storage }) => {
      const { conditionalWrites = false } = storage.capabilities
      const writing = storage.write([patient('b'), { ...patient('a'), ifOnlyMatch: byGender('male').where }])
      if (conditionalWrites) return void (await writing)
      await expect(writing).rejects.toMatchObject({ code: 'not-supported' })
      expect(await idsOf(storage, ALL_PATIENTS)).toEqual([])
    },
  },
  {
    promise: 'the same id of two types is two resources',
    check: async ({ storage }) => {
      const text = writableText('Group', 'a', { resourceType: 'Group' })
      await storage.write([patient('a'), { op: 'put', type: 'Group', id: 'a', text, entries: [] }])
      await storage.write([{ op: 'delete', type: 'Patient', id: 'a' }])
      expect((await storage.read('Group', 'a'))?.type).toBe('Group')
    },
  },
  {
    promise: 'concurrent writes of one id make one version each',
    check: async ({ storage }) => {
      const results = await Promise.all(Array.from({ length: 20 }, () => storage.write([patient('a')])))
      const versions = results.flat().map(({ versionId }) => Number(versionId))
      expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    },
  },
  {
    promise: 'of concurrent writes with the same precondition one succeeds',
    check: async ({ storage }) => {
      await storage.write([patient('a')])
      const tries = Array.from({ length: 10 }, () => storage.write([{ ...patient('a'), ifVersion: '1' }]))
      const settled = await Promise.allSettled(tries)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect((await storage.read('Patient', 'a'))?.versionId).toBe('2')
    },
  },
]
