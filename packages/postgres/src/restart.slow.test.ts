import { afterAll, describe, expect, it } from 'vitest'
import { restartRounds } from '../test/restart-rounds.js'
import { testServer } from '../test/test-server.js'

const ROUNDS = Number(process.env['RESTART_ROUNDS'] ?? 3)
const MS_PER_ROUND = 120_000

const server = await testServer()
afterAll(async () => server?.remove())

describe.skipIf(server === undefined)('a server that is restarted under load (needs a PostgreSQL server)', () => {
  it(`nothing acknowledged is lost in ${ROUNDS} restarts`, { timeout: ROUNDS * MS_PER_ROUND }, async () => {
    if (server === undefined) return
    const report = await restartRounds(server, ROUNDS)
    const { acknowledged, refused, connections, slowestRecoveryMs } = report
    process.stdout.write(
      `${ROUNDS} restarts (fast, immediate, killed in turn), ${acknowledged} acknowledged writes, ${refused} refused, ${report.faults.length} faults, ` +
        `right again in ${Math.round(slowestRecoveryMs)} ms at most, ${connections} connections\n`,
    )
    expect(report.faults).toEqual([])
    expect(connections).toBeLessThanOrEqual(10)
  })
})
