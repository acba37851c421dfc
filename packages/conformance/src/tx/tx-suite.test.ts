import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedFolder } from '../shared-folder.js'
import { startTxServer, type RunningServer } from './tx-server.js'

const SUITE = join(sharedFolder(), 'tx-tests')
const RUNNER = join(SUITE, 'run.mjs')
/** Further arguments of the runner, for example `--suite version --dump /tmp/tx`. */
const ARGUMENTS = (process.env['TX_SUITE_ARGUMENTS'] ?? '').split(' ').filter((word) => word !== '')

describe.skipIf(!existsSync(RUNNER))('the terminology ecosystem tests', () => {
  let server: RunningServer | undefined

  beforeAll(async () => {
    server = await startTxServer()
  })

  afterAll(() => server?.close())

  it('pass in mode general', async () => {
    const report = join(mkdtempSync(join(tmpdir(), 'tx-suite-')), 'report.json')
    const output = await runSuite(['--base', server?.base ?? '', '--tests', join(SUITE, 'tests'), '--json', report, ...ARGUMENTS])
    const { totals } = JSON.parse(readFileSync(report, 'utf8'))
    process.stdout.write(`${output}\n`)
    expect({ failed: totals.fail, ran: totals.pass + totals.fail > 0 }, output).toEqual({ failed: 0, ran: true })
  }, 120_000)
})

/** Runs the official runner; failures of tests are no failure to run. */
function runSuite(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [RUNNER, ...args], { maxBuffer: 1e8 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
}
