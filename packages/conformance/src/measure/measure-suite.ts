import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHandler, OPERATIONS } from '@fhir-ops/handler'
import { toNodeListener } from '@fhir-ops/handler/node'
import { r4Definitions, r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore } from 'fhir-ops/memory'
import type { Operation } from 'fhir-ops/operation'
import { createIndexer, searchParameters } from 'fhir-ops/search'
import { createSessions } from 'fhir-ops/sessions'
import type { Storage } from 'fhir-ops/storage'
import { suitePath } from '../../../../test/suites.js'

/** Options of `measureSuite`. */
interface MeasureSuiteOptions {
  /** Name of the suite. Default `x-fhir-query`. */
  readonly suite?: string
  /** Operations of the server. Default: those of the handler. */
  readonly operations?: readonly Operation[]
}

/** Runs a suite over a storage, which is closed afterwards. @returns Whether each case passed, by its id. */
export async function measureSuite(
  open: (folder: string) => Promise<Storage>,
  { suite = 'x-fhir-query', operations = OPERATIONS }: MeasureSuiteOptions = {},
): Promise<ReadonlyMap<string, boolean>> {
  const folder = mkdtempSync(join(tmpdir(), 'measure-suite-'))
  const storage = await open(folder)
  const server = await serve(storage, operations)
  const report = join(folder, 'report.json')
  await runSuite(['--base', `${server.baseUrl}/fhir/R4`, '--suite', suite, '--json', report])
  const results: readonly { readonly id: string; readonly ok: boolean }[] = JSON.parse(readFileSync(report, 'utf8'))
  await server.close()
  await storage.close()
  rmSync(folder, { recursive: true })
  return new Map(results.map(({ id, ok }) => [id, ok]))
}

interface Served {
  readonly baseUrl: string
  readonly close: () => Promise<unknown>
}

async function serve(storage: Storage, operations: readonly Operation[]): Promise<Served> {
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const handler = createHandler({
    context: createContext({
      storage,
      definitions: [r4Definitions()],
      search: { parameters },
      types: r4TypeModel(),
      convertUnit: unitConversion(),
    }),
    operations,
    validateWrites: 'none',
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

/** Runs the suite's own runner. Failed cases do not make this fail. */
function runSuite(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [suitePath('measure-tests', 'run.mjs'), ...args], { maxBuffer: 1e8 }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
}
