import { copyFile, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperationError } from 'fhir-ops/errors'
import { createSessions } from 'fhir-ops/sessions'
import type { Condition } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { basic, byCode } from '../../core/test/basics.js'
import { temporaryFolder, type TemporaryFolder } from '../test/temporary-folder.js'
import { logWatch, openToWrite } from './database/node-file.js'
import { backupSqlite, checkSqlite, openSqlite, openSqliteToFill, type SqliteFile } from './index.js'

/** Reads and searches, then closes. */
async function reading({ storage, close }: SqliteFile): Promise<void> {
  await storage.read('Basic', 'one')
  await storage.count(byCode('a'))
  await close()
}

describe('a database file', () => {
  let folder: TemporaryFolder
  let file: string
  let db: SqliteFile

  beforeEach(async () => {
    folder = await temporaryFolder()
    file = folder.file('data.db')
    db = await openSqlite(file, { busyTimeoutMs: 100 })
  })
  afterEach(async () => {
    await db.close()
    await folder.remove()
  })

  it('answers searches of ever other forms, and opens its reader anew on the way', async () => {
    await db.storage.write([basic('one')])
    const starts: Condition[] = []
    for (let n = 0; n < 150; n++) {
      starts.push({ kind: 'entry', param: 'code', all: [{ field: 'value', op: 'prefix', operand: 'a' }] })
      expect(await db.storage.count({ type: 'Basic', where: { kind: 'or', conditions: starts } })).toBe(1)
    }
  })

  it('is one file after close, with everything in it', async () => {
    await db.storage.write([basic('one')])
    await db.close()
    await expect(stat(`${file}-wal`)).rejects.toMatchObject({ code: 'ENOENT' })
    const copy = new DatabaseSync(file, { readOnly: true })
    expect(copy.prepare('SELECT id FROM resource').all()).toEqual([{ id: 'one' }])
    copy.close()
  })

  it.each<[string, (file: string, folder: TemporaryFolder) => unknown]>([
    ['opened to read', async (name) => reading(await openSqlite(name))],
    ['copied', (name, { file: at }) => backupSqlite(name, at('copy.db'))],
    ['checked', (name) => checkSqlite(name)],
    [
      'copied under the name of a link',
      async (name, { file: at }) => {
        await symlink(name, at('link.db'))
        await backupSqlite(at('link.db'), at('copy.db'))
        await rm(at('link.db'))
      },
    ],
  ])('is one file after it was %s', async (_, use) => {
    await db.storage.write([basic('one')])
    await db.close()
    await use(file, folder)
    await rm(folder.file('copy.db'), { force: true })
    expect(await readdir(dirname(file))).toEqual(['data.db'])
  })

  it('with a log that has writes of a crashed process is checked and copied without being changed', async () => {
    await db.storage.write([basic('one')])
    const crashed = folder.file('crashed.db')
    for (const ending of ['', '-wal']) await copyFile(`${file}${ending}`, `${crashed}${ending}`)
    const before = await readFile(`${crashed}-wal`)
    expect(checkSqlite(crashed)).toEqual([])
    await backupSqlite(crashed, folder.file('copy.db'))
    expect(await readFile(`${crashed}-wal`)).toEqual(before)
    const copy = new DatabaseSync(folder.file('copy.db'))
    expect(copy.prepare('SELECT id FROM resource').all()).toEqual([{ id: 'one' }])
    copy.close()
  })

  it('keeps its log for a process that uses it, when another one has read it', async () => {
    await db.storage.write([basic('one')])
    await reading(await openSqlite(file))
    checkSqlite(file)
    await backupSqlite(file, folder.file('copy.db'))
    await db.storage.write([basic('two')])
    expect(await db.storage.count(byCode('a'))).toBe(2)
  })

  it('is written with a log', () => {
    const other = new DatabaseSync(file)
    expect(other.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    other.close()
  })

  it('tells by its revision what other connections changed, imported code systems too', async () => {
    const other = await openSqlite(file)
    const before = await db.storage.revision?.()
    await other.storage.write([basic('one')])
    const written = await db.storage.revision?.()
    const staged = await other.concepts.stage({ url: 'u', version: '1', format: 'f', concepts: 0, header: '{}' })
    await staged.publish()
    expect(written).toBeGreaterThan(before ?? Infinity)
    expect(await db.concepts.revision?.()).toBeGreaterThan(written ?? Infinity)
    await other.close()
  })

  it('gives each of many concurrent writes its own answer; one that is refused leaves the others alone', async () => {
    await db.storage.write([basic('taken')])
    const writes = Array.from({ length: 50 }, (_, n) =>
      db.storage.write([basic(`n${n}`), { ...basic('taken'), ifVersion: n === 7 ? '9' : '1' }]),
    )
    const results = await Promise.allSettled(writes)
    const written = results.flatMap((result, n) => (result.status === 'fulfilled' ? [`n${n}`] : []))
    expect(written).toEqual(['n0'])
    expect(await db.storage.count({ type: 'Basic', where: { kind: 'and', conditions: [] } })).toBe(2)
    expect(await db.storage.read('Basic', 'n1')).toBeUndefined()
    expect(await db.storage.read('Basic', 'taken')).toMatchObject({ versionId: '2' })
  })

  it('shows an acknowledged write to every kind of read, and to other opens of the file', async () => {
    const other = await openSqlite(file)
    await db.storage.write([basic('one', { code: 'b' })])
    expect(await db.storage.read('Basic', 'one')).toBeDefined()
    expect((await db.storage.search(byCode('b'))).items).toHaveLength(1)
    expect(await other.storage.read('Basic', 'one')).toBeDefined()
    expect(await other.storage.count(byCode('b'))).toBe(1)
    await other.close()
  })

  it('ended sessions are refused by every process on the file with its next call', async () => {
    const other = await openSqlite(file)
    const here = createSessions({ store: db.sessions })
    const there = createSessions({ store: other.sessions })
    const { token } = await there.create({ user: 'ann' })
    await here.logout(await here.verify(token))
    await expect(there.verify(token)).rejects.toMatchObject({ code: 'token-invalid', cause: 'logged-out' })
    await other.close()
  })

  it('a writer elsewhere makes writes fail with storage-locked after the time-out, and reads go on', async () => {
    await db.storage.write([basic('one')])
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const writes = await Promise.allSettled([db.storage.write([basic('two')]), db.sessions.putUser('ann', {})])
    expect(writes.map((write) => write.status === 'rejected' && write.reason.code)).toEqual(['storage-locked', 'storage-locked'])
    expect(await db.storage.read('Basic', 'one')).toBeDefined()
    expect(await db.storage.count(byCode('a'))).toBe(1)
    other.exec('ROLLBACK')
    other.close()
    await db.storage.write([basic('two')])
    expect(await db.storage.count(byCode('a'))).toBe(2)
  })

  it('close finishes the writes that were called before', async () => {
    const writes = Promise.all(Array.from({ length: 300 }, (_, n) => db.storage.write([basic(`n${n}`)])))
    await db.close()
    expect(await writes).toHaveLength(300)
    db = await openSqlite(file)
    expect(await db.storage.count(byCode('a'))).toBe(300)
  })

  it('backs itself up while it is written', async () => {
    await db.storage.write([basic('one')])
    const writes = Array.from({ length: 50 }, (_, n) => db.storage.write([basic(`n${n}`)]))
    await db.backup(folder.file('copy.db'))
    await Promise.all(writes)
    const copy = await openSqlite(folder.file('copy.db'))
    expect(await copy.storage.read('Basic', 'one')).toBeDefined()
    await copy.close()
    expect(checkSqlite(folder.file('copy.db'))).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['memory, which threads cannot share', ':memory:', 'for a database in memory pass a connection to sqliteStorage.'],
    ['memory as a URI', 'file::memory:', 'for a database in memory pass a connection to sqliteStorage.'],
    ['memory as a parameter of a URI', 'file:x?cache=shared&mode=memory', 'for a database in memory pass a connection to sqliteStorage.'],
    ['nothing', undefined, 'the path must be a text'],
    ['an empty text', '', 'the path must be a text, and not empty'],
    [
      'an option of the command',
      'sqlite:x.db',
      "needs the path of a file; of 'sqlite:x.db', which is how options of the command are written, ",
    ],
    [
      'another database',
      'postgres://localhost/x',
      "'postgres:' is the scheme of a URL. A file of that name is './postgres://localhost/x'.",
    ],
    ['the scheme of a URI in capitals', 'FILE:x.db', "'FILE:' is the scheme of a URL."],
    ['a folder', 'new.db/', "'new.db/' is a folder."],
    ['a folder that exists', import.meta.dirname, 'is a folder.'],
    ['a URL that is an object', new URL('file:///x.db'), 'fileURLToPath of node:url makes a path of a URL.'],
    ['a promise', Promise.resolve('x.db'), 'the path is a promise that was not awaited.'],
  ])('refuses %s by name', async (_, given, message) => {
    const calls: readonly [(...args: never[]) => unknown, ...unknown[]][] = [
      [openSqlite, given],
      [openSqliteToFill, given],
      [checkSqlite, given],
      [backupSqlite, given, folder.file('copy.db')],
      [backupSqlite, file, given],
    ]
    for (const [call, ...args] of calls) {
      const called = async (): Promise<unknown> => Reflect.apply(call, undefined, args)
      await expect(called, call.name).rejects.toThrow(TypeError)
      await expect(called, call.name).rejects.toThrow(message)
    }
  })

  it('with a colon in its name is opened by a path with its folder', async () => {
    await reading(await openSqlite(folder.file('sqlite:x.db')))
    expect(await readdir(dirname(folder.file('x')))).toContain('sqlite:x.db')
  })

  it('that cannot be opened is told apart from one that fails later', async () => {
    const unopened = { code: 'storage-unavailable', message: expect.stringContaining('cannot be opened') }
    for (const nowhere of [folder.file('gone/data.db'), folder.file('x'.repeat(5_000))]) {
      await expect(openSqlite(nowhere)).rejects.toMatchObject(unopened)
      expect(() => checkSqlite(nowhere)).toThrow(expect.objectContaining(unopened))
    }
  })

  it('that is moved away takes no writes, which would be lost, until it is back', async () => {
    const refused = { code: 'storage-unavailable', message: expect.stringContaining('deleted or replaced') }
    await db.storage.write([basic('before')])
    expect(await db.storage.count(byCode('a'))).toBe(1)
    await rename(file, folder.file('elsewhere.db'))
    await expect(db.storage.write([basic('gone')])).rejects.toMatchObject(refused)
    await expect(db.storage.count(byCode('a'))).rejects.toMatchObject(refused)
    await writeFile(file, '')
    await expect(db.sessions.putUser('ann', {})).rejects.toMatchObject(refused)
    await rename(folder.file('elsewhere.db'), file)
    await db.storage.write([basic('after')])
    expect(await db.storage.count(byCode('a'))).toBe(2)
  })

  it.each(['-wal', '-shm'])('whose %s is deleted acknowledges no write, which would be lost, and loses none at close', async (ending) => {
    const refused = { code: 'storage-unavailable', message: expect.stringContaining('deleted or replaced') }
    await db.storage.write([basic('before')])
    await rm(`${file}${ending}`)
    await expect(db.storage.write([basic('gone')])).rejects.toMatchObject(refused)
    await expect(db.storage.count(byCode('a'))).rejects.toMatchObject(refused)
    await expect(db.backup(folder.file('copy.db'))).rejects.toMatchObject(refused)
    await db.close()
    db = await openSqlite(file)
    expect(await db.storage.count(byCode('a'))).toBe(1)
    await db.storage.write([basic('after')])
    expect(await db.storage.count(byCode('a'))).toBe(2)
  })

  it.each([0, 0.5])('whose log is cut to %f of its length acknowledges no write, which would be lost', async (part) => {
    await db.storage.write([basic('before')])
    await truncate(`${file}-wal`, Math.floor((await stat(`${file}-wal`)).size * part))
    const refused = { code: 'storage-damaged', message: expect.stringContaining('cut short') }
    await expect(db.storage.write([basic('gone')])).rejects.toMatchObject(refused)
    await expect(db.sessions.putUser('ann', {})).rejects.toMatchObject(refused)
  })

  it('whose log another process has moved into the file, and emptied, is written as before', async () => {
    await db.storage.write([basic('before')])
    const other = await openSqlite(file)
    await other.storage.write([basic('other')])
    await other.close()
    expect((await stat(`${file}-wal`)).size).toBe(0)
    await db.storage.write([basic('after')])
    expect(await db.storage.count(byCode('a'))).toBe(3)
  })

  describe('whose log another process empties', () => {
    /** Writes and empties the log as another process does, and checks the log of a connection for writing; `before` each question to SQLite. */
    const checked = (before: (other: DatabaseSync) => void): void => {
      const [writer, other] = [openToWrite({ file, busyTimeoutMs: 100, synchronous: 'FULL' }), new DatabaseSync(file)]
      other.exec('CREATE TABLE own (a)')
      const watch = logWatch({
        ...writer,
        get(statement) {
          before(other)
          return writer.get(statement)
        },
      })
      watch.note()
      other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      try {
        watch.check()
      } finally {
        writer.close()
        other.close()
      }
    }

    it('and writes again during the check, is not cut short', () => {
      checked((other) => other.exec('INSERT INTO own VALUES (1)'))
    })

    it('is not cut short if SQLite cannot tell', () => {
      const full = new OperationError('storage-full', 'The disk of the database is full.')
      const fail = (): never => {
        throw full
      }
      expect(() => checked(fail)).toThrow(full)
    })
  })

  it.each(['', '-wal'])('whose file with the ending "%s" is replaced answers no read a second later, until it is back', async (ending) => {
    const refused = { code: 'storage-unavailable', message: expect.stringContaining('deleted or replaced') }
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      await db.storage.write([basic('one')])
      expect(await db.storage.read('Basic', 'one')).toBeDefined()
      await rename(`${file}${ending}`, folder.file('elsewhere'))
      await writeFile(`${file}${ending}`, '')
      vi.advanceTimersByTime(1_000)
      await expect(db.storage.read('Basic', 'one')).rejects.toMatchObject(refused)
      await expect(db.sessions.user('ann')).rejects.toMatchObject(refused)
      await rename(folder.file('elsewhere'), `${file}${ending}`)
      expect(await db.storage.read('Basic', 'one')).toBeDefined()
    } finally {
      vi.useRealTimers()
    }
  })

  it.each(['a link', 'a URI'])('that is named by %s takes no writes after its log was deleted', async (kind) => {
    const name = kind === 'a URI' ? `file:${file}` : folder.file('link.db')
    if (kind === 'a link') await symlink(file, name)
    const named = await openSqlite(name)
    await named.storage.write([basic('before')])
    await rm(`${file}-wal`)
    await expect(named.storage.write([basic('gone')])).rejects.toMatchObject({ code: 'storage-unavailable' })
    await named.close()
  })

  it('that is named by a link takes no writes after the link leads elsewhere', async () => {
    const link = folder.file('link.db')
    await symlink(file, link)
    const named = await openSqlite(link)
    await named.storage.write([basic('before')])
    await rm(link)
    await symlink(folder.file('elsewhere.db'), link)
    await expect(named.storage.write([basic('gone')])).rejects.toMatchObject({ code: 'storage-unavailable' })
    await named.close()
    await expect(stat(folder.file('elsewhere.db'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('that was named by a relative path stays the same when the process goes to another folder', async () => {
    const [here, name] = [process.cwd(), folder.file('relative.db')]
    const named = await openSqlite(relative(here, name))
    await named.storage.write([basic('before')])
    process.chdir(dirname(name))
    try {
      await named.storage.write([basic('after')])
      await named.backup(folder.file('copy.db'))
      const copy = await openSqlite(folder.file('copy.db'))
      expect([await copy.storage.read('Basic', 'before'), await copy.storage.read('Basic', 'after')]).not.toContain(undefined)
      await copy.close()
    } finally {
      process.chdir(here)
      await named.close()
    }
  })

  it('that is moved away before its first write is not made anew', async () => {
    await rename(file, folder.file('elsewhere.db'))
    await expect(db.storage.write([basic('gone')])).rejects.toMatchObject({ code: 'storage-unavailable' })
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('that is moved away is closed without a new one in its place, and has every write under its new name', async () => {
    await db.storage.write([basic('one')])
    await rename(file, folder.file('elsewhere.db'))
    await db.close()
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
    const moved = await openSqlite(folder.file('elsewhere.db'))
    expect(await moved.storage.read('Basic', 'one')).toBeDefined()
    await moved.close()
  })

  describe('damaged', () => {
    it('that is not a database is refused and stays as it is', async () => {
      for (const text of ['!', 'Dear Sir or Madam, '.repeat(400)]) {
        const other = folder.file(`letter-${text.length}.txt`)
        await writeFile(other, text)
        await expect(openSqlite(other)).rejects.toMatchObject({ code: 'storage-damaged' })
        expect(await readFile(other, 'utf8')).toBe(text)
        expect(checkSqlite(other)).toHaveLength(1)
      }
    })

    it('or in a folder that does not exist is named to the program in the cause, and not in the message, which callers over HTTP get', async () => {
      const letter = folder.file('letter.txt')
      await writeFile(letter, 'Dear Sir or Madam, '.repeat(400))
      for (const name of [letter, folder.file('none/data.db')])
        for (const open of [openSqlite, openSqliteToFill]) {
          const error: unknown = await open(name).catch((reason: unknown) => reason)
          expect(error).toMatchObject({ cause: { message: `${name} was not opened.` }, message: expect.not.stringContaining(name) })
        }
    })

    it('that is cut short is refused and stays as it is', async () => {
      await db.storage.write(Array.from({ length: 500 }, (_, n) => basic(`n${n}`, { size: 500 })))
      await db.close()
      const whole = await readFile(file)
      await writeFile(file, whole.subarray(0, whole.length / 2))
      await expect(openSqlite(file)).rejects.toMatchObject({ code: 'storage-damaged' })
      expect((await stat(file)).size).toBe(Math.floor(whole.length / 2))
    })

    it('in the middle is found by checkSqlite', async () => {
      await db.storage.write(Array.from({ length: 500 }, (_, n) => basic(`n${n}`, { size: 500 })))
      await db.close()
      expect(checkSqlite(file)).toEqual([])
      const bytes = await readFile(file)
      bytes.fill(0xff, 40_000, 60_000)
      await writeFile(file, bytes)
      expect(checkSqlite(file).length).toBeGreaterThan(0)
    })
  })
})

it('a misspelt option is a TypeError, and no file is made', async () => {
  const folder = await temporaryFolder()
  const misspelt = { history: true, synchronus: 'NORMAL' }
  await expect(openSqlite(folder.file('data.db'), misspelt)).rejects.toThrow(
    "openSqlite: there is no option 'synchronus'. Did you mean 'synchronous'?",
  )
  await expect(stat(folder.file('data.db'))).rejects.toThrow('ENOENT')
  await folder.remove()
})
