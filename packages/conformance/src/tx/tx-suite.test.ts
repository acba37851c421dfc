import { afterAll, beforeAll, expect, it } from 'vitest'
import { runSuite } from './run-suite.js'
import { startTxServer, type RunningServer } from './tx-server.js'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite } from '../../../../test/suites.js'

/** Further arguments of the runner, for example `--suite version --dump FOLDER`. */
const ARGUMENTS = (process.env['TX_SUITE_ARGUMENTS'] ?? '').split(' ').filter((word) => word !== '')

describeSuite('tx-tests', 'the terminology ecosystem tests', () => {
  let server: RunningServer | undefined

  beforeAll(async () => {
    server = await startTxServer()
  })

  afterAll(() => server?.close())

  it('pass in mode general', async () => {
    const { output, failed, results } = await runSuite(server?.base ?? '', ARGUMENTS)
    expect(failed, output).toBe(0)
    if (ARGUMENTS.length === 0) comparePassing('tx-general', results)
  })
})
