import { afterEach, describe, expect, it, vi } from 'vitest'
import { memoryStorage } from '../../memory/index.js'
import { putResource, type Storage } from '../../storage/index.js'
import { createChangeReader, type ReadTypes } from './change-reader.js'

const READ: ReadTypes = { subjectType: 'Patient', types: ['Patient'], common: [] }
const SETTLING_MS = 30_000

/** A storage and a reader whose clocks go on together. */
function clockwork(): {
  readonly storage: Storage
  readonly pass: (ms: number) => void
  /** Later writes bear a time so long ago. */
  readonly lag: (ms: number) => void
  readonly touched: () => Promise<readonly string[] | 'all'>
} {
  let at = Date.UTC(2026, 0, 1)
  let lagMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => at)
  const storage = memoryStorage([], { now: () => new Date(at - lagMs) })
  const reader = createChangeReader({ storage }, SETTLING_MS)
  return {
    storage,
    pass: (ms) => (at += ms),
    lag: (ms) => (lagMs = ms),
    touched: async () => {
      const { subjects, done } = await reader.touched(READ)
      done()
      return subjects === 'all' ? subjects : [...subjects].sort()
    },
  }
}

const patient = (id: string): Parameters<Storage['write']>[0][number] =>
  putResource({ type: 'Patient', id, source: { resourceType: 'Patient', id } }, () => [])

describe('a reader of changes', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('says who was written since it was last asked', async () => {
    const { storage, pass, touched } = clockwork()
    await storage.write([patient('a'), patient('b')])
    expect(await touched()).toBe('all')
    expect(await touched()).toEqual([])
    for (const ms of [1, 20_000, 40_000, 1]) {
      pass(ms)
      await storage.write([patient('b')])
      expect(await touched()).toEqual(['b'])
      expect(await touched()).toEqual([])
      pass(ms)
      expect(await touched()).toEqual([])
    }
  })

  it('finds what bears an earlier time than what it has seen, however long nothing was written', async () => {
    const { storage, pass, lag, touched } = clockwork()
    await storage.write([patient('a')])
    lag(SETTLING_MS - 1_000)
    for (const ms of [0, 500, 50_000, 100_000]) {
      await touched()
      pass(ms)
      await touched()
      await storage.write([patient('late')])
      expect(await touched()).toEqual(['late'])
    }
  })

  it('asks for whole milliseconds, as histories take them', async () => {
    const { storage, pass } = clockwork()
    await storage.write([patient('a')])
    const { history } = storage
    const asked: (number | undefined)[] = []
    const page: NonNullable<typeof history>['page'] = async (query) => {
      asked.push(query.since)
      return (await history?.page(query)) ?? { items: [] }
    }
    const reader = createChangeReader(
      { storage: { ...storage, ...(history !== undefined && { history: { ...history, page } }) } },
      SETTLING_MS,
    )
    for (let n = 0; n < 4; n++) {
      const { done } = await reader.touched(READ)
      done()
      pass(1.5)
    }
    expect(asked.every((since) => since === undefined || Number.isInteger(since))).toBe(true)
    expect(new Set(asked).size).toBeGreaterThan(2)
  })

  it('no longer looks at a load of many versions once it is long past', async () => {
    const { storage, pass, touched } = clockwork()
    for (let n = 0; n < 51; n++) await storage.write(Array.from({ length: 1_000 }, (_, i) => patient(`p${n}-${i}`)))
    expect(await touched()).toBe('all')
    expect(await touched()).toBe('all')
    pass(SETTLING_MS + 1)
    expect(await touched()).toBe('all')
    expect(await touched()).toEqual([])
    await storage.write([patient('p1-1')])
    expect(await touched()).toEqual(['p1-1'])
  })
})
