import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../postgres/test/test-database.js'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ASKED = ['visits', '--period-start', '2020', '--period-end', '2020', '--report-type', 'subject-list']
const ran = promisify(execFile)

/** Runs the program as a process of its own. */
async function program(...args: readonly string[]): Promise<string> {
  const { stdout } = await ran(process.execPath, [MAIN, ...args], { maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

const criteria = (expression: string): object => ({ criteria: { language: 'text/cql-identifier', expression } })
const population = (code: string, expression: string, more: object = {}): object => ({
  code: { coding: [{ code }] },
  ...criteria(expression),
  ...more,
})
const TEXT = `library Visits version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
context Patient
define Visits: [Encounter]
define Gender: Patient.gender
define function Length(visit FHIR.Encounter): duration in minutes of visit.period`

/** A continuous variable with median, strata and supplemental data, over 60 patients. */
const RESOURCES: readonly object[] = [
  {
    resourceType: 'Library',
    id: 'visits',
    url: 'http://example.org/Library/Visits',
    name: 'Visits',
    version: '1',
    status: 'active',
    type: { coding: [{ code: 'logic-library' }] },
    content: [{ contentType: 'text/cql', data: btoa(TEXT) }],
  },
  {
    resourceType: 'Measure',
    id: 'visits',
    status: 'active',
    library: ['http://example.org/Library/Visits'],
    scoring: { coding: [{ code: 'continuous-variable' }] },
    group: [
      {
        extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: 'Encounter' }],
        population: [
          population('initial-population', 'Visits'),
          population('measure-population', 'Visits', { id: 'all' }),
          population('measure-observation', 'Length', {
            extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod', valueString: 'median' }],
          }),
        ],
        stratifier: [{ code: { text: 'gender' }, ...criteria('Gender') }],
      },
    ],
    supplementalData: [{ id: 'sex', code: { text: 'sex' }, ...criteria('Gender') }],
  },
  ...Array.from({ length: 60 }, (_, n) => ({ resourceType: 'Patient', id: `p${n}`, gender: n % 3 === 0 ? 'male' : 'female' })),
  ...Array.from({ length: 150 }, (_, n) => ({
    resourceType: 'Encounter',
    id: `e${n}`,
    status: 'finished',
    class: { code: 'AMB' },
    subject: { reference: `Patient/p${(n * 7) % 60}` },
    period: { start: '2020-02-01T10:00:00Z', end: `2020-02-01T1${n % 4}:${String((n * 13) % 60).padStart(2, '0')}:00Z` },
  })),
]

/** A report without what is new each time. */
function reportText(text: string): string {
  return JSON.stringify(JSON.parse(text), (name, value: unknown) =>
    name === 'date' || name === 'lastUpdated' ? undefined : value,
  ).replace(/"id":"[0-9a-f-]{36}"/, '')
}

const database = await testDatabase()
const schema = await database.schema()
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-divided-'))
  await writeFile(join(folder, 'all.ndjson'), RESOURCES.map((one) => `${JSON.stringify(one)}\n`).join(''))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await schema.drop()
  await database.remove()
})

const storages = (): readonly (readonly [string, string])[] => [
  ['SQLite', `sqlite:${join(folder, 'ward.db')}`],
  ...(schema.url === undefined ? [] : [['PostgreSQL', `postgres:${schema.url}`] as const]),
]

describe('evaluate over many patients', () => {
  test('gives the same by threads, and by processes whose parts are merged, as by one', async () => {
    for (const [name, storage] of storages()) {
      await program('load', join(folder, 'all.ndjson'), '--storage', storage)
      const over = [...ASKED, '--storage', storage]
      const whole = reportText(await program('evaluate', ...over, '--json'))
      expect(whole).toContain('"measureScore"')
      expect(reportText(await program('evaluate', ...over, '--threads', '2', '--json')), name).toBe(whole)
      const parts = await Promise.all(['1/2', '2/2'].map((part) => program('evaluate', ...over, '--part', part)))
      const files = parts.map((_, index) => join(folder, `${name}-${index}.json`))
      for (const [index, file] of files.entries()) await writeFile(file, parts[index] ?? '')
      expect(reportText(await program('evaluate', ...over, '--json', '--merge', ...files)), name).toBe(whole)
    }
  })

  test('is refused by the part that fails, and reports nothing', async () => {
    const storage = `sqlite:${join(folder, 'broken.db')}`
    await program('load', join(folder, 'all.ndjson'), '--storage', storage)
    const args = ['evaluate', ...ASKED, '--storage', storage, '--threads', '2']
    const failing = program(...args.with(1, 'visit'))
    await expect(failing).rejects.toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/Part [12] of 2: .*visit/) })
    const memory = program('evaluate', ...ASKED, '--load', join(folder, 'all.ndjson'), '--threads', '2')
    await expect(memory).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--threads needs a storage that each thread can open'),
    })
  })
})
