import { OperationError } from 'fhir-ops/errors'
import type { ConceptStore, SystemToStore } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectKnown, titleOf, type Skips } from './storage-contract.js'

/** A store of imported code systems under test. */
export interface OpenedConceptStore {
  readonly store: ConceptStore
  /** Opens the same content again. Adapters without persistence omit it, and skip the promise about it. */
  readonly reopen?: () => Promise<ConceptStore>
  /** Releases what the factory created. */
  readonly dispose?: () => Promise<void>
}

/** Opens an empty store. */
export type ConceptStoreFactory = () => OpenedConceptStore | Promise<OpenedConceptStore>

/** A sentence of the documentation of `ConceptStore`, and the test that it holds. */
interface ConceptStorePromise {
  readonly promise: string
  readonly check: (opened: OpenedConceptStore) => Promise<void>
}

/** Registers one test for each promise of `ConceptStore`; parameters as for `storageContract`. */
export function conceptStoreContract(name: string, factory: ConceptStoreFactory, skips: Skips = {}): void {
  describe(`${name} keeps the concept store contract`, () => {
    let opened: OpenedConceptStore
    beforeEach(async () => {
      opened = await factory()
    })
    afterEach(async () => {
      await opened.dispose?.()
    })
    for (const { promise, check } of PROMISES) {
      it.skipIf(Object.hasOwn(skips, promise))(titleOf(promise, skips), () => check(opened))
    }
    it('skips only promises that exist, each with a reason', () => expectKnown(skips, PROMISES))
  })
}

const SYSTEM: SystemToStore = { url: 'http://example.org/s', version: '1', format: 'f', concepts: 3, header: '{}' }
const OTHER: SystemToStore = { ...SYSTEM, version: '2' }
const LARGE = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 31) % 256)

const CONFLICT = { code: 'conflict' }
const REMOVED = { code: 'storage-unavailable' }

async function stored(store: ConceptStore, system: SystemToStore, bytes = Uint8Array.of(1)) {
  const staged = await store.stage(system)
  await staged.put('a', bytes)
  return staged.publish()
}

