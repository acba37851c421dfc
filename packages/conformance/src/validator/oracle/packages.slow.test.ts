import { expect, test } from 'vitest'
import { describeSuite } from '../../../../../test/suites.js'
import { uncitedReasons } from './decisions.js'
import { knownFacts, refreshFacts } from './facts-file.js'
import { ourIssuesWith } from './issue.js'
import { packageDefinitions, packageOrigins } from './package-cases.js'
import { PACKAGE_REASONS, PACKAGE_ROWS } from './package-decisions.js'
import { replayed, tablesOf } from './replay.js'

/** A command that starts the oracle with the packages, to ask it anew. */
const ORACLE = process.env['FHIR_OPS_PACKAGE_ORACLE']

describeSuite('validator-tests', "HL7's Java validator and this one, on damaged examples of packages", () => {
  test.runIf(ORACLE !== undefined)('are asked the same', async () => refreshFacts('packages', packageOrigins(), ORACLE ?? ''))

  test('differ only where it has been decided', async () => {
    const judge = { issuesOf: ourIssuesWith(packageDefinitions()), rows: PACKAGE_ROWS }
    const replay = await replayed(packageOrigins(), knownFacts('packages'), judge)
    process.stdout.write(tablesOf(replay, PACKAGE_REASONS))
    expect(replay.stale).toEqual([])
    expect(Object.fromEntries([...replay.undecided].map(([key, places]) => [key, places.slice(0, 3)]))).toEqual({})
    expect(replay.runs).toBeGreaterThan(4_000)
    expect(PACKAGE_REASONS.filter(({ name }) => !replay.reasons.has(name))).toEqual([])
    expect(PACKAGE_ROWS.filter((row) => !replay.decisions.has(row))).toEqual([])
  })
})

test('each decision about packages has a reason, and cites the paragraph by which ours is right', () => {
  const names = new Set(PACKAGE_REASONS.map(({ name }) => name))
  expect(PACKAGE_ROWS.filter(({ reason }) => !names.has(reason))).toEqual([])
  expect(uncitedReasons(PACKAGE_REASONS)).toEqual([])
})
