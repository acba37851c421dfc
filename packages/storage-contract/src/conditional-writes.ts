import type { Condition, PutEntry, Storage } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { ALL_PATIENTS, EVERYTHING, byGender, idsOf, indexed, observation, patient, type StoragePromise } from './promises.js'

/** A put that fails unless its resource is the only one of this gender, if it is current, and otherwise if there is one. */
function only(gender: string, put: PutEntry): PutEntry {
  return { ...put, ifOnlyMatch: byGender(gender).where }
}

const CONFLICT = { name: 'OperationError', code: 'version-conflict' }

/** Number of writes that succeed. */
async function successes(writes: readonly Promise<unknown>[]): Promise<number> {
  const settled = await Promise.allSettled(writes)
  for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject(CONFLICT)
  return settled.filter(({ status }) => status === 'fulfilled').length
}

/** Promises about `ifOnlyMatch` of a put. */
export const conditionalWritePromises: readonly StoragePromise[] = [
  {
    promise: 'a new resource is refused if one meets its condition, and nothing is written',
    check: async ({ storage }) => {
      await storage.write([patient('a', 'female')])
      await expect(storage.write([patient('b', 'male'), only('female', patient('c', 'other'))])).rejects.toMatchObject(CONFLICT)
      expect(await idsOf(storage, ALL_PATIENTS)).toEqual(['a'])
    },
  },
  {
    promise: 'a new resource is written if nothing that is current meets its condition',
    check: async ({ storage }) => {
      await storage.write([patient('a', 'female'), patient('b', 'female'), indexed('c', { param: 'gender', value: 'female' })])
      await storage.write([{ op: 'delete', type: 'Patient', id: 'a' }, patient('b', 'male')])
      const [result] = await storage.write([only('female', patient('d', 'female'))])
      expect(result).toMatchObject({ id: 'd', versionId: '1', created: true })
      expect(await idsOf(storage, byGender('female'))).toEqual(['d'])
    },
  },
  {
    promise: 'the condition of a put does not see the other entries of its write',
    check: async ({ storage }) => {
      await storage.write([only('female', patient('a', 'female')), only('female', patient('b', 'female')), patient('c', 'female')])
      expect(await idsOf(storage, byGender('female'))).toEqual(['a', 'b', 'c'])
      const deleting = ['a', 'b', 'c'].map((id) => ({ op: 'delete', type: 'Patient', id }) as const)
      await expect(storage.write([...deleting, only('female', patient('d', 'female'))])).rejects.toMatchObject(CONFLICT)
      expect(await storage.count(ALL_PATIENTS)).toBe(3)
    },
  },
  {
    promise: 'a put replaces the only resource that meets its condition, and no other one',
    check: async ({ storage }) => {
      await storage.write([patient('a', 'female'), patient('b', 'male')])
      const [result] = await storage.write([only('female', patient('a', 'female'))])
      expect(result).toMatchObject({ versionId: '2', created: false })
      await expect(storage.write([only('female', patient('b', 'female'))])).rejects.toMatchObject(CONFLICT)
      await expect(storage.write([only('other', patient('b', 'other'))])).rejects.toMatchObject(CONFLICT)
      await storage.write([patient('c', 'female')])
      await expect(storage.write([only('female', patient('a', 'female'))])).rejects.toMatchObject(CONFLICT)
    },
  },
  {
    promise: 'a put with a condition can expect a version besides',
    check: async ({ storage }) => {
      await storage.write([patient('a', 'female')])
      for (const ifVersion of ['2', null])
        await expect(storage.write([{ ...only('female', patient('a', 'female')), ifVersion }])).rejects.toMatchObject(CONFLICT)
      await expect(storage.write([{ ...only('male', patient('a', 'male')), ifVersion: '1' }])).rejects.toMatchObject(CONFLICT)
      const [result] = await storage.write([{ ...only('female', patient('a', 'female')), ifVersion: '1' }])
      expect(result).toMatchObject({ versionId: '2', created: false })
    },
  },
  {
    promise: 'concurrent puts that replace the only resource that meets their condition make one version each',
    check: async ({ storage }) => {
      await storage.write([patient('a', 'female')])
      const results = await Promise.all(Array.from({ length: 10 }, () => storage.write([only('female', patient('a', 'female'))])))
      const versions = results.flat().map(({ versionId }) => Number(versionId))
      expect(versions.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 10 }, (_, index) => index + 2))
    },
  },
  {
    promise: 'concurrent puts that make the only resource that meets their condition make one version each',
    check: async ({ storage }) => {
      const results = await Promise.all(Array.from({ length: 10 }, () => storage.write([only('female', patient('a', 'female'))])))
      const versions = results.flat().map(({ versionId }) => Number(versionId))
      expect(versions.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1))
    },
  },
  {
    promise: 'of concurrent puts with the same condition, which they meet, one succeeds',
    check: async ({ storage }) => {
      const writes = Array.from({ length: 10 }, (_, n) => storage.write([only('female', patient(`p${n}`, 'female'))]))
      expect(await successes(writes)).toBe(1)
      expect(await storage.count(ALL_PATIENTS)).toBe(1)
    },
  },
  {
    promise: 'of concurrent puts that meet each other’s conditions, one succeeds',
    check: async ({ storage }) => {
      const put = (n: number): PutEntry =>
        indexed(`b${n}`, { param: 'identifier', value: 'one' }, { param: 'identifier', system: 'urn:s', value: 'two' })
      const conditions: readonly Condition[] = [
        entry('identifier', 'one'),
        entry('identifier', 'two', 'urn:s'),
        { kind: 'and', conditions: [entry('identifier', 'one'), EVERYTHING, { kind: 'not', condition: entry('code', 'x') }] },
        { kind: 'or', conditions: [entry('identifier', 'two'), entry('identifier', 'three')] },
        { kind: 'entry', param: 'identifier', all: [{ field: 'value', op: 'prefix', operand: 'o' }] },
        EVERYTHING,
      ]
      const writes = conditions.flatMap((ifOnlyMatch, n) => [2 * n, 2 * n + 1].map((own) => storage.write([{ ...put(own), ifOnlyMatch }])))
      expect(await successes(writes)).toBe(1)
      expect(await basics(storage)).toHaveLength(1)
    },
  },
  {
    promise: 'of concurrent puts of two types that meet each other’s conditions by references, one succeeds',
    check: async ({ storage }) => {
      const ofFemale: Condition = { kind: 'refersTo', param: 'subject', query: byGender('female') }
      const weighed: Condition = { kind: 'referredBy', param: 'subject', query: { type: 'Observation', where: entry('code', 'weight') } }
      for (let round = 0; round < 5; round++) {
        await storage.write([
          patient('a', 'male'),
          patient('b', 'male'),
          observation('x', 'a', 'weight'),
          { op: 'delete', type: 'Observation', id: 'o' },
        ])
        const writes = [
          storage.write([{ ...patient('a', 'female'), ifOnlyMatch: weighed }]),
          storage.write([{ ...observation('o', 'b', 'weight'), ifOnlyMatch: ofFemale }]),
        ]
        expect(await successes(writes)).toBe(1)
      }
    },
  },
  {
    promise: 'of concurrent writes of which each deletes what keeps the other’s condition from being met, one succeeds',
    check: async ({ storage }) => {
      const without = (gender: string, type: string): Condition => {
        const referred: Condition = { kind: 'referredBy', param: 'subject', query: { type, where: EVERYTHING } }
        return { kind: 'and', conditions: [byGender(gender).where, { kind: 'not', condition: referred }] }
      }
      for (let round = 0; round < 5; round++) {
        await storage.write([
          patient('a', 'female'),
          patient('b', 'male'),
          observation('o', 'a'),
          indexed('i', { param: 'subject', system: 'Patient', value: 'b' }),
          { op: 'delete', type: 'Patient', id: 'x' },
          { op: 'delete', type: 'Patient', id: 'y' },
        ])
        const writes = [
          storage.write([
            { op: 'delete', type: 'Basic', id: 'i' },
            { ...patient('x', 'other'), ifOnlyMatch: without('female', 'Observation') },
          ]),
          storage.write([
            { op: 'delete', type: 'Observation', id: 'o' },
            { ...patient('y', 'other'), ifOnlyMatch: without('male', 'Basic') },
          ]),
        ]
        expect(await successes(writes)).toBe(1)
      }
    },
  },
  {
    promise: 'concurrent puts that do not meet each other’s conditions all succeed',
    check: async ({ storage }) => {
      const writes = Array.from({ length: 10 }, (_, n) =>
        storage.write([{ ...indexed(`b${n}`, { param: 'identifier', value: `v${n}` }), ifOnlyMatch: entry('identifier', `v${n}`) }]),
      )
      expect(await successes(writes)).toBe(10)
    },
  },
  {
    promise: 'a write of very many values and conditions is checked like any other',
    check: async ({ storage }) => {
      const many = (own: string): readonly PutEntry[] =>
        Array.from({ length: 150 }, (_, n) => ({
          ...indexed(`${own}${n}`, { param: 'identifier', value: `v${n}` }, { param: 'code', value: own }),
          ifOnlyMatch: entry('identifier', `v${n}`),
        }))
      expect(await successes(['a', 'b', 'c'].map((own) => storage.write(many(own))))).toBe(1)
      expect(await basics(storage)).toHaveLength(150)
    },
  },
  {
    promise: 'the condition of a put may follow references',
    check: async ({ storage }) => {
      await storage.write([patient('a', 'female'), observation('o', 'a')])
      const about = (gender: string): Condition => ({ kind: 'refersTo', param: 'subject', query: byGender(gender) })
      await expect(storage.write([{ ...observation('q', 'a'), ifOnlyMatch: about('female') }])).rejects.toMatchObject(CONFLICT)
      await storage.write([{ ...observation('q', 'a'), ifOnlyMatch: about('male') }])
      const referred: Condition = { kind: 'referredBy', param: 'subject', query: { type: 'Observation', where: EVERYTHING } }
      await expect(storage.write([{ ...patient('b'), ifOnlyMatch: referred }])).rejects.toMatchObject(CONFLICT)
    },
  },
  {
    promise: 'what is not a condition is refused by name, and nothing is written',
    check: async ({ storage }) => {
      // Plain JavaScript may pass any value.
      for (const ifOnlyMatch of ['gender=female', null, {}, { kind: 'nothing' }, [byGender('female').where]]) {
        const write: unknown = Reflect.apply(storage.write, storage, [[{ ...patient('a'), ifOnlyMatch }]])
        await expect(write).rejects.toMatchObject({ code: 'parameter-value', message: expect.stringContaining('ifOnlyMatch') })
      }
      expect(await storage.count(ALL_PATIENTS)).toBe(0)
    },
  },
]

function entry(param: string, value: string, system?: string): Condition {
  const ofSystem = system === undefined ? [] : [{ field: 'system', op: 'eq', operand: system } as const]
  return { kind: 'entry', param, all: [...ofSystem, { field: 'value', op: 'eq', operand: value }] }
}

async function basics(storage: Storage): Promise<readonly string[]> {
  return idsOf(storage, { type: 'Basic', where: EVERYTHING })
}
