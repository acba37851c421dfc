import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { basic, byCode } from '../../core/test/basics.js'
import { temporaryFolder } from '../test/temporary-folder.js'
import { openSqlite, openSqliteToFill, type SqliteFile } from './index.js'

async function folderOfTest() {
  const folder = await temporaryFolder()
  onTestFinished(() => folder.remove())
  return folder
}

/** How many Basics of the code `a`; closed at the end of the test. */
async function countIn(file: SqliteFile): Promise<number> {
  onTestFinished(() => file.close())
  return file.storage.count(byCode('a'))
}

function schemaOf(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true })
  const schema = db.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name").all()
  db.close()
  return schema
}

it('a file that is filled is searched by parameters after it was closed, and has the schema of any other', async () => {
  const folder = await folderOfTest()
  const filled = await openSqliteToFill(folder.file('filled.db'))
  await filled.storage.write([basic('one'), basic('two')])
  expect(await filled.storage.read('Basic', 'one')).toMatchObject({ id: 'one' })
  await expect(filled.storage.count(byCode('a'))).rejects.toMatchObject({ code: 'storage-unavailable' })
  await filled.close()
  await filled.close()
  expect(await countIn(await openSqlite(folder.file('filled.db')))).toBe(2)
  await (await openSqlite(folder.file('other.db'))).close()
  expect(schemaOf(folder.file('filled.db'))).toEqual(schemaOf(folder.file('other.db')))
})

it('whoever opens the file meanwhile, or after its process died, finds every index', async () => {
  const file = (await folderOfTest()).file('data.db')
  const filled = await openSqliteToFill(file)
  await filled.storage.write([basic('one')])
  const other = await openSqlite(file)
  expect(await countIn(other)).toBe(1)
  await filled.storage.write([basic('two')])
  expect(await other.storage.count(byCode('a'))).toBe(2)
  expect(await countIn(filled)).toBe(2)
})

it.each([
  ['has open', async () => {}],
  ['has open and wrote to', async ({ storage }: SqliteFile) => void (await storage.write([basic('zero')]))],
])('a file that somebody else %s keeps its indexes', async (_, use) => {
  const file = (await folderOfTest()).file('data.db')
  const other = await openSqlite(file)
  await use(other)
  const before = await countIn(other)
  const filled = await openSqliteToFill(file)
  await filled.storage.write([basic('one')])
  expect([await countIn(filled), await other.storage.count(byCode('a'))]).toEqual([before + 1, before + 1])
})

it('a file with resources keeps its indexes', async () => {
  const file = (await folderOfTest()).file('data.db')
  const first = await openSqlite(file)
  await first.storage.write([basic('one')])
  await first.close()
  expect(await countIn(await openSqliteToFill(file))).toBe(1)
})

it('all resources of a type are counted while a file is filled, and by whoever asked meanwhile', async () => {
  const file = (await folderOfTest()).file('data.db')
  const filled = await openSqliteToFill(file)
  const all = async (from: SqliteFile): Promise<number> => from.storage.count({ type: 'Basic', where: { kind: 'and', conditions: [] } })
  for (const count of [1, 2, 3, 4, 5]) {
    await filled.storage.write([basic(`n${count}`)])
    expect(await all(filled)).toBe(count)
  }
  await filled.close()
  const db = await openSqlite(file)
  onTestFinished(() => db.close())
  for (const count of [6, 7, 8, 9, 10]) {
    await db.storage.write([basic(`n${count}`)])
    expect(await all(db)).toBe(count)
  }
})

it('counts follow what another process writes', async () => {
  const file = (await folderOfTest()).file('data.db')
  const [one, other] = [await openSqlite(file), await openSqlite(file)]
  onTestFinished(async () => void (await Promise.all([one.close(), other.close()])))
  for (let count = 1; count < 10; count++) {
    await (count % 2 === 0 ? one : other).storage.write([basic(`n${count}`)])
    expect([await one.storage.count(byCode('a')), await other.storage.count(byCode('a'))]).toEqual([count, count])
  }
})
