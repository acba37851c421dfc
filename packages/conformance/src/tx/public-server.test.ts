import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSuite, TX_RUNNER } from './run-suite.js'
import { startTxServer, type RunningServer } from './tx-server.js'

/** What fails of the quality checks of one public server; `docs/conformance.md` gives the reasons. */
const LEFT = [
  'bugs/3166-d',
  'bugs/country-codes',
  'bugs/cpt',
  'bugs/cpt-0',
  'bugs/ndc',
  'bugs/sct-isa',
  'bugs/sct-msg-4',
  'bugs/sct-parse',
  'bugs/sct-parse-pc',
  'bugs/sct-ver',
  'bugs/undefined',
  'langcodes/expand-langcodes-all',
  'related2/related-ov-cross-system',
  'related2/related-unk-snomed-both-filter',
]
const SUITES = 'simple-cases,UCUM,compare,related2,bugs,langcodes'

describe.skipIf(!existsSync(TX_RUNNER))('the tests of mode tx.fhir.org', () => {
  let server: RunningServer | undefined

  beforeAll(async () => {
    server = await startTxServer()
  })

  afterAll(() => server?.close())

  it('that need no licensed content pass but for those that are known', async () => {
    const { output, failures, passed } = await runSuite(server?.base ?? '', ['--modes', 'tx.fhir.org', '--suite', SUITES])
    expect(failures.toSorted(), output).toEqual(LEFT)
    expect(passed).toBe(48)
  })
})
