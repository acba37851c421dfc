import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'
import { OPERATION_PAGES } from './index.js'

/** In the package, so that the programs find what they import. */
const FOLDER = join(import.meta.dirname, '../../dist/programs')

/** What the program of a sample writes; the others end without an error. */
const WRITTEN: Readonly<Record<string, RegExp>> = {
  'expand/own': /Geplanter Besuch/,
  'lookup/mother': /stepmother/,
  'validate-code/typo': /result: false/,
  'subsumes/mother': /subsumes/,
  'compare/own': /overlapping/,
  'translate/maps': /relatedto/,
  'closure/family': /MTHFOST/,
  'snapshot/weight': /Observation\.subject/,
  'data-requirements/blood-pressure': /Patient/,
  'collect-data/blood-pressure': /Patient\/ada/,
  'validate/patient': /false.*birthDate/s,
  'evaluate-measure/blood-pressure': /0\.75/,
  'cql/dates': /^83$/m,
}
/** The program ends with the error that the sample is about. */
const FAILS = new Set(['lookup/typo'])

const samples = OPERATION_PAGES.filter(({ needsServer }) => needsServer === undefined).flatMap((page) =>
  page.samples.map((sample) => ({ name: `${page.id}/${sample.id}`, code: page.code(sample) })),
)

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

test.each(samples)('the program beside $name runs when it is pasted', ({ name, code }) => {
  builtFile('packages/core/dist/expand/public.js')
  mkdirSync(FOLDER, { recursive: true })
  const file = join(FOLDER, `${name.replace('/', '-')}.ts`)
  writeFileSync(file, code)
  const { status, stdout, stderr } = spawnSync('node', [file], { encoding: 'utf8' })
  expect(status, `${stderr}\n${code}`).toBe(FAILS.has(name) ? 1 : 0)
  expect(FAILS.has(name) ? stderr : stdout).toMatch(WRITTEN[name] ?? /./)
})
