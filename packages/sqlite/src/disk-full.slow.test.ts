import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic, byCode } from '../../core/test/basics.js'
import { temporaryFolder, type TemporaryFolder } from '../test/temporary-folder.js'
import { checkSqlite, openSqlite, type SqliteFile } from './index.js'

/** A file system of 6 MB, `undefined` where mounting one is not permitted. */
function smallDisk(folder: TemporaryFolder): string | undefined {
  const path = folder.file('disk')
  mkdirSync(path)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', path], { stdio: 'ignore' })
    return path
  } catch {
    return undefined
  }
}

const folder = await temporaryFolder()
const disk = smallDisk(folder)
if (disk === undefined) await folder.remove()

describe.skipIf(disk === undefined)('a full disk (needs the right to mount a tmpfs)', () => {
  const path = disk ?? ''
  const ballast = join(path, 'ballast')
  const file = join(path, 'data.db')
  let db: SqliteFile
  let written = 0

  beforeAll(async () => {
    db = await openSqlite(file)
    await db.sessions.putUser('ann', {})
    writeFileSync(ballast, new Uint8Array(2_000_000))
  })
  afterAll(async () => {
    await db.close()
    execFileSync('umount', [path])
    await folder.remove()
  })

  it('makes writes fail with storage-full, and loses none that was acknowledged', async () => {
    const fill = async (): Promise<void> => {
      for (;;) {
        await db.storage.write([basic(`n${written}`, { size: 20_000 })])
        written++
      }
    }
    await expect(fill()).rejects.toMatchObject({ code: 'storage-full' })
    expect(written).toBeGreaterThan(0)
    await expect(db.sessions.putUser('bob', { about: 'x'.repeat(50_000) })).rejects.toMatchObject({ code: 'storage-full' })
    expect(await db.sessions.user('bob')).toBeUndefined()
  })

  it('leaves reads and searches as they are', async () => {
    expect(await db.storage.read('Basic', `n${written - 1}`)).toBeDefined()
    expect(await db.storage.count(byCode('a'))).toBe(written)
    expect((await db.storage.search({ ...byCode('a'), limit: 3 })).items).toHaveLength(3)
    expect(await db.sessions.user('ann')).toBeDefined()
  })

  it('takes no backup, and nothing of one is left on it', async () => {
    await expect(db.backup(join(path, 'copy.db'))).rejects.toMatchObject({ code: 'storage-full' })
    expect(readdirSync(path).filter((name) => name.startsWith('copy'))).toEqual([])
  })

  it('is over as soon as there is room again', async () => {
    rmSync(ballast)
    await db.storage.write([basic(`n${written++}`, { size: 20_000 })])
    expect(await db.storage.count(byCode('a'))).toBe(written)
    await db.close()
    expect(checkSqlite(file)).toEqual([])
    db = await openSqlite(file)
    expect(await db.storage.count(byCode('a'))).toBe(written)
  })
})
