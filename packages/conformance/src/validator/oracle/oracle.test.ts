import { expect, test } from 'vitest'
import { describeSuite } from '../../../../../test/suites.js'
import { origins } from './cases.js'
import { REASONS, ROWS, uncitedReasons } from './decisions.js'
import { knownFacts } from './facts-file.js'
import { replayed } from './replay.js'

/** One origin of so many; all are compared with all tests. */
const STEP = 40

describeSuite('r4-examples', "a part of the comparison with HL7's Java validator", () => {
  test('differs only where it has been decided', async () => {
    const part = origins().filter((_, index) => index % STEP === 0)
    const replay = await replayed(part, knownFacts('release'))
    expect(replay.stale).toEqual([])
    expect(Object.fromEntries(replay.undecided)).toEqual({})
    expect(replay.runs).toBeGreaterThan(100)
  })
})

test('each decision has a reason, and cites the paragraph by which ours is right', () => {
  const names = new Set(REASONS.map(({ name }) => name))
  expect(ROWS.filter(({ reason }) => !names.has(reason))).toEqual([])
  expect(uncitedReasons(REASONS)).toEqual([])
})
