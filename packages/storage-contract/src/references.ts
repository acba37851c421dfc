import type { Condition, SearchQuery } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { ALL_PATIENTS, basicsWhere, byGender, EVERYTHING, idsOf, indexed, observation, patient } from './fixtures.js'
import type { StoragePromise, Subject } from './storage-promise.js'

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
