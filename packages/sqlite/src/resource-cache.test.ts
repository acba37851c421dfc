import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { basic, byCode } from '../../core/test/basics.js'
import { temporaryFolder, type TemporaryFolder } from '../test/temporary-folder.js'
import { openSqlite, type SqliteFile } from './index.js'

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
