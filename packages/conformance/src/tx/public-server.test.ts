import { afterAll, beforeAll, it } from 'vitest'
import { runSuite } from './run-suite.js'
import { startTxServer, type RunningServer } from './tx-server.js'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite } from '../../../../test/suites.js'

/** What fails of them, and why, is in `docs/conformance.md`. */
const SUITES = 'simple-cases,UCUM,compare,related2,bugs,langcodes'

describeSuite('tx-tests', 'the tests of mode tx.fhir.org', () => {
  let server: RunningServer | undefined

  beforeAll(async () => {
    server = await startTxServer()
  })

  afterAll(() => server?.close())

  it('that need no licensed content pass as listed', async () => {
    const { results } = await runSuite(server?.base ?? '', ['--modes', 'tx.fhir.org', '--suite', SUITES])
    comparePassing('tx-public-server', results)
  })
})
