// `npm test`: installs and builds what is missing, then checks and tests. `--all` adds the slow tests; words run only the tests whose file they name.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { root } from './packages.mjs'
import { checks } from './checks.mjs'
import { step, stepsSideBySide } from './steps.mjs'
import { failuresOf, summaryOf } from './test-summary.mjs'

const CACHE = join(root, 'node_modules', '.fhir-ops')
const RESULTS = join(CACHE, 'tests.json')
const TIMES = join(CACHE, 'times.json')

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const all = process.argv.includes('--all')
const seed = process.env.FHIR_OPS_SEED ?? String(all ? Math.floor(Math.random() * 2 ** 31) : 1)
const start = Date.now()

process.exit((await run()) ? 0 : 1)

async function run() {
  console.log(announcement())
  // On the machine's own Node; everything after it runs on that of the workspace.
  if (!step('Install and build what has changed', [process.execPath, 'scripts/setup.mjs'])) return false
  const ready = Date.now()
  const failed = words.length > 0 ? [] : await stepsSideBySide(checks({ all }), { atOnce: availableParallelism() })
  rmSync(RESULTS, { force: true })
  if (!step('Tests', vitest(), testEnvironment())) failed.push('Tests')
  if (failed.length === 0 && words.length === 0) remember(Date.now() - ready)
  if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`)
  if (existsSync(RESULTS)) for (const line of failuresOf(RESULTS)) console.error(line)
  if (existsSync(RESULTS)) console.log(`\n${summaryOf(RESULTS)}; seed ${seed}; ${duration(Date.now() - start)}`)
  return failed.length === 0
}

function announcement() {
  if (words.length > 0) return `Tests in files named ${words.join(', ')}, slow ones too; without checks. Seed ${seed}.`
  const last = times()[all ? 'all' : 'quick']
  const time = last === undefined ? (all ? 'about 40 minutes' : 'about 7 minutes') : `${duration(last)} last time here`
  return all
    ? `All checks and all tests, with the slow ones (crashes, imports, examples, load): ${time} after the build. Seed ${seed}.`
    : `Checks, unit and contract tests: ${time} after the build (40 s). A part: npm test -- expand. All tests: npm run test:all. Seed ${seed}.`
}

function vitest() {
  return [
    'vitest',
    'run',
    '--config',
    'vitest.workspace.ts',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${RESULTS}`,
    ...words,
  ]
}

function testEnvironment() {
  return { FHIR_OPS_SEED: seed, ...(!all && words.length === 0 && { FHIR_OPS_TESTS: 'quick' }) }
}

function times() {
  return existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {}
}

function remember(time) {
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(TIMES, JSON.stringify({ ...times(), [all ? 'all' : 'quick']: time }))
}

function duration(ms) {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
