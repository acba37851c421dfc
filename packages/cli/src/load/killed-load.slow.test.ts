import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@fhir-ops/sqlite'
import { allMatches } from 'fhir-ops/storage'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'

const CLI = builtFile('packages/cli/dist/main.js')
const RESOURCES = 8_000
const KILLS = 2
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-killed-load-'))
  const lines = Array.from({ length: RESOURCES }, (_, n) => JSON.stringify({ resourceType: 'Patient', id: `p${n}`, gender: 'other' }))
  await writeFile(join(folder, 'patients.ndjson'), lines.join('\n'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Starts the load as a process of its own. */
function loading() {
  const options = ['--storage', `sqlite:${join(folder, 'data.db')}`, '--resume', '--threads', '1']
  return spawn(process.execPath, [CLI, 'load', join(folder, 'patients.ndjson'), ...options], { stdio: 'ignore' })
}

async function storedCount(): Promise<number> {
  const { storage, close } = await openSqlite(join(folder, 'data.db'))
  const count = await storage.count({ type: 'Patient', where: { kind: 'and', conditions: [] } })
  await close()
  return count
}

test('a load that is killed again and again ends with every resource, each stored once', async () => {
  for (let kill = 1; kill <= KILLS; kill++) {
    const child = loading()
    const exited = once(child, 'exit')
    // Counting locks the file; on a busy machine for longer than the load waits, which then ends by itself.
    const isUnderWay = async (): Promise<boolean> => child.exitCode !== null || (await storedCount()) > (kill * RESOURCES) / (KILLS + 2)
    await expect.poll(isUnderWay, { interval: 30 }).toBe(true)
    child.kill('SIGKILL')
    await exited
    expect((await storedCount()) % 500, 'half a batch').toBe(0)
  }
  const [status]: readonly unknown[] = await once(loading(), 'exit')
  const { storage, close } = await openSqlite(join(folder, 'data.db'))
  const versions = new Map<string, string>()
  for await (const { id, versionId } of allMatches(storage, { type: 'Patient', where: { kind: 'and', conditions: [] } }))
    versions.set(id, versionId)
  await close()
  expect([status, versions.size, new Set(versions.values())]).toEqual([0, RESOURCES, new Set(['1'])])
})
