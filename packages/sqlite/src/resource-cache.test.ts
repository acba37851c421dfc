import { DatabaseSync } from 'node:sqlite'
import type { WriteEntry } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { basic, byCode } from '../../core/test/basics.js'
import { temporaryFolder, type TemporaryFolder } from '../test/temporary-folder.js'
import { inThread, type Executor } from './commands/command.js'
import { readHistory } from './commands/history.js'
import { sqliteDriver } from './database/driver.js'
import { migrate } from './database/migrations.js'
import { openSqlite, type SqliteFile } from './index.js'
import { searchPage } from './search/search-page.js'
import { storageOn } from './stores.js'

describe('a resource that is read again', () => {
  let folder: TemporaryFolder
  let db: SqliteFile
  let other: SqliteFile
  beforeEach(async () => {
    folder = await temporaryFolder()
    db = await openSqlite(folder.file('data.db'))
    other = await openSqlite(folder.file('data.db'), { cacheCharacters: 0 })
    await db.storage.write([basic('one', { code: 'a' })])
  })
  afterEach(async () => {
    await db.close()
    await other.close()
    await folder.remove()
  })

  it('is parsed once, whether it was read or looked up', async () => {
    const first = (await db.storage.read('Basic', 'one'))?.resource
    expect((await db.storage.read('Basic', 'one'))?.resource).toBe(first)
    expect((await db.storage.search(byCode('a'))).items[0]?.resource).toBe(first)
  })

  it('is not kept when nothing is to be kept', async () => {
    const first = (await other.storage.read('Basic', 'one'))?.resource
    const again = (await other.storage.read('Basic', 'one'))?.resource
    expect(again).toEqual(first)
    expect(again).not.toBe(first)
  })

  it('is the version that another process wrote meanwhile', async () => {
    await db.storage.read('Basic', 'one')
    await other.storage.write([basic('one', { code: 'b' })])
    expect(await db.storage.read('Basic', 'one')).toMatchObject({ versionId: '2', resource: { code: { text: 'b' } } })
    expect((await db.storage.search(byCode('b'))).items[0]).toMatchObject({ versionId: '2', resource: { code: { text: 'b' } } })
    expect((await db.storage.search(byCode('a'))).items).toEqual([])
  })

  it('is gone when another process deleted it, and new when it came back', async () => {
    await db.storage.read('Basic', 'one')
    await other.storage.write([{ op: 'delete', type: 'Basic', id: 'one' }])
    expect(await db.storage.read('Basic', 'one')).toBeUndefined()
    await other.storage.write([basic('one', { code: 'c' })])
    expect(await db.storage.read('Basic', 'one')).toMatchObject({ versionId: '3', resource: { code: { text: 'c' } } })
  })

  it('looking up a key that many have gives all of them, page by page', async () => {
    await db.storage.write(Array.from({ length: 100 }, (_, n) => basic(`n${n}`)))
    const first = await db.storage.search({ ...byCode('a'), limit: 60 })
    const second = await db.storage.search({ ...byCode('a'), limit: 60, after: first.next ?? '' })
    expect([first.items.length, second.items.length, second.next]).toEqual([60, 41, undefined])
  })
})

describe('a long resource on a page', () => {
  const ALL = { type: 'Basic', where: { kind: 'and', conditions: [] } } as const
  const SIZE = 300_000

  it('is there once, however many pages have it', async () => {
    const folder = await temporaryFolder()
    const { storage, close } = await openSqlite(folder.file('data.db'))
    await storage.write([basic('long', { size: SIZE }), basic('short')])
    const [first, again] = [await storage.search(ALL), await storage.search(ALL)]
    expect(first.items.map(({ text }) => text.length > SIZE)).toEqual([true, false])
    expect(again.items[0]).toBe(first.items[0])
    expect((await storage.read('Basic', 'long'))?.text).toBe(first.items[0]?.text)
    // The page ends with the resource by which its texts become longer than that.
    expect((await storage.search({ ...ALL, maxBytes: 1_000 })).items).toHaveLength(1)
    await close()
    await folder.remove()
  })

  it.each<[string, WriteEntry, readonly (string | undefined)[]]>([
    ['changed', basic('long', { size: SIZE + 1 }), ['2', '1']],
    ['deleted', { op: 'delete', type: 'Basic', id: 'long' }, ['1']],
  ])('that is %s before it is read is looked for again', async (_, change, versions) => {
    const db = sqliteDriver(new DatabaseSync(':memory:'))
    migrate(db)
    const executor = inThread(db)
    const storage = storageOn(executor, {})
    await storage.write([basic('long', { size: SIZE }), basic('short')])
    let searches = 0
    const changing: Executor = {
      ...executor,
      async call(command, args) {
        const result = await executor.call(command, args)
        if (command.name === searchPage.name && ++searches === 1) await storage.write([change])
        return result
      },
    }
    const { items } = await storageOn(changing, {}).search(ALL)
    expect([searches, items.map(({ versionId }) => versionId)]).toEqual([2, versions])
    await storage.close()
  })
})

describe('a long version on a page of a history', () => {
  const ALL = { types: ['Basic'] }
  const SIZE = 300_000

  it('is there once, however many pages have it; deletions and short versions are beside it', async () => {
    const folder = await temporaryFolder()
    const { storage, close } = await openSqlite(folder.file('data.db'))
    await storage.write([basic('long', { size: SIZE })])
    await storage.write([basic('long', { size: SIZE + 1 })])
    await storage.write([{ op: 'delete', type: 'Basic', id: 'long' }])
    await storage.write([basic('long')])
    const pages = [await storage.history?.page(ALL), await storage.history?.page(ALL)]
    const [first = [], again = []] = pages.map((page) => page?.items)
    expect(first.map(({ versionId, created, stored }) => [versionId, created, stored && stored.text.length > SIZE])).toEqual([
      ['4', true, false],
      ['3', false, undefined],
      ['2', false, true],
      ['1', true, true],
    ])
    expect(again[2]?.stored).toBe(first[2]?.stored)
    expect((await storage.history?.version('Basic', 'long', '1'))?.stored?.text).toBe(first[3]?.stored?.text)
    expect((await storage.history?.page({ ...ALL, maxBytes: 1_000 }))?.items.map(({ versionId }) => versionId)).toEqual(['4', '3', '2'])
    await close()
    await folder.remove()
  })

  it('that a writer without history replaces before it is read is looked for again', async () => {
    const db = sqliteDriver(new DatabaseSync(':memory:'))
    migrate(db)
    const executor = inThread(db)
    const forgetful = storageOn(executor, { history: false })
    await forgetful.write([basic('long', { size: SIZE })])
    let pages = 0
    const changing: Executor = {
      ...executor,
      async call(command, args) {
        const result = await executor.call(command, args)
        if (command.name === readHistory.name && ++pages === 1) await forgetful.write([basic('long', { size: SIZE + 1 })])
        return result
      },
    }
    const page = await storageOn(changing, {}).history?.page(ALL)
    expect([pages, page?.items.map(({ versionId }) => versionId)]).toEqual([2, ['2']])
    await forgetful.close()
  })
})
