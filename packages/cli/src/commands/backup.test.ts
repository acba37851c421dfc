import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { checkSqlite, openSqlite } from '@fhir-ops/sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'
import { run } from '../program.js'

const CLI = builtFile('packages/cli/dist/main.js')
let folder = ''
const at = (name: string): string => join(folder, name)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-backup-'))
})
afterAll(() => rm(folder, { recursive: true }))

const silent = { out: () => {}, err: () => {}, stdin: async () => '' }

/** A server over the file, and a client that writes to it all the time. */
async function servedUnderLoad(file: string) {
  const child = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--storage', `sqlite:${file}`, '--dev-token', 's'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line]: readonly unknown[] = await once(createInterface(child.stdout), 'line')
  const url = String(line).replace('listening on ', '')
  const written: string[] = []
  let writing = true
  const load = (async () => {
    for (let n = 0; writing; n++) {
      const headers = { authorization: 'Bearer s', 'content-type': 'application/fhir+json' }
      const body = JSON.stringify({ resourceType: 'Patient', id: `p${n}` })
      if ((await fetch(`${url}/fhir/R4/Patient/p${n}`, { method: 'PUT', headers, body })).status === 201) written.push(`p${n}`)
    }
  })()
  const stop = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    writing = false
    await load
    child.kill(signal)
    await once(child, 'exit')
  }
  return { written, stop }
}

test('a backup of a served file has everything acknowledged before it, and takes the place of the file after its loss', async () => {
  const server = await servedUnderLoad(at('data.db'))
  await expect.poll(() => server.written.length).toBeGreaterThan(20)
  const before = [...server.written]
  expect(await run(['backup', at('copy.db'), '--storage', `sqlite:${at('data.db')}`], silent)).toBe(0)
  await server.stop('SIGKILL')
  expect(checkSqlite(at('copy.db'))).toEqual([])
  // The way that docs/storage/sqlite.md describes.
  for (const name of await readdir(folder)) if (name.startsWith('data.db')) await rm(at(name))
  await copyFile(at('copy.db'), at('data.db'))
  const { storage, close } = await openSqlite(at('data.db'))
  const found = await Promise.all(before.map(async (id) => storage.read('Patient', id)))
  await close()
  expect(found.filter((resource) => resource === undefined)).toEqual([])
})

test.each([
  ['a file that is not there', 'sqlite:/nowhere/data.db', 2],
  ['a file that is not a database', `sqlite:${import.meta.filename}`, 1],
  ['another kind of storage', 'memory', 2],
])('a backup of %s is refused', async (_, storage, status) => {
  expect(await run(['backup', at('none.db'), '--storage', storage], silent)).toBe(status)
  expect((await readdir(folder)).filter((name) => name.startsWith('none.db'))).toEqual([])
})

test('a file is checked while the terminal is drawn', async () => {
  const { close } = await openSqlite(at('checked.db'))
  await close()
  let hasTurned = false
  setTimeout(() => (hasTurned = true))
  expect(await run(['check', '--storage', `sqlite:${at('checked.db')}`], silent)).toBe(0)
  expect(hasTurned).toBe(true)
})

test('a backup does not replace the file that it is of', async () => {
  const { close } = await openSqlite(at('one.db'))
  await close()
  const said: string[] = []
  const status = await run(['backup', `${folder}/./one.db`, '--storage', `sqlite:${at('one.db')}`], {
    ...silent,
    err: (line) => said.push(line),
  })
  expect([status, said]).toEqual([2, [`error: ${at('one.db')}: A database cannot be copied onto itself. [parameter-value]`]])
})

test('a backup replaces an earlier one, but neither the database of another application nor one with a log', async () => {
  const source = await openSqlite(at('source.db'))
  await source.close()
  const backup = async (copy: string): Promise<readonly [status: number, said: string]> => {
    const said: string[] = []
    const status = await run(['backup', at(copy), '--storage', `sqlite:${at('source.db')}`], { ...silent, err: (line) => said.push(line) })
    return [status, said.join()]
  }
  const other = new DatabaseSync(at('other.db'))
  other.exec('CREATE TABLE resource (letters TEXT)')
  other.close()
  expect(await backup('other.db')).toEqual([2, expect.stringContaining('other.db is not a database of this adapter')])
  const used = await openSqlite(at('used.db'))
  await used.storage.write([{ op: 'put', type: 'Patient', id: 'a', text: '{"resourceType":"Patient","id":"a","meta":{}}', entries: [] }])
  expect(await backup('used.db')).toEqual([2, expect.stringContaining(`it has a log (${at('used.db')}-wal)`)])
  await used.close()
  const copied = [0, expect.stringContaining('copied')]
  expect([await backup('used.db'), await backup('used.db')]).toEqual([copied, copied])
  expect((await readdir(folder)).filter((name) => /^(?:used|other)/.test(name))).toEqual(['other.db', 'used.db'])
})
