import { scanResources, writableText, type Condition, type PutEntry, type ScanQuery, type Storage } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { ALL_PATIENTS, EVERYTHING, byGender, observation, patient, type StoragePromise } from './promises.js'

const OBSERVATIONS = { type: 'Observation', where: EVERYTHING, parameters: [], params: ['subject'] } as const

const POPULATION: ScanQuery = { ...ALL_PATIENTS, referring: [OBSERVATIONS] }

/** Only some of the resources that refer to the matches. */
const WEIGHTS = {
  ...OBSERVATIONS,
  where: { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: 'weight' }] },
  parameters: [['code', 'weight']],
} as const
const WEIGHED: ScanQuery = { ...ALL_PATIENTS, referring: [WEIGHTS] }

/** Returns the ids of a scan, sorted: those of each match and of the resources that refer to it. */
async function scanned(storage: Storage, query: ScanQuery): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { stored, referring } of scanResources(storage, query))
    found.push([stored.id, ...referring.map(({ id }) => id).sort()].join(' '))
  return found.sort()
}

function encounter(id: string, subject: string): PutEntry {
  const resource = { resourceType: 'Encounter', status: 'finished', class: {}, subject: { reference: `Patient/${subject}` } }
  return {
    op: 'put',
    type: 'Encounter',
    id,
    text: writableText('Encounter', id, resource),
    entries: [
      { param: 'subject', system: 'Patient', value: subject },
      { param: 'patient', system: 'Patient', value: subject },
    ],
  }
}

