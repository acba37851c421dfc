import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSuite, TX_RUNNER } from './run-suite.js'
import { startTxServer, type RunningServer } from './tx-server.js'

/** Further arguments of the runner, for example `--suite version --dump FOLDER`. */
const ARGUMENTS = (process.env['TX_SUITE_ARGUMENTS'] ?? '').split(' ').filter((word) => word !== '')

describe.skipIf(!existsSync(TX_RUNNER))('the terminology ecosystem tests', () => {
  let server: RunningServer | undefined

  beforeAll(async () => {
    server = await startTxServer()
  })

  afterAll(() => server?.close())

  it('pass in mode general', async () => {
    const { output, failed, passed } = await runSuite(server?.base ?? '', ARGUMENTS)
    process.stdout.write(`${output}\n`)
    expect({ failed, ran: failed + passed > 0 }, output).toEqual({ failed: 0, ran: true })
  })
})
