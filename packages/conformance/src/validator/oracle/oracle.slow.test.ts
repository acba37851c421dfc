import { expect, test } from 'vitest'
import { describeSuite } from '../../../../../test/suites.js'
import { origins } from './cases.js'
import { REASONS, ROWS } from './decisions.js'
import { knownFacts, refreshFacts } from './facts-file.js'
import { newReplay, replayOrigin, type Replay } from './replay.js'

/** A command that starts the oracle, to ask it anew. */
const ORACLE = process.env['FHIR_OPS_ORACLE']

describeSuite('r4-examples', "HL7's Java validator and this one", () => {
  test.runIf(ORACLE !== undefined)('are asked the same', async () => refreshFacts('release', origins(), ORACLE ?? ''))

  test('differ only where it has been decided', async () => {
    const facts = knownFacts('release')
    const replay = newReplay()
    for (const { name, make } of origins()) {
      const known = facts.get(name)
      if (known === undefined) replay.stale.push(name)
      else await replayOrigin(replay, { origin: await make(), facts: known })
    }
    process.stdout.write(tableOf(replay))
    expect(replay.stale).toEqual([])
    expect(Object.fromEntries([...replay.undecided].map(([key, places]) => [key, places.slice(0, 3)]))).toEqual({})
    expect(replay.runs).toBeGreaterThan(10_000)
    expect(REASONS.filter(({ name }) => !replay.reasons.has(name))).toEqual([])
    expect(ROWS.filter((row) => !replay.decisions.has(row))).toEqual([])
  })
})

function tableOf({ runs, verdicts, errors, warnings, reasons }: Replay): string {
  const share = (count: number): string => `${count} (${((100 * count) / Math.max(1, runs)).toFixed(1)} %)`
  const rows = REASONS.map(({ name, right, why }) => `| ${name} | ${reasons.get(name) ?? 0} | ${right} | ${why} |\n`)
  return `| runs | same verdict | errors at the same places | warnings too |\n|---|---|---|---|\n| ${runs} | ${share(verdicts)} | ${share(errors)} | ${share(warnings)} |\n\n| difference | runs | right | why |\n|---|---|---|---|\n${rows.join('')}`
}
