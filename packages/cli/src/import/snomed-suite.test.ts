import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite, suitePath } from '../../../../test/suites.js'
import { run } from '../program.js'
import { serve, type RunningServer } from '../serve/service.js'

const SUITE = suitePath('tx-tests')
const VERSION = 'http://snomed.info/xsct/31000003106/version/20250909'
/** Further arguments of the runner, for example `--dump FOLDER`. */
const ARGUMENTS = (process.env['TX_SUITE_ARGUMENTS'] ?? '').split(' ').filter((word) => word !== '')

describeSuite('tx-tests', 'the SNOMED CT tests of the terminology ecosystem', () => {
  const folder = mkdtempSync(join(tmpdir(), 'snomed-suite-'))
  const storage = `sqlite:${join(folder, 'content.db')}`
  const out: string[] = []
  const io = { out: (line: string) => void out.push(line), err: () => undefined, stdin: async () => '' }
  let server: RunningServer | undefined

  beforeAll(async () => {
    const release = join(SUITE, 'tx-source', 'snomed')
    expect(await run(['import', 'snomed', release, '--storage', storage], io)).toBe(0)
    server = await serve({ host: '127.0.0.1', port: 0, storage, load: [], open: true }, io)
  })

  afterAll(async () => {
    await server?.close()
    rmSync(folder, { recursive: true })
  })

  it('run over what the command imports', () => expect(out).toContain(VERSION))

  it('pass', async () => {
    const report = join(folder, 'report.json')
    const base = `${server?.url}/fhir/R4`
    const output = await runSuite([
      '--base',
      base,
      '--tests',
      join(SUITE, 'tests'),
      '--modes',
      'snomed',
      '--suite',
      'snomed,sct-ecl',
      '--json',
      report,
      ...ARGUMENTS,
    ])
    const { totals, suites }: Report = JSON.parse(readFileSync(report, 'utf8'))
    expect(totals.fail, output).toBe(0)
    const results = suites.flatMap((suite) => suite.results).filter(({ status }) => status === 'pass' || status === 'fail')
    if (ARGUMENTS.length === 0) comparePassing('tx-snomed', new Map(results.map(({ id, status }) => [id, status === 'pass'])))
  })
})

/** What is read of the runner's report. */
interface Report {
  readonly totals: { readonly fail: number }
  readonly suites: readonly { readonly results: readonly { readonly id: string; readonly status: string }[] }[]
}

/** Runs the official runner; failures of tests are not a failure to run. */
function runSuite(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(SUITE, 'run.mjs'), ...args], { maxBuffer: 1e8 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
}
