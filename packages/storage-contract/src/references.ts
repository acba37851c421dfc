import {
  type Condition,
  type SearchQuery,
  CONTAINED_PARAM,
  containedType,
  type IndexEntry,
  type PutEntry,
  type Storage,
} from 'fhir-ops/storage'
import { expect } from 'vitest'
import {
  ALL_PATIENTS,
  EVERYTHING,
  basicsWhere,
  byGender,
  idsOf,
  indexed,
  observation,
  patient,
  type StoragePromise,
  type Subject,
} from './promises.js'

const FEMALE_SUBJECT: SearchQuery = {
  type: 'Observation',
  where: { kind: 'refersTo', param: 'subject', query: byGender('female') },
  parameters: [['subject:Patient.gender', 'female']],
}

function weighed(code: string): SearchQuery {
  const where: Condition = { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: code }] }
  return {
    type: 'Patient',
    where: { kind: 'referredBy', param: 'subject', query: { type: 'Observation', where } },
    parameters: [['_has:Observation:subject:code', code]],
  }
}

async function ward({ storage }: Subject): Promise<void> {
  await storage.write([patient('f1'), patient('f2'), patient('m1', 'male'), patient('m2', 'male')])
  await storage.write([observation('o1', 'f1'), observation('o2', 'm1'), observation('o3', 'f1', 'height'), observation('o4', 'm1')])
}

export const referencePromises: readonly StoragePromise[] = [
  {
    promise: 'refersTo finds what refers to a match of the inner query',
    check: async (subject) => {
      await ward(subject)
      expect(await idsOf(subject.storage, FEMALE_SUBJECT)).toEqual(['o1', 'o3'])
      expect(await subject.storage.count(FEMALE_SUBJECT)).toBe(2)
    },
  },
  {
    promise: 'referredBy finds what a match of the inner query refers to, once',
    check: async (subject) => {
      await ward(subject)
      expect(await idsOf(subject.storage, weighed('weight'))).toEqual(['f1', 'm1'])
      expect(await subject.storage.count(weighed('weight'))).toBe(2)
      expect(await idsOf(subject.storage, weighed('height'))).toEqual(['f1'])
      expect(await idsOf(subject.storage, weighed('pulse'))).toEqual([])
    },
  },
  {
    promise: 'references see current versions only',
    check: async (subject) => {
      await ward(subject)
      const { storage } = subject
      await storage.write([patient('f1', 'male'), observation('o2', 'f2')])
      expect(await idsOf(storage, FEMALE_SUBJECT)).toEqual(['o2'])
      await storage.write([
        { op: 'delete', type: 'Patient', id: 'f2' },
        { op: 'delete', type: 'Observation', id: 'o3' },
      ])
      expect(await idsOf(storage, FEMALE_SUBJECT)).toEqual([])
      expect(await idsOf(storage, weighed('height'))).toEqual([])
    },
  },
  {
    promise: 'a reference to the same id of another type does not count',
    check: async ({ storage }) => {
      await storage.write([patient('a'), indexed('toGroup', { param: 'r', system: 'Group', value: 'a' })])
      await storage.write([
        indexed('toPatient', { param: 'r', system: 'Patient', value: 'a' }),
        indexed('toUrl', { param: 'r', value: 'a' }),
      ])
      expect(await basicsWhere(storage, { kind: 'refersTo', param: 'r', query: ALL_PATIENTS })).toEqual(['toPatient'])
      const referred = { kind: 'referredBy', param: 'r', query: { type: 'Basic', where: { kind: 'id', ids: ['toGroup'] } } } as const
      expect(await idsOf(storage, { type: 'Patient', where: referred })).toEqual([])
    },
  },
  {
    promise: 'a reference by another parameter does not count',
    check: async (subject) => {
      await ward(subject)
      const where: Condition = { kind: 'refersTo', param: 'performer', query: ALL_PATIENTS }
      expect(await idsOf(subject.storage, { type: 'Observation', where })).toEqual([])
    },
  },
  {
    promise: 'references chain over several levels and combine with other conditions',
    check: async (subject) => {
      await ward(subject)
      const { storage } = subject
      await storage.write([
        indexed('about-f1', { param: 'focus', system: 'Observation', value: 'o1' }),
        indexed('about-m1', { param: 'focus', system: 'Observation', value: 'o2' }),
      ])
      expect(await basicsWhere(storage, { kind: 'refersTo', param: 'focus', query: FEMALE_SUBJECT })).toEqual(['about-f1'])
      const notFemale: Condition = { kind: 'not', condition: { kind: 'refersTo', param: 'focus', query: FEMALE_SUBJECT } }
      expect(await basicsWhere(storage, notFemale)).toEqual(['about-m1'])
      const about = { type: 'Basic', where: EVERYTHING }
      const watched: SearchQuery = { type: 'Observation', where: { kind: 'referredBy', param: 'focus', query: about } }
      const watchedPatients: Condition = { kind: 'referredBy', param: 'subject', query: watched }
      expect(await idsOf(storage, { type: 'Patient', where: watchedPatients })).toEqual(['f1', 'm1'])
      const women: Condition = { kind: 'and', conditions: [watchedPatients, byGender('female').where] }
      expect(await idsOf(storage, { type: 'Patient', where: women })).toEqual(['f1'])
    },
  },
]

