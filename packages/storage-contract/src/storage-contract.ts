import type { Storage } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changingPromises, lifePromises, versionPromises } from './life.js'
import { conditionalWritePromises } from './conditional-writes.js'
import { conditionPromises } from './conditions.js'
import { containmentPromises, referencePromises } from './references.js'
import { historyPromises } from './history.js'
import { pagingPromises, sortingPromises } from './order-and-pages.js'
import { scanningPromises } from './scanning.js'
import type { StoragePromise } from './promises.js'
import { writingPromises } from './writing.js'

/** A storage under test. */
export interface OpenedStorage {
  readonly storage: Storage
  /** Opens the same content again. Adapters without persistence omit it, and skip the promise about it. */
  readonly reopen?: () => Promise<Storage>
  /** Releases what the factory created besides the storage, such as files or servers. */
  readonly dispose?: () => Promise<void>
}

/** Opens an empty storage that takes `lastUpdated` from the given clock. */
export type StorageFactory = (clock: { readonly now: () => Date }) => OpenedStorage | Promise<OpenedStorage>

/** Promises that an adapter does not keep, with the reason for each. `history`, `contained` and `conditionalWrites` stand for all promises about these optional parts of a storage. */
export type Skips = Readonly<Record<string, string>>

const PROMISES: readonly StoragePromise[] = [
  ...writingPromises,
  ...versionPromises,
  ...historyPromises,
  ...pagingPromises,
  ...scanningPromises,
  ...changingPromises,
  ...sortingPromises,
  ...conditionPromises,
  ...referencePromises,
  ...containmentPromises,
  ...conditionalWritePromises,
  ...lifePromises,
]

/** Optional parts of a storage: their promises, and whether a storage has them. */
const PARTS: readonly {
  readonly name: string
  readonly promises: readonly StoragePromise[]
  readonly isIn: (storage: Storage) => boolean
}[] = [
  { name: 'history', promises: historyPromises, isIn: ({ history }) => history !== undefined },
  { name: 'contained', promises: containmentPromises, isIn: ({ capabilities }) => capabilities.contained === true },
  {
    name: 'conditionalWrites',
    promises: conditionalWritePromises,
    isIn: ({ capabilities }) => capabilities.conditionalWrites === true,
  },
]

/**
 * Registers one test for each promise of `Storage`.
 *
 * @param name Name of the adapter, for the test report.
 * @param factory Called before each test.
 * @param skips A skip that does not name an existing promise, or names a part that the storage has, fails.
 */
export function storageContract(name: string, factory: StorageFactory, skips: Skips = {}): void {
  const skipped = skippedPromises(skips)
  describe(`${name} keeps the storage contract`, () => {
    let opened: OpenedStorage
    let time = Date.parse('2024-01-01T00:00:00.000Z')
    beforeEach(async () => {
      time = Date.parse('2024-01-01T00:00:00.000Z')
      opened = await factory({ now: () => new Date(time) })
    })
    afterEach(async () => {
      await opened.storage.close()
      await opened.dispose?.()
    })
    for (const { promise, check } of PROMISES) {
      it.skipIf(Object.hasOwn(skipped, promise))(titleOf(promise, skipped), () =>
        check({
          storage: opened.storage,
          reopen: opened.reopen,
          setTime: (instant) => {
            time = Date.parse(instant)
          },
        }),
      )
    }
    it('skips only promises that exist, each with a reason', () => expectKnown(skipped, PROMISES))
    it('skips no optional part that the storage has', () => {
      const skippedParts = PARTS.filter((part) => Object.hasOwn(skips, part.name) && part.isIn(opened.storage))
      expect(skippedParts.map((part) => part.name)).toEqual([])
    })
  })
}

/** Replaces each part by its promises. */
function skippedPromises(skips: Skips): Skips {
  const promises = Object.entries(skips).flatMap(([name, reason]) => {
    const part = PARTS.find((one) => one.name === name)
    return part === undefined ? [[name, reason]] : part.promises.map(({ promise }) => [promise, reason])
  })
  return Object.fromEntries(promises)
}

/** Fails for a skip without a reason, and for one that names no promise. */
export function expectKnown(skips: Skips, promises: readonly { readonly promise: string }[]): void {
  const known = new Set(promises.map(({ promise }) => promise))
  expect(Object.entries(skips).filter(([promise, reason]) => !known.has(promise) || reason.trim() === '')).toEqual([])
}

/** Returns the promise, followed by the reason if it is skipped. */
export function titleOf(promise: string, skips: Skips): string {
  return Object.hasOwn(skips, promise) ? `${promise} (skipped: ${skips[promise]})` : promise
}
