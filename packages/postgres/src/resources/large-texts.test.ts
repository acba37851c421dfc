import { createResourceCache } from '@fhir-ops/sql'
import { writableText, type Storage, type WriteEntry } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { connectionsOf } from '../database/connections.js'
import { databaseOver } from '../database/database.js'
import { openPostgres } from '../index.js'
import { searchPage } from '../search/search-page.js'
import { historyIn } from './storage.js'

const database = await sharedDatabase()

const SMALL = 'small'
const LARGE = 'x'.repeat(100_000)
const ALL = { type: 'Basic', where: { kind: 'and', conditions: [] } } as const

function basic(id: string, text: string): WriteEntry {
  return { op: 'put', type: 'Basic', id, text: writableText('Basic', id, { resourceType: 'Basic', code: { text } }), entries: [] }
}

describe('a large resource that is read again', () => {
  let schema: TestSchema
  let storage: Storage
  let other: Storage
  beforeEach(async () => {
    schema = await database.schema()
    storage = (await openPostgres(schema.pool(), UNHURRIED)).storage
    other = (await openPostgres(schema.pool(), { ...UNHURRIED, cacheCharacters: 0 })).storage
    await storage.write([basic('a', LARGE), basic('b', SMALL), basic('c', `${LARGE}c`)])
  })
  afterEach(async () => {
    await storage.close()
    await other.close()
    await schema.drop()
  })

  const textsIn = async (from: Storage): Promise<unknown[]> => (await from.search(ALL)).items.map(({ resource }) => resource['code'])

  it('is parsed once, whether it was read or searched', async () => {
    const first = (await storage.read('Basic', 'a'))?.resource
    expect((await storage.read('Basic', 'a'))?.resource).toBe(first)
    expect((await storage.search(ALL)).items[0]?.resource).toBe(first)
  })

  it('is not kept when nothing is to be kept', async () => {
    const first = (await other.read('Basic', 'a'))?.resource
    expect((await other.read('Basic', 'a'))?.resource).not.toBe(first)
  })

  it('is found together with small ones and such as are not at hand, in order', async () => {
    await storage.read('Basic', 'c')
    expect(await textsIn(storage)).toEqual([{ text: LARGE }, { text: SMALL }, { text: `${LARGE}c` }])
    expect(await textsIn(storage)).toEqual(await textsIn(other))
  })

  it('is the version that another instance wrote meanwhile', async () => {
    await textsIn(storage)
    await other.write([basic('a', `${LARGE}new`)])
    expect(await storage.read('Basic', 'a')).toMatchObject({ versionId: '2', resource: { code: { text: `${LARGE}new` } } })
    await other.write([basic('a', SMALL)])
    expect((await storage.search(ALL)).items[0]).toMatchObject({ versionId: '3', resource: { code: { text: SMALL } } })
  })

  it('is searched for again when it is changed between the search and the reading of its text', async () => {
    const limits = UNHURRIED
    const pool = schema.pool()
    const db = databaseOver(pool, connectionsOf(pool, limits))
    let statements = 0
    const rows: typeof db.rows = async (statement) => {
      statements += 1
      if (statements === 2) await other.write([basic('a', `${LARGE}new`)])
      return db.rows(statement)
    }
    const { items } = await searchPage({ rows }, ALL, { cache: createResourceCache({ maxCharacters: 1_000_000 }) })
    expect(statements).toBe(3)
    expect(items[0]).toMatchObject({ versionId: '2', resource: { code: { text: `${LARGE}new` } } })
    await db.close()
  })

  it('is there even when another one takes its place in the cache meanwhile', async () => {
    const small = (await openPostgres(schema.pool({ max: 1 }), { ...UNHURRIED, cacheCharacters: 150_000 })).storage
    await small.read('Basic', 'a')
    const [, again] = await Promise.all([small.read('Basic', 'c'), small.read('Basic', 'a')])
    expect(again?.resource['code']).toEqual({ text: LARGE })
    await small.close()
  })

  it('is gone when another instance deleted it', async () => {
    await textsIn(storage)
    await other.write([{ op: 'delete', type: 'Basic', id: 'a' }])
    expect(await storage.read('Basic', 'a')).toBeUndefined()
    expect((await storage.search(ALL)).items.map(({ id }) => id)).toEqual(['b', 'c'])
  })

  describe('on a page of a history', () => {
    const HISTORY = { types: ['Basic'], id: 'a' }
    beforeEach(async () => {
      await storage.write([basic('a', `${LARGE}2`)])
      await storage.write([{ op: 'delete', type: 'Basic', id: 'a' }])
      await storage.write([basic('a', SMALL)])
    })

    it('is there once, however many pages have it at the same time or later', async () => {
      const together = await Promise.all(Array.from({ length: 5 }, async () => storage.history?.page(HISTORY)))
      const pages = [...together, await storage.history?.page(HISTORY)].map((page) => page?.items ?? [])
      const [first = []] = pages
      expect(first.map(({ versionId, created, stored }) => [versionId, created, stored?.resource['code']])).toEqual([
        ['4', true, { text: SMALL }],
        ['3', false, undefined],
        ['2', false, { text: `${LARGE}2` }],
        ['1', true, { text: LARGE }],
      ])
      for (const items of pages)
        expect([items[2]?.stored, items[3]?.stored].map((stored, n) => stored === first[n + 2]?.stored)).toEqual([true, true])
      expect((await storage.history?.version('Basic', 'a', '1'))?.stored?.text).toBe(first[3]?.stored?.text)
    })

    it('is the same, and counts as long, when nothing is to be kept', async () => {
      for (const query of [HISTORY, { ...HISTORY, maxBytes: 1_000 }, { types: ['Basic'], limit: 3 }]) {
        const [page, plain] = [await storage.history?.page(query), await other.history?.page(query)]
        const shown = (items: typeof page): unknown => items?.items.map(({ id, versionId, stored }) => [id, versionId, stored?.text])
        expect([shown(page), page?.next]).toEqual([shown(plain), plain?.next])
      }
    })

    it('that a writer without history replaces before it is read is looked for again', async () => {
      const forgetful = (await openPostgres(schema.pool(), { ...UNHURRIED, history: false })).storage
      await forgetful.write([basic('a', LARGE)])
      const pool = schema.pool()
      const db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
      let statements = 0
      const rows: typeof db.rows = async (statement) => {
        statements += 1
        if (statements === 2) await forgetful.write([basic('a', `${LARGE}new`)])
        return db.rows(statement)
      }
      const history = historyIn(db, { reading: async (read) => read({ rows }), cacheCharacters: 1_000_000 })
      const page = await history.page({ ...HISTORY, limit: 1 })
      expect(page.items.map(({ stored }) => stored?.resource['code'])).toEqual([{ text: `${LARGE}new` }])
      await Promise.all([db.close(), forgetful.close()])
    })
  })
})
