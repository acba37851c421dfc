import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { evaluateMeasure, toMeasureReport } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import type { MeasureReport } from 'fhir/r4.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCqlLanguage } from '../src/index.js'
import { createTranslator, type CqlTranslator } from '../src/translator/index.js'

const { types, ...release } = r4()
let translator: CqlTranslator
beforeAll(async () => {
  translator = await createTranslator({ model: types })
})

const TEXT = `library Visits version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
parameter "Measurement Period" Interval<DateTime>
context Patient
define Everybody: true
define Women: Patient.gender = 'female'
define Visited: exists Visits
define Left: Patient.active = false
define Visits: [Encounter] E where E.period during "Measurement Period"
define Gender: Patient.gender
define function Length(visit FHIR.Encounter): duration in minutes of visit.period
define Wrong: singleton from {1, 2}
`
const library = {
  resourceType: 'Library',
  id: 'visits',
  url: 'http://x/Library/Visits',
  name: 'Visits',
  version: '1',
  status: 'active',
  type: { coding: [{ code: 'logic-library' }] },
  content: [{ contentType: 'text/cql', data: btoa(TEXT) }],
}

const patient = (id: string, gender: string, more: object = {}): { resourceType: string; id: string } => {
  const resource = { resourceType: 'Patient', id, gender, ...more }
  return resource
}
const visit = (id: string, of: string, start: string, end: string): { resourceType: string; id: string } => {
  const resource = {
    resourceType: 'Encounter',
    id,
    status: 'finished',
    class: { code: 'AMB' },
    subject: { reference: `Patient/${of}` },
    period: { start, end },
  }
  return resource
}
const PEOPLE = [
  patient('a', 'female'),
  patient('b', 'female', { active: false }),
  patient('c', 'male'),
  patient('d', 'female'),
  visit('a1', 'a', '2020-02-01T10:00:00Z', '2020-02-01T10:10:00Z'),
  visit('a2', 'a', '2020-12-31T23:00:00Z', '2020-12-31T23:30:00Z'),
  visit('c1', 'c', '2020-03-01T10:00:00Z', '2020-03-01T10:20:00Z'),
  visit('d1', 'd', '2019-12-31T10:00:00Z', '2019-12-31T11:00:00Z'),
]

const concept = (code: string): object => ({ coding: [{ code }] })
const population = (kind: string, expression: string, more: object = {}): object => ({
  code: concept(kind),
  criteria: { language: 'text/cql-identifier', expression },
  ...more,
})

function measure(
  scoring: string,
  populations: readonly object[],
  more: { readonly basis?: string; readonly stratifier?: readonly object[] } = {},
): { resourceType: string; id: string } {
  const basis = { url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: more.basis ?? 'boolean' }
  const resource = {
    resourceType: 'Measure',
    id: 'm',
    status: 'active',
    library: ['http://x/Library/Visits|1'],
    scoring: concept(scoring),
    extension: [basis],
    group: [{ population: populations, ...(more.stratifier !== undefined && { stratifier: more.stratifier }) }],
  }
  return resource
}

async function report(definition: { resourceType: string; id: string }, more: object = {}): Promise<MeasureReport> {
  const ctx = createContext({ ...release, types, storage: memoryStorage([library, definition, ...PEOPLE], { indexer: release.indexer }) })
  const input = { measure: 'm', periodStart: '2020-01-01', periodEnd: '2020-12-31', ...more }
  return toMeasureReport(await evaluateMeasure(ctx, input, { languages: [createCqlLanguage({ translator })] }))
}

const PROPORTION = [
  population('initial-population', 'Everybody'),
  population('denominator', 'Women'),
  population('denominator-exclusion', 'Left'),
  population('numerator', 'Visited'),
]

describe('a proportion', () => {
  it('counts subjects and scores them', async () => {
    const [group] = (await report(measure('proportion', PROPORTION))).group ?? []
    expect(group?.population?.map(({ count }) => count)).toEqual([4, 3, 1, 1])
    expect(group?.measureScore?.value).toBe(1 / 2)
  })

  it('is the sum of the reports of single subjects', async () => {
    const sums = [0, 0, 0, 0]
    for (const id of ['a', 'b', 'c', 'd']) {
      const own = await report(measure('proportion', PROPORTION), { subject: `Patient/${id}` })
      expect(own.type).toBe('individual')
      own.group?.[0]?.population?.forEach(({ count = 0 }, index) => (sums[index] = (sums[index] ?? 0) + count))
    }
    expect(sums).toEqual([4, 3, 1, 1])
  })

  it('is divided by values', async () => {
    const stratifier = [{ criteria: { language: 'text/cql-identifier', expression: 'Gender' } }]
    const [group] = (await report(measure('proportion', PROPORTION, { stratifier }))).group ?? []
    const strata = group?.stratifier?.[0]?.stratum?.map(({ value, population: own }) => [value?.text, own?.map(({ count }) => count)])
    expect(strata).toEqual([
      ['female', [3, 3, 1, 1]],
      ['male', [1, 0, 0, 0]],
    ])
  })
})

it('counts resources, includes the last day of the period, and lists members', async () => {
  const cohort = measure('cohort', [population('initial-population', 'Visits')], { basis: 'Encounter' })
  const answer = await report(cohort, { reportType: 'subject-list' })
  expect(answer.group?.[0]?.population?.[0]?.count).toBe(3)
  const [list] = answer.contained ?? []
  expect(JSON.stringify(list)).toContain('Encounter/a2')
})

it('aggregates observations', async () => {
  const aggregate = { url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod', valueCode: 'median' }
  const continuous = measure(
    'continuous-variable',
    [
      population('initial-population', 'Visits'),
      population('measure-population', 'Visits', { id: 'mp' }),
      population('measure-observation', 'Length', { extension: [aggregate] }),
    ],
    { basis: 'Encounter' },
  )
  const [group] = (await report(continuous)).group ?? []
  expect([group?.population?.[2]?.count, group?.measureScore?.value]).toEqual([3, 20])
})

describe('what is refused', () => {
  const cohort = (expression: string): { resourceType: string; id: string } =>
    measure('cohort', [population('initial-population', expression)])
  it.each([
    ['a definition that does not exist', cohort('Nothing'), 'definition-not-found'],
    ['a list where subjects are counted', cohort('Visits'), 'definition-invalid'],
    [
      'a boolean where resources are counted',
      measure('cohort', [population('initial-population', 'Women')], { basis: 'Encounter' }),
      'definition-invalid',
    ],
    ['a run-time error', cohort('Wrong'), 'unprocessable'],
    ['a library that does not exist', { ...cohort('Women'), library: ['http://x/Library/None'] }, 'definition-not-found'],
    ['no library', { ...cohort('Women'), library: [] }, 'definition-not-found'],
    ['a scoring that does not exist', measure('guess', [population('initial-population', 'Women')]), 'not-supported'],
  ])('%s', async (_, definition, code) => {
    await expect(report(definition)).rejects.toMatchObject({ code })
  })
})
