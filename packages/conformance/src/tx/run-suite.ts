import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suitePath } from '../../../../test/suites.js'

/** The folder of the terminology ecosystem tests; it does not exist if they are not installed. */
export const TX_SUITE: string = suitePath('tx-tests')

/** The official runner. */
const TX_RUNNER: string = join(TX_SUITE, 'run.mjs')

/** The results of a run. */
export interface SuiteRun {
  readonly failed: number
  readonly passed: number
  /** Whether each test passed, by `suite/name`. */
  readonly results: ReadonlyMap<string, boolean>
  /** The output of the runner. */
  readonly output: string
}

/** Runs the official runner against a FHIR base. Failed tests do not make this fail. */
export async function runSuite(base: string, args: readonly string[]): Promise<SuiteRun> {
  const folder = mkdtempSync(join(tmpdir(), 'tx-suite-'))
  const report = join(folder, 'report.json')
  const all = [TX_RUNNER, '--base', base, '--tests', join(TX_SUITE, 'tests'), '--json', report, ...args]
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, all, { maxBuffer: 1e8 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
  const { totals, suites }: Report = JSON.parse(readFileSync(report, 'utf8'))
  rmSync(folder, { recursive: true })
  const run = suites.flatMap((suite) => suite.results).filter(({ status }) => status === 'pass' || status === 'fail')
  const results = new Map(run.map(({ id, status }) => [id, status === 'pass']))
  return { failed: totals.fail, passed: totals.pass, results, output }
}

/** The members of the runner's report that are read. */
interface Report {
  readonly totals: { readonly fail: number; readonly pass: number }
  readonly suites: readonly { readonly results: readonly { readonly id: string; readonly status: string }[] }[]
}