export const scanningPromises: readonly StoragePromise[] = [
  {
    promise: 'a scan gives every match once, with all that refers to it',
    check: async ({ storage }) => {
      await storage.write([patient('a'), patient('b', 'male'), patient('c'), encounter('e1', 'c')])
      await storage.write([observation('o1', 'a'), observation('o2', 'b'), observation('o3', 'a'), observation('o4', 'nobody')])
      expect(await scanned(storage, POPULATION)).toEqual(['a o1 o3', 'b o2', 'c'])
      const encounters = { ...OBSERVATIONS, type: 'Encounter' }
      expect(await scanned(storage, { ...POPULATION, referring: [OBSERVATIONS, encounters] })).toEqual(['a o1 o3', 'b o2', 'c e1'])
      expect(await scanned(storage, ALL_PATIENTS)).toEqual(['a', 'b', 'c'])
    },
  },
  {
    promise: 'what refers to a match of a scan by several parameters comes once',
    check: async ({ storage }) => {
      await storage.write([patient('a'), encounter('e1', 'a')])
      const encounters = { ...OBSERVATIONS, type: 'Encounter', params: ['subject', 'patient'] }
      expect(await scanned(storage, { ...POPULATION, referring: [encounters] })).toEqual(['a e1'])
    },
  },
  {
    promise: 'what refers to a match of a scan comes in the order of types and ids, in whatever order it was written',
    check: async ({ storage }) => {
      const encounters = { ...OBSERVATIONS, type: 'Encounter' }
      await storage.write([observation('o2', 'a'), observation('Z', 'a'), encounter('e2', 'a'), patient('a')])
      await storage.write([observation('o10', 'a'), encounter('e1', 'a')])
      const found: string[] = []
      for await (const { referring } of scanResources(storage, { ...POPULATION, referring: [OBSERVATIONS, encounters] }))
        found.push(...referring.map(({ id }) => id))
      expect(found).toEqual(['e1', 'e2', 'Z', 'o10', 'o2'])
    },
  },
  {
    promise: 'a scan heeds the conditions on its matches and on what refers to them',
    check: async ({ storage }) => {
      await storage.write([patient('a'), patient('b', 'male')])
      await storage.write([observation('o1', 'a', 'height'), observation('o2', 'a'), observation('o3', 'b')])
      expect(await scanned(storage, { ...byGender('female'), referring: [WEIGHTS] })).toEqual(['a o2'])
    },
  },
  {
    promise: 'conditions of a scan on the same parameter may hold for different values of it',
    check: async ({ storage }) => {
      const codes = (id: string, ...all: readonly string[]): PutEntry => {
        const { entries, ...put } = observation(id, 'a')
        return { ...put, entries: [...entries.filter(({ param }) => param !== 'code'), ...all.map((value) => ({ param: 'code', value }))] }
      }
      await storage.write([
        patient('a'),
        codes('o1', 'weight'),
        codes('o2', 'whole', 'height'),
        codes('o3', 'whole'),
        codes('o4', 'height'),
      ])
      const conditions: readonly Condition[] = [
        { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'prefix', operand: 'w' }] },
        { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'suffix', operand: 'ht' }] },
      ]
      const referring = [{ type: 'Observation', where: { kind: 'and', conditions } as const, params: ['subject'] }]
      expect(await scanned(storage, { ...ALL_PATIENTS, referring })).toEqual(['a o1 o2'])
    },
  },
  {
    promise: 'a scan sees current versions, whole and with their stamps',
    check: async ({ storage }) => {
      await storage.write([patient('a'), patient('b'), observation('o1', 'a'), observation('o2', 'a')])
      await storage.write([observation('o1', 'b'), { op: 'delete', type: 'Observation', id: 'o2' }, patient('a', 'male')])
      expect(await scanned(storage, POPULATION)).toEqual(['a', 'b o1'])
      for await (const { stored, referring } of scanResources(storage, POPULATION)) {
        const read = await storage.read('Patient', stored.id)
        expect(stored.text).toBe(read?.text)
        expect(stored.resource).toEqual(read?.resource)
        for (const one of referring) {
          expect([one.type, one.versionId]).toEqual(['Observation', '2'])
          expect(one.text).toBe((await storage.read('Observation', one.id))?.text)
        }
      }
    },
  },
  {
    promise: 'a page of a scan ends at its limit or when it is long, and the pages together are the whole',
    check: async ({ storage }) => {
      const ids = Array.from({ length: 12 }, (_, index) => `p${index}`)
      await storage.write(ids.flatMap((id) => [patient(id), observation(`${id}-1`, id, 'height'), observation(`${id}-2`, id)]))
      const [whole, weighed] = [ids.map((id) => `${id} ${id}-1 ${id}-2`).sort(), ids.map((id) => `${id} ${id}-2`).sort()]
      for (const bound of [{ limit: 1 }, { limit: 5 }, { limit: 12 }, { limit: 13 }, { maxBytes: 1 }, { maxBytes: 1_000 }]) {
        expect(await scanned(storage, { ...POPULATION, ...bound })).toEqual(whole)
        expect(await scanned(storage, { ...WEIGHED, ...bound })).toEqual(weighed)
      }
      if (storage.scan === undefined) return
      expect((await storage.scan({ ...POPULATION, limit: 5 })).items).toHaveLength(5)
      expect((await storage.scan({ ...POPULATION, limit: 12 })).next).toBeUndefined()
      expect((await storage.scan({ ...POPULATION, maxBytes: 1 })).items).toHaveLength(1)
      const lengths = (await storage.scan({ ...POPULATION, maxBytes: 1_000 })).items.map((item) =>
        [item.stored, ...item.referring].reduce((sum, { text }) => sum + text.length, 0),
      )
      expect(lengths.slice(0, -1).reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(1_500)
      expect(lengths.length).toBeLessThan(12)
    },
  },
  {
    promise: 'writes between two pages of a scan are seen by the later one and do not disturb it',
    check: async ({ storage }) => {
      if (storage.scan === undefined) return
      for (const query of [POPULATION, WEIGHED]) {
        await storage.write(['a', 'b', 'c', 'd'].flatMap((id) => [patient(id), observation(`o-${id}`, id)]))
        const first = await storage.scan({ ...query, limit: 2 })
        const rest = ['a', 'b', 'c', 'd'].filter((id) => !first.items.some(({ stored }) => stored.id === id))
        const [next = '', last = ''] = rest
        const gone = { op: 'delete', type: 'Patient', id: String(first.items[0]?.stored.id) } as const
        await storage.write([patient('e'), gone, patient(next), observation(`p-${last}`, last)])
        const others = await scanned(storage, { ...query, after: String(first.next) })
        expect(others.filter((one) => !one.startsWith('e'))).toEqual([`${next} o-${next}`, `${last} o-${last} p-${last}`])
        await storage.write([{ op: 'delete', type: 'Observation', id: `p-${last}` }])
      }
    },
  },
  {
    promise: 'a scan of a type without resources is empty, and what is not a scan is refused',
    check: async ({ storage }) => {
      expect(await scanned(storage, POPULATION)).toEqual([])
      if (storage.scan === undefined) return
      await storage.write([patient('a')])
      for (const after of ['', 'x', '[]', '{}', '[1]'])
        await expect(storage.scan({ ...POPULATION, after })).rejects.toMatchObject({ code: 'search-invalid' })
      const given: readonly unknown[] = ['Patient', { type: 'Patient' }, { ...ALL_PATIENTS, referring: [{ type: 'Observation' }] }]
      for (const query of given)
        await expect(Reflect.apply(storage.scan, storage, [query])).rejects.toMatchObject({ code: 'parameter-value' })
    },
  },
]
