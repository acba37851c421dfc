import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../program.js'
import { serve, type RunningServer } from '../serve.js'

const SHARED = process.env['FHIR_OPS_SHARED'] ?? fileURLToPath(new URL('../../../../../shared', import.meta.url))
const SUITE = join(SHARED, 'tx-tests')
const VERSION = 'http://snomed.info/xsct/31000003106/version/20250909'
/** Further arguments of the runner, for example `--dump FOLDER`. */
const ARGUMENTS = (process.env['TX_SUITE_ARGUMENTS'] ?? '').split(' ').filter((word) => word !== '')

describe.skipIf(!existsSync(join(SUITE, 'run.mjs')))('the SNOMED CT tests of the terminology ecosystem', () => {
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
    const { totals } = JSON.parse(readFileSync(report, 'utf8'))
    expect({ failed: totals.fail, ran: totals.pass + totals.fail > 0 }, output).toEqual({ failed: 0, ran: true })
  })
})

/** Runs the official runner; failures of tests are no failure to run. */
function runSuite(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(SUITE, 'run.mjs'), ...args], { maxBuffer: 1e8 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
}
