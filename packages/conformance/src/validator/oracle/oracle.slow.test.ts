import { expect, test } from 'vitest'
import { describeSuite } from '../../../../../test/suites.js'
import { origins } from './cases.js'
import { REASONS, ROWS } from './decisions.js'
import { knownFacts, refreshFacts } from './facts-file.js'
import { replayed, tablesOf } from './replay.js'

/** A command that starts the oracle, to ask it anew. */
const ORACLE = process.env['FHIR_OPS_ORACLE']

describeSuite('r4-examples', "HL7's Java validator and this one", () => {
  test.runIf(ORACLE !== undefined)('are asked the same', async () => refreshFacts('release', origins(), ORACLE ?? ''))

  test('differ only where it has been decided', async () => {
    const replay = await replayed(origins(), knownFacts('release'))
    process.stdout.write(tablesOf(replay, REASONS))
    expect(replay.stale).toEqual([])
    expect(Object.fromEntries([...replay.undecided].map(([key, places]) => [key, places.slice(0, 3)]))).toEqual({})
    expect(replay.runs).toBeGreaterThan(10_000)
    expect(REASONS.filter(({ name }) => !replay.reasons.has(name))).toEqual([])
    expect(ROWS.filter((row) => !replay.decisions.has(row))).toEqual([])
  })
})
