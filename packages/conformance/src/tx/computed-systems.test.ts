import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSuite, TX_RUNNER } from './run-suite.js'
import { startTxServer, type RunningServer } from './tx-server.js'

/** The tests of mode `tx.fhir.org` that ask for nothing but units and registries; others need content that is not free. */
const TESTS = [
  'UCUM/lookup-with-annotation',
  'UCUM/expand-ucum-all-4',
  'UCUM/validate-ucum-canonical-good',
  'UCUM/validate-ucum-all-bad',
  'bugs/lang-case',
]

describe.skipIf(!existsSync(TX_RUNNER))('units and registries, by the terminology ecosystem tests', () => {
  let server: RunningServer | undefined

  beforeAll(async () => {
    server = await startTxServer()
  })

  afterAll(() => server?.close())

  it.each(TESTS)('%s', async (test) => {
    const { output, ...totals } = await runSuite(server?.base ?? '', ['--modes', 'tx.fhir.org', '--test', test])
    expect(totals, output).toEqual({ failed: 0, passed: 1 })
  })
})
