import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cqlOperations } from '@fhir-ops/cql'
import { createTranslator } from '@fhir-ops/cql/translator'
import { createHandler } from '@fhir-ops/handler'
import { toNodeListener } from '@fhir-ops/handler/node'
import { r4 } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { it } from 'vitest'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite, suitePath } from '../../../../test/suites.js'

interface SuiteResult {
  readonly suite: string
  readonly group: string
  readonly name: string
  readonly status: 'pass' | 'fail' | 'skip'
}

describeSuite('cql-tests', 'cql-tests over $cql', () => {
  it('passes as listed', async () => comparePassing('cql-language', await languageSuite()))
})

/** Runs the suite's own runner against a server; tests that fail are not a failure to run. */
async function languageSuite(): Promise<ReadonlyMap<string, boolean>> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const { indexer, ...release } = r4()
  const handler = createHandler({
    context: createContext({ ...release, storage: memoryStorage(), convertUnit: unitConversion() }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl,
    auth: 'off',
    defaultPolicy: 'allow-authenticated',
    indexer,
    operations: cqlOperations({ translator: await createTranslator() }),
  })
  server.on('request', toNodeListener(handler))
  const folder = mkdtempSync(join(tmpdir(), 'cql-suite-'))
  const report = join(folder, 'report.json')
  await runSuite(['--base', `${baseUrl}/fhir/R4`, '--out', report, '--quiet'])
  const { results }: { readonly results: readonly SuiteResult[] } = JSON.parse(readFileSync(report, 'utf8'))
  rmSync(folder, { recursive: true })
  server.closeAllConnections()
  server.close()
  const run = results.filter(({ status }) => status !== 'skip')
  return new Map(run.map(({ suite, group, name, status }) => [`${suite}/${group}/${name}`, status === 'pass']))
}

function runSuite(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [suitePath('cql-tests', 'run.mjs'), ...args], { maxBuffer: 1e8 }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
}
