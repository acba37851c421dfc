import { afterAll, describe, expect, it } from 'vitest'
import { failoverPair } from '../test/failover-pair.js'
import { restartRounds } from '../test/restart-rounds.js'

const ROUNDS = Number(process.env['RESTART_ROUNDS'] ?? 3)
const MS_PER_ROUND = 120_000

const pair = await failoverPair()
afterAll(async () => pair?.remove())
if (pair === undefined) process.stdout.write('No PostgreSQL server can be had: the test of failover is skipped\n')

describe.skipIf(pair === undefined)(
  'a primary that is killed under load, whose commits wait for a standby (needs PostgreSQL servers)',
  () => {
    it(`nothing acknowledged is lost when the standby takes over, ${ROUNDS} times`, { timeout: ROUNDS * MS_PER_ROUND }, async () => {
      if (pair === undefined) return
      const { acknowledged, refused, slowestRecoveryMs, faults } = await restartRounds(pair, ROUNDS)
      process.stdout.write(
        `${ROUNDS} failovers, ${acknowledged} acknowledged writes, ${refused} refused, ${faults.length} faults, ` +
          `right again in ${Math.round(slowestRecoveryMs)} ms at most\n`,
      )
      expect(faults).toEqual([])
      expect(acknowledged).toBeGreaterThan(0)
    })
  },
)
