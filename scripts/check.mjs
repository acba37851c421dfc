// Everything that decides whether a change may land, after installing and building.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './packages.mjs'
import { step } from './steps.mjs'

const results = join(root, 'node_modules', '.fhir-ops', 'tests.json')
const node = (script) => ['node', `scripts/${script}`]

const steps = [
  ['Types', node('typecheck.mjs')],
  ['Lint', ['oxlint', '--type-aware', '--deny-warnings']],
  ['Manifests and licences', node('check-manifests.mjs')],
  ['Import graph', ['depcruise', '--config', '.dependency-cruiser.cjs', 'packages', '--output-type', 'err']],
  ['Exports and docstrings', node('check-exports.mjs')],
  ['Regular expressions are linear', node('check-regexes.mjs')],
  ['Tests', ['vitest', 'run', '--config', 'vitest.workspace.ts', '--reporter=default', '--reporter=json', `--outputFile.json=${results}`]],
]

const failed = steps.filter(([name, command]) => !step(name, command)).map(([name]) => name)
if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`)
if (!failed.includes('Tests')) console.log(`\n${summary()}`)
process.exit(failed.length === 0 ? 0 : 1)

function summary() {
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(results, 'utf8'))
  return `${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`
}
