import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHandler } from '@fhir-ops/handler'
import { toNodeListener } from '@fhir-ops/handler/node'
import { openPostgres } from '@fhir-ops/postgres'
import { r4Definitions, r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createIndexer, searchParameters } from 'fhir-ops/search'
import { createSessions } from 'fhir-ops/sessions'
import type { Storage } from 'fhir-ops/storage'
import { afterAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../../../postgres/test/test-database.js'
import { sharedFolder } from '../shared-folder.js'

const RUNNER = join(sharedFolder(), 'measure-tests', 'run.mjs')

const database = existsSync(RUNNER) ? await testDatabase({ fsync: 'off' }) : undefined
afterAll(() => database?.remove())

const STORAGES: readonly (readonly [string, (folder: string) => Promise<Storage>])[] = [
  ['memory', async () => memoryStorage()],
  ['SQLite', async (folder) => (await openSqlite(join(folder, 'fhir.db'))).storage],
  ['PostgreSQL', async () => (await openPostgres((await database!.schema()).pool(), { allowLossyCommits: true })).storage],
]

describe.skipIf(!existsSync(RUNNER))('measure-tests, suite x-fhir-query', () => {
  it.each(STORAGES)('all tiers pass over %s', async (_name, open) => {
    const folder = mkdtempSync(join(tmpdir(), 'measure-suite-'))
    const storage = await open(folder)
    const server = await serve(storage)
    const report = join(folder, 'report.json')
    const output = await runSuite(['--base', `${server.baseUrl}/fhir/R4`, '--suite', 'x-fhir-query', '--json', report])
    const results: readonly { readonly ok: boolean }[] = JSON.parse(readFileSync(report, 'utf8'))
    await server.close()
    await storage.close()
    rmSync(folder, { recursive: true })
    expect(
      results.filter(({ ok }) => !ok),
      output,
    ).toEqual([])
    expect(results).toHaveLength(48)
  })
})

interface Served {
  readonly baseUrl: string
  readonly close: () => Promise<unknown>
}

async function serve(storage: Storage): Promise<Served> {
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const handler = createHandler({
    context: createContext({ storage, definitions: [r4Definitions()], search: { parameters } }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl,
    auth: 'off',
    defaultPolicy: 'allow-authenticated',
    indexer: createIndexer(parameters),
  })
  server.on('request', toNodeListener(handler))
  return {
    baseUrl,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Runs the suite's own runner; cases that fail are no failure to run. */
function runSuite(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [RUNNER, ...args], { maxBuffer: 1e8 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
}
