import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { sharedFolder } from '../shared-folder.js'
import { runTest, suiteRunner, type TestResult } from './validator-suite.js'

const FOLDER = join(sharedFolder(), 'validator-tests')

/** Tests that pass at each level, by group; a change that lowers one fails. */
const FLOORS = [
  ['core', { verdict: 182, location: 174, full: 167 }],
  ['xml', { verdict: 72, location: 68, full: 63 }],
  ['extra', { verdict: 49, location: 49, full: 49 }],
  ['ig', { verdict: 66, location: 66, full: 66 }],
] as const

describe.skipIf(!existsSync(FOLDER))('the public validator suite', () => {
  const passed = (results: readonly TestResult[], level: 'verdict' | 'location' | 'full'): number =>
    results.filter((result) => result[level]).length

  test.each(FLOORS)('group %s', async (group, floor) => {
    const runner = await suiteRunner(FOLDER)
    const ctx = createContext({ storage: memoryStorage(), definitions: [r4Definitions()], types: r4TypeModel() })
    const results: TestResult[] = []
    for (const one of runner.loadTests(FOLDER)) {
      if (one.group === group && runner.applicable(one).runs.length > 0) results.push(await runTest({ dir: FOLDER, runner, ctx }, one))
    }
    const counts = { verdict: passed(results, 'verdict'), location: passed(results, 'location'), full: passed(results, 'full') }
    process.stdout.write(`validator suite, ${group}: ${JSON.stringify(counts)} of ${results.length}\n`)
    const report = process.env['VALIDATOR_REPORT']
    if (report !== undefined) appendFileSync(report, results.map((result) => `${JSON.stringify(result)}\n`).join(''))
    for (const level of ['verdict', 'location', 'full'] as const) expect(counts[level]).toBeGreaterThanOrEqual(floor[level])
  })
})
