import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { crashRounds } from '../test/crash-rounds.js'
import { temporaryFolder, type TemporaryFolder } from '../test/temporary-folder.js'

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 10)
const MS_PER_ROUND = 60_000

describe('a process that writes is killed', () => {
  let folder: TemporaryFolder
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(async () => folder.remove())

  it(`nothing acknowledged is lost in ${ROUNDS} rounds`, { timeout: ROUNDS * MS_PER_ROUND }, async () => {
    const { acknowledged, slowestOpenMs, faults } = await crashRounds(folder.file('data.db'), ROUNDS)
    process.stdout.write(
      `${ROUNDS} kills, ${acknowledged} acknowledged writes, ${faults.length} faults, opened in ${Math.round(slowestOpenMs)} ms of processor time at most\n`,
    )
    expect(faults).toEqual([])
    expect(slowestOpenMs).toBeLessThan(10_000)
  })
})
