import {
  CONTAINED_PARAM,
  containedType,
  type Condition,
  type IndexEntry,
  type PutEntry,
  type SearchQuery,
  type Storage,
} from 'fhir-ops/storage'
import { expect } from 'vitest'
import { basicsWhere, EVERYTHING, idsOf, indexed } from './fixtures.js'
import type { StoragePromise, Subject } from './storage-promise.js'

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