const PROMISES: readonly ConceptStorePromise[] = [
  {
    promise: 'nobody sees a version before it is published, and everybody sees all of it afterwards',
    async check({ store }) {
      const staged = await store.stage(SYSTEM)
      await staged.put('a', Uint8Array.of(1, 2))
      await staged.put('b', Uint8Array.of(3))
      expect(await store.systems()).toEqual([])
      const published = await staged.publish()
      expect(await store.systems()).toEqual([published])
      const sections = await store.open(published.key)
      expect([[...sections.section('a')], [...sections.section('b')]]).toEqual([[1, 2], [3]])
    },
  },
  {
    promise: 'what names a version comes back as it was given',
    async check({ store }) {
      const system = {
        url: "urn:x:'ä\u{1F600}",
        version: ' 1 "x" ',
        format: 'f-1',
        concepts: 2 ** 31 - 1,
        header: JSON.stringify({ text: 'é'.repeat(100_000) }),
      }
      const published = await stored(store, system)
      expect(published).toEqual({ ...system, key: published.key })
      expect(await store.systems()).toEqual([published])
    },
  },
  {
    promise: 'sections come back byte by byte, empty and large ones, under any name',
    async check({ store }) {
      const names = ['empty', 'large', '__proto__', "it's ä\u{1F600}/.."]
      const staged = await store.stage(SYSTEM)
      for (const name of names) await staged.put(name, name === 'empty' ? new Uint8Array() : LARGE)
      const { key } = await staged.publish()
      const sections = await store.open(key)
      expect(sections.section('empty')).toHaveLength(0)
      for (const name of names.slice(1)) expect(isSame(sections.section(name), LARGE), name).toBe(true)
    },
  },
  {
    promise: 'a section that is put again is replaced',
    async check({ store }) {
      const staged = await store.stage(SYSTEM)
      await staged.put('a', LARGE)
      await staged.put('a', Uint8Array.of(7))
      const { key } = await staged.publish()
      expect([...(await store.open(key)).section('a')]).toEqual([7])
    },
  },
  {
    promise: 'a section that there is not is storage-damaged',
    async check({ store }) {
      const { key } = await stored(store, SYSTEM)
      const sections = await store.open(key)
      for (const name of ['b', 'constructor', ''])
        expect(() => sections.section(name)).toThrow(expect.objectContaining({ code: 'storage-damaged' }))
    },
  },
  {
    promise: 'systems are in ascending order of url and version, compared as texts',
    async check({ store }) {
      for (const [url, version] of [
        ['b', '1'],
        ['a', '2'],
        ['a', '10'],
        ['B', '1'],
      ] as const)
        await stored(store, { ...SYSTEM, url, version })
      expect((await store.systems()).map(({ url, version }) => url + version)).toEqual(['B1', 'a10', 'a2', 'b1'])
    },
  },
  {
    promise: 'a published version takes the place of the one before, under a key of its own',
    async check({ store }) {
      const first = await stored(store, SYSTEM)
      const reader = await store.open(first.key)
      const second = await stored(store, SYSTEM, Uint8Array.of(2))
      const other = await stored(store, OTHER)
      expect(second.key).not.toBe(first.key)
      expect(await store.systems()).toEqual([second, other])
      expect([...(await store.open(second.key)).section('a')]).toEqual([2])
      await expectBytesOrRemoved(() => reader.section('a'), [1])
    },
  },
  {
    promise: 'an unfinished import is dropped by the next one of the same version, and refused from then on',
    async check({ store }) {
      const slow = await store.stage(SYSTEM)
      await slow.put('a', LARGE)
      const quick = await store.stage(SYSTEM)
      await expect(slow.put('b', LARGE)).rejects.toMatchObject(CONFLICT)
      await expect(slow.publish()).rejects.toMatchObject(CONFLICT)
      const { key } = await quick.publish()
      const sections = await store.open(key)
      expect(() => sections.section('a')).toThrow(OperationError)
    },
  },
  {
    promise: 'an import leaves the imports of other versions alone',
    async check({ store }) {
      const one = await store.stage(SYSTEM)
      const other = await store.stage(OTHER)
      await one.put('a', Uint8Array.of(1))
      await other.put('a', Uint8Array.of(2))
      const keys = [(await one.publish()).key, (await other.publish()).key]
      const bytes = await Promise.all(keys.map(async (key) => [...(await store.open(key)).section('a')]))
      expect(bytes).toEqual([[1], [2]])
    },
  },
  {
    promise: 'an import that was discarded or published is over',
    async check({ store }) {
      const discarded = await store.stage(SYSTEM)
      await discarded.put('a', LARGE)
      await discarded.discard()
      await expect(discarded.publish()).rejects.toMatchObject(CONFLICT)
      expect(await store.systems()).toEqual([])
      const done = await store.stage(SYSTEM)
      const published = await done.publish()
      await expect(done.put('a', LARGE)).rejects.toMatchObject(CONFLICT)
      await expect(done.publish()).rejects.toMatchObject(CONFLICT)
      expect(await store.systems()).toEqual([published])
    },
  },
  {
    promise: 'what was removed is gone, and removing it again succeeds',
    async check({ store }) {
      const { key } = await stored(store, SYSTEM)
      const kept = await stored(store, OTHER)
      const reader = await store.open(key)
      await store.remove(key)
      await store.remove(key)
      await store.remove('never there')
      expect(await store.systems()).toEqual([kept])
      await expect(store.open(key)).rejects.toMatchObject(REMOVED)
      await expectBytesOrRemoved(() => reader.section('a'), [1])
    },
  },
  {
    promise: 'a revision rises with what is published and removed, and stays otherwise',
    async check({ store }) {
      if (store.revision === undefined) return
      const seen: number[] = [await store.revision()]
      const { key } = await stored(store, SYSTEM)
      seen.push(await store.revision())
      await store.open(key)
      await store.systems()
      expect(await store.revision()).toBe(seen[1])
      await store.remove(key)
      seen.push(await store.revision())
      expect(new Set(seen).size).toBe(3)
      expect(seen.toSorted((a, b) => a - b)).toEqual(seen)
    },
  },
  {
    promise: 'what was published is there after reopening',
    async check({ store, reopen }) {
      const published = await stored(store, SYSTEM, LARGE)
      const again = await reopen?.()
      expect(await again?.systems()).toEqual([published])
      const sections = await again?.open(published.key)
      expect(sections !== undefined && isSame(sections.section('a'), LARGE)).toBe(true)
    },
  },
]

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

/** A reader that has opened a version continues to read it, or gets an error that it was removed; never anything else. */
async function expectBytesOrRemoved(read: () => Uint8Array, bytes: readonly number[]): Promise<void> {
  const outcome = await new Promise<Uint8Array>((resolve) => resolve(read())).catch((error: unknown) => error)
  if (outcome instanceof Uint8Array) expect([...outcome]).toEqual(bytes)
  else expect(outcome).toMatchObject(REMOVED)
}
