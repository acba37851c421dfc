import { appendFileSync } from 'node:fs'
import { test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { crossVersion } from '@fhir-ops/cross-version'
import { r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { languageTags, mediaTypes, registryDefinitions } from '@fhir-ops/registries'
import { ALL } from '../../../../test/effort.js'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite, suitePath } from '../../../../test/suites.js'
import { runTest, suiteRunner, type TestResult } from './validator-suite.js'

const FOLDER = suitePath('validator-tests')
/** Files in XML and implementation guides take most of the time. */
const GROUPS = ['core', 'extra', 'options', ...(ALL ? ['xml', 'ig'] : [])]
const LEVELS = ['verdict', 'location', 'full'] as const

describeSuite('validator-tests', 'the public validator suite', () => {
  test.each(GROUPS)('group %s passes as listed, at each level', async (group) => {
    const runner = await suiteRunner(FOLDER)
    const shared = createContext({
      storage: memoryStorage(),
      definitions: [r4Definitions(), registryDefinitions()],
      codeSystems: [languageTags(), mediaTypes()],
      types: r4TypeModel(),
      crossVersion: crossVersion(),
      // The first validation reads the definitions, which takes longer than the default on a busy machine.
      limits: { operationTimeoutMs: 120_000 },
    })
    const results: TestResult[] = []
    for (const one of runner.loadTests(FOLDER)) {
      const ctx = one.options === undefined ? shared : { ...shared, storage: memoryStorage() }
      if (one.group === group && runner.applicable(one).runs.length > 0) results.push(await runTest({ dir: FOLDER, runner, ctx }, one))
    }
    const report = process.env['VALIDATOR_REPORT']
    if (report !== undefined) appendFileSync(report, results.map((result) => `${JSON.stringify(result)}\n`).join(''))
    const passed = results.flatMap((result) => LEVELS.map((level): [string, boolean] => [`${result.test.name} ${level}`, result[level]]))
    comparePassing(`validator-${group}`, new Map(passed))
  })
})