const WITHIN = containedType('Medication')

/** A Basic that refers with `r` to the first of its contained medications; `codes` has their codes, by their ids. */
function container(id: string, codes: Readonly<Record<string, readonly string[]>>): PutEntry {
  const contained = Object.entries(codes).map(([fragment, values]) => ({
    type: WITHIN,
    id: `Basic/${id}#${fragment}`,
    entries: values.map((value): IndexEntry => ({ param: 'code', value })),
  }))
  const references = contained.map((member): IndexEntry => ({ param: CONTAINED_PARAM, system: member.type, value: member.id }))
  const first = references.slice(0, 1).map((reference) => ({ ...reference, param: 'r' }))
  return { ...indexed(id, ...references, ...first), contained }
}

function coded(...codes: readonly string[]): Condition {
  const conditions = codes.map((operand): Condition => ({ kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand }] }))
  return { kind: 'and', conditions }
}

function within(...codes: readonly string[]): SearchQuery {
  return { type: WITHIN, where: coded(...codes) }
}

function holding(...codes: readonly string[]): Condition {
  return { kind: 'refersTo', param: CONTAINED_PARAM, query: within(...codes) }
}

/** @throws {TypeError} for a storage without contained resources. */
function checkKeeps({ capabilities }: Storage): void {
  if (capabilities.contained !== true) throw new TypeError("The storage keeps no contained resources: skip 'contained', with a reason.")
}

async function expectHeld({ storage }: Subject, ids: readonly string[]): Promise<void> {
  const all: SearchQuery = { type: WITHIN, where: EVERYTHING }
  expect(await idsOf(storage, all)).toEqual(ids)
  expect(await storage.count(all)).toBe(ids.length)
}

const promises: readonly StoragePromise[] = [
  {
    promise: 'what is within a resource is found for itself, with the version and time of its container',
    check: async ({ storage, setTime }) => {
      await storage.write([container('a', { m: ['x', 'y'], n: ['x'] }), container('b', { m: ['y'] })])
      setTime('2024-01-02T00:00:00.000Z')
      const [written] = await storage.write([container('a', { m: ['x', 'y'], n: ['x'] })])
      expect(await idsOf(storage, within('x'))).toEqual(['Basic/a#m', 'Basic/a#n'])
      const { items } = await storage.search(within('x', 'y'))
      expect(items).toMatchObject([{ type: WITHIN, id: 'Basic/a#m', versionId: '2', lastUpdated: written?.lastUpdated }])
      expect(await storage.count(within('y'))).toBe(2)
    },
  },
  {
    promise: 'conditions on what is within a resource hold for one and the same of them',
    check: async ({ storage }) => {
      await storage.write([container('one', { m: ['x', 'y'] }), container('two', { m: ['x'], n: ['y'] })])
      expect(await basicsWhere(storage, holding('x', 'y'))).toEqual(['one'])
      expect(await basicsWhere(storage, { kind: 'and', conditions: [holding('x'), holding('y')] })).toEqual(['one', 'two'])
      const first: Condition = { kind: 'refersTo', param: 'r', query: within('y') }
      expect(await basicsWhere(storage, first)).toEqual(['one'])
    },
  },
  {
    promise: 'what is within a resource goes when that is put again or deleted',
    check: async (subject) => {
      const { storage } = subject
      await storage.write([container('a', { m: ['x'], n: ['x'] }), container('b', { m: ['x'] })])
      await storage.write([container('a', { n: ['y'], o: ['x'] })])
      await expectHeld(subject, ['Basic/a#n', 'Basic/a#o', 'Basic/b#m'])
      expect(await idsOf(storage, within('x'))).toEqual(['Basic/a#o', 'Basic/b#m'])
      await storage.write([indexed('a'), { op: 'delete', type: 'Basic', id: 'b' }])
      await expectHeld(subject, [])
      await storage.write([container('b', { m: ['x'] })])
      await expectHeld(subject, ['Basic/b#m'])
    },
  },
  {
    promise: 'of several puts of one id in a write, what is within the last is found',
    check: async (subject) => {
      await subject.storage.write([container('a', { m: ['x'] }), container('a', { n: ['x'] })])
      await expectHeld(subject, ['Basic/a#n'])
      await subject.storage.write([container('a', { m: ['x'] }), { op: 'delete', type: 'Basic', id: 'a' }])
      await expectHeld(subject, [])
    },
  },
]

export const containmentPromises: readonly StoragePromise[] = promises.map(({ promise, check }) => ({
  promise,
  check: async (subject) => {
    checkKeeps(subject.storage)
    return check(subject)
  },
}))
