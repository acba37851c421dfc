import { execFile } from 'node:child_process'
import { platform } from 'node:os'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { createSessions } from 'fhir-ops/sessions'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../test/temporary-folder.js'
import { openSqlite } from './index.js'

const shell = promisify(execFile)

/** Calls a method of sessions over the file in another process, which ends then. */
async function elsewhere(file: string, call: string): Promise<void> {
  const program = `
    import { openSqlite } from '@fhir-ops/sqlite'
    import { createSessions } from 'fhir-ops/sessions'
    const file = await openSqlite(${JSON.stringify(file)})
    await createSessions({ store: file.sessions }).${call}
    await file.close()`
  await shell(process.execPath, ['--input-type=module', '-e', program], { cwd: resolve(import.meta.dirname, '..') })
}

it.each([
  ['a global sign-out', () => "signOutEverywhere('ann')"],
  ['disabling the user', () => "disableUser('ann')"],
  ['deleting the user', () => "deleteUser('ann')"],
  ['disabling the session', (loginId: string) => `disable('${loginId}')`],
  ['deleting the session', (loginId: string) => `delete('${loginId}')`],
])('%s by another process is seen by the next request', async (_name, call) => {
  const folder = await temporaryFolder()
  onTestFinished(() => folder.remove())
  const file = folder.file('sessions.db')
  const { sessions: store, close } = await openSqlite(file)
  const sessions = createSessions({ store })
  const { token, loginId } = await sessions.create({ user: 'ann' })
  await sessions.verify(token)
  await elsewhere(file, call(loginId))
  await expect(sessions.verify(token)).rejects.toMatchObject({ code: 'token-invalid' })
  await close()
})

it('a process that closes its file while a write runs waits for both', async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => folder.remove())
  const program = `
    import { openSqlite } from '@fhir-ops/sqlite'
    import { putResource } from 'fhir-ops/storage'
    const { storage, close } = await openSqlite(${JSON.stringify(folder.file('written.db'))})
    const put = putResource({ type: 'Basic', id: 'b', source: { resourceType: 'Basic', id: 'b' } }, () => [])
    const writing = storage.write([put])
    await close()
    await writing
    console.log('closed')`
  const { stdout } = await shell(process.execPath, ['--input-type=module', '-e', program], { cwd: resolve(import.meta.dirname, '..') })
  expect(stdout).toBe('closed\n')
})

it('a process that may start no threads is told so when it opens a file', async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => folder.remove())
  const program = `
    import { openSqlite } from '@fhir-ops/sqlite'
    await openSqlite(${JSON.stringify(folder.file('threads.db'))}).catch(({ code, message }) => console.log(code, message))`
  const flags = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--input-type=module', '-e', program]
  const { stdout } = await shell(process.execPath, flags, { cwd: resolve(import.meta.dirname, '..') })
  expect(stdout).toMatch(/^storage-unavailable A database file is searched and written in threads, .*--allow-worker/)
})

it.runIf(platform() === 'linux')('a process of limited address space (ulimit -v) writes and searches', async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => folder.remove())
  const program = `
    import { openSqlite } from '@fhir-ops/sqlite'
    import { putResource } from 'fhir-ops/storage'
    const { storage, close } = await openSqlite(${JSON.stringify(folder.file('limited.db'))})
    await storage.write([putResource({ type: 'Basic', id: 'b', source: { resourceType: 'Basic', id: 'b' } }, () => [])])
    console.log(await storage.count({ type: 'Basic', where: { kind: 'and', conditions: [] } }))
    await close()`
  // Node itself takes 1.3 GB of addresses here; 0.6 GB more for each thread were too much.
  const limited = ['-c', 'ulimit -c 0; ulimit -v 2200000; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', program]
  const { stdout } = await shell('sh', limited, { cwd: resolve(import.meta.dirname, '..') })
  expect(stdout).toBe('1\n')
})
