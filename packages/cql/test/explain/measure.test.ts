import { evaluateMeasure, type EvaluateMeasureResult } from 'fhir-ops/evaluate'
import { describe, expect, it } from 'vitest'
import { cqlLanguage } from '../../src/index.js'
import type { CqlTranslator } from '../../src/translator/index.js'
import {
  condition,
  contextWith,
  measureOf,
  observation,
  patient,
  populationOf,
  procedure,
  visit,
  type Resource,
} from './measure.fixture.js'
import { translator } from '../translator.fixture.js'

async function explained(resources: readonly Resource[], subject = 'Patient/p', by = translator): Promise<EvaluateMeasureResult> {
  const input = { measure: 'm', periodStart: '2024-01-01', periodEnd: '2024-12-31', subject, explain: true }
  return await evaluateMeasure(contextWith(...resources), input, { languages: [cqlLanguage({ translator: by })] })
}

const reasons = async (...resources: readonly Resource[]): Promise<readonly string[]> =>
  (await explained(resources)).explanation?.criteria?.map(({ reason }) => reason) ?? []

const DIABETIC = [patient('p'), visit('v', 'p', '2024-03-01'), condition('c', 'p')]
const INITIAL =
  'Initial population is true because `Common.Adult and exists Visits` is true: `AgeInYearsAt(@2024-01-01) >= 18` is true: `AgeInYearsAt(@2024-01-01)` is 63; ' +
  '`[Encounter] E where E.status = \'finished\' and E.period during "Measurement Period"` gives 1 item: Encounter/v.'
const DENOMINATOR =
  'Denominator is true because `exists [Condition: "Diabetes codes"]` is true: `[Condition: "Diabetes codes"]` finds 1 Condition: Condition/c.'
const EXCLUSION =
  'Denominator exclusion is false because `exists [Procedure: "Hospice care"]` is false: there is no Procedure of the subject.'
const OUT = (population: string, outside: string): string => `${population} does not apply because the subject is not in the ${outside}.`

const HIGH = { valueQuantity: { value: 9.4, unit: '%', system: 'http://unitsofmeasure.org', code: '%' } }

const CASES: readonly (readonly [title: string, resources: readonly Resource[], expected: readonly string[]])[] = [
  [
    'what holds together, for one who is in all',
    [...DIABETIC, observation('o', 'p', '2024-05-01T08:00:00Z')],
    [
      INITIAL,
      DENOMINATOR,
      EXCLUSION,
      "Numerator is true because `exists \"HbA1c in period\" and (Latest.value as FHIR.Quantity) < 8 '%'` is true: `[Observation: \"HbA1c\"] O where O.status in { 'final', 'amended' } and O.effective during \"Measurement Period\"` gives 1 item: Observation/o; `(Latest.value as FHIR.Quantity) < 8 '%'` is true: `(Latest.value as FHIR.Quantity)` is 7.1 %.",
    ],
  ],
  [
    'the date that is outside of the period, and by how much',
    [...DIABETIC, observation('o1', 'p', '2023-12-30'), observation('o2', 'p', '2025-03-01')],
    [
      INITIAL,
      DENOMINATOR,
      EXCLUSION,
      'Numerator is false because `exists "HbA1c in period"` is false: 2 Observations of `[Observation: "HbA1c"]`, none meets `O.effective during "Measurement Period"`; nearest is Observation/o1: 2023-12-30 is 2 days before 2024-01-01..2024-12-31.',
    ],
  ],
  [
    'the status that is not accepted',
    [...DIABETIC, observation('o1', 'p', '2024-02-01', { status: 'preliminary' })],
    [
      INITIAL,
      DENOMINATOR,
      EXCLUSION,
      "Numerator is false because `exists \"HbA1c in period\"` is false: 1 Observation of `[Observation: \"HbA1c\"]`, none meets `O.status in { 'final', 'amended' }`; nearest is Observation/o1: `O.status` is 'preliminary'.",
    ],
  ],
  [
    'what lacks one thing before what lacks two',
    [
      ...DIABETIC,
      observation('o1', 'p', '2020-02-01', { status: 'preliminary' }),
      observation('o2', 'p', '2024-02-01', { status: 'preliminary' }),
    ],
    [
      INITIAL,
      DENOMINATOR,
      EXCLUSION,
      "Numerator is false because `exists \"HbA1c in period\"` is false: 2 Observations of `[Observation: \"HbA1c\"]`, none meets `O.status in { 'final', 'amended' }`; nearest is Observation/o2: `O.status` is 'preliminary'.",
    ],
  ],
  [
    'the code that is not in the value set',
    [patient('p'), visit('v', 'p', '2024-03-01'), condition('c', 'p', '73211009')],
    [
      INITIAL,
      'Denominator is false because `exists [Condition: "Diabetes codes"]` is false: 1 Condition, none with a code of "Diabetes codes"; Condition/c has the code http://snomed.info/sct|73211009, which is not in "Diabetes codes".',
      OUT('Denominator exclusion', 'denominator'),
      OUT('Numerator', 'denominator'),
    ],
  ],
  [
    'the value that is too high',
    [...DIABETIC, observation('o', 'p', '2024-05-01', HIGH)],
    [
      INITIAL,
      DENOMINATOR,
      EXCLUSION,
      "Numerator is false because `(Latest.value as FHIR.Quantity) < 8 '%'` is false: 9.4 % is 1.4 % above 8.0 %.",
    ],
  ],
  [
    'what is absent',
    [...DIABETIC, observation('o', 'p', '2024-05-01', { valueQuantity: undefined })],
    [
      INITIAL,
      DENOMINATOR,
      EXCLUSION,
      "Numerator is unknown because `(Latest.value as FHIR.Quantity) < 8 '%'` is null: `(Latest.value as FHIR.Quantity)` is absent (null): `Latest.value` is absent.",
    ],
  ],
  [
    'the population that another lies within',
    [patient('p', '2010-01-01')],
    [
      'Initial population is false because `Common.Adult` is false: `AgeInYearsAt(@2024-01-01) >= 18` is false: 14 is 4 below 18.',
      OUT('Denominator', 'initial population'),
      OUT('Denominator exclusion', 'initial population'),
      OUT('Numerator', 'initial population'),
    ],
  ],
  [
    'the period that begins too early',
    [patient('p'), { ...visit('v', 'p', '2024-03-01'), period: { start: '2023', end: '2024-03-01' } }],
    [
      'Initial population is false because `exists Visits` is false: 1 Encounter of `[Encounter]`, none meets `E.period during "Measurement Period"`; nearest is Encounter/v: 2023..2024-03-01 begins 365 days before 2024-01-01..2024-12-31.',
      OUT('Denominator', 'initial population'),
      OUT('Denominator exclusion', 'initial population'),
      OUT('Numerator', 'initial population'),
    ],
  ],
  [
    'the exclusion',
    [...DIABETIC, procedure('h', 'p', '385763009'), observation('o', 'p', '2024-05-01T08:00:00Z')],
    [
      INITIAL,
      DENOMINATOR,
      'Denominator exclusion is true because `exists [Procedure: "Hospice care"]` is true: `[Procedure: "Hospice care"]` finds 1 Procedure: Procedure/h.',
      'Numerator is false because the subject is in the denominator exclusion.',
    ],
  ],
]

/** As other translators may write it: the dates of encounters as a range of the retrieve. */
const RANGING: CqlTranslator = {
  translate: async (text, includes) => {
    const { elm, problems } = await translator.translate(text, includes)
    const moved = JSON.stringify(elm, (_, node) => {
      const [source] = node?.type === 'Query' ? node.source : []
      if (source?.expression.dataType?.endsWith('}Encounter') !== true) return node
      const [status, period] = node.where.operand
      const retrieve = { ...source.expression, dateProperty: 'period', dateRange: period.operand[1] }
      return { ...node, where: status, source: [{ ...source, expression: retrieve }] }
    })
    return { elm: JSON.parse(moved), problems }
  },
}

describe('the reason of a population is', () => {
  it('that nothing is within the range of a retrieve', async () => {
    const resources = [patient('p'), { ...visit('v', 'p', '2024-03-01'), period: { start: '2023', end: '2024-03-01' } }]
    const { explanation } = await explained(resources, 'Patient/p', RANGING)
    expect(explanation?.criteria?.[0]?.reason).toBe(
      'Initial population is false because `exists Visits` is false: 1 Encounter, none within 2024-01-01..2024-12-31; nearest is Encounter/v: 2023..2024-03-01 begins 365 days before 2024-01-01..2024-12-31.',
    )
  })

  for (const [title, resources, expected] of CASES)
    it(title, async () => {
      expect(await reasons(...resources)).toEqual(expected)
    })
})

it('tells the nearest miss, the steps and what was read as data', async () => {
  const { explanation } = await explained([...DIABETIC, observation('o1', 'p', '2023-12-30'), observation('o2', 'p', '2025-03-01')])
  const numerator = explanation?.criteria?.[3]
  expect(numerator).toMatchObject({
    name: 'numerator',
    definition: 'http://x/Measure/m|3',
    path: 'Measure.group[0].population[3]',
    expression: 'Numerator',
    result: 'false',
    nearest: [
      {
        resource: 'Observation/o1',
        missedBy: 'date',
        clause: 'O.effective during "Measurement Period"',
        locator: '16:48-16:86',
        distance: { value: 2, unit: 'days' },
      },
      { resource: 'Observation/o2', missedBy: 'date', distance: { value: 60, unit: 'days' } },
    ],
    evaluated: [{ clause: '[Observation: "HbA1c"]', library: 'Diabetes|1.2', resources: ['Observation/o1', 'Observation/o2'], total: 2 }],
  })
  expect(numerator?.steps.map(({ kind, result }) => [kind, result])).toEqual([
    ['clause', 'false'],
    ['clause', 'false'],
    ['definition', 'an empty list'],
    ['query', 'an empty list'],
  ])
  const told = explanation?.steps.filter(({ kind }) => kind === 'criterion')
  expect(told?.map(({ outcome }) => outcome)).toEqual(['holds', 'holds', 'fails', 'fails'])
})

it('marks each clause of the source, and tells what was not evaluated', async () => {
  const { explanation } = await explained([...DIABETIC, observation('o1', 'p', '2023-12-30')])
  const definitions = explanation?.source?.libraries.flatMap(({ library, definitions }) => definitions.map((one) => ({ ...one, library })))
  expect(definitions?.map(({ library, name }) => `${library} ${name}`)).toEqual([
    'Diabetes|1.2 Initial Population',
    'Diabetes|1.2 Visits',
    'Diabetes|1.2 Denominator',
    'Diabetes|1.2 Exclusion',
    'Diabetes|1.2 HbA1c in period',
    'Diabetes|1.2 Latest',
    'Diabetes|1.2 Numerator',
    'Diabetes|1.2 Never used',
    'Common|1 Adult',
  ])
  const numerator = definitions?.find(({ name }) => name === 'Numerator')
  const marks = numerator?.source.map(({ text, clause }) => {
    const counts = numerator.clauses.find(({ id }) => id === clause)?.counts
    return [text, counts === undefined ? '' : Object.entries(counts).find(([, count]) => count === 1)?.[0]]
  })
  expect(marks).toEqual([
    ['define "Numerator": ', ''],
    ['exists ', 'false'],
    ['"HbA1c in period"', 'false'],
    [' and ', 'false'],
    ['(', 'notEvaluated'],
    ['Latest', 'notEvaluated'],
    ['.value', 'notEvaluated'],
    [' as FHIR.Quantity)', 'notEvaluated'],
    [" < 8 '%'", 'notEvaluated'],
  ])
})

it('explains criteria in FHIRPath by the part that does not hold', async () => {
  const path = populationOf('denominator', "Patient.gender = 'female' and Patient.birthDate < @1950-01-01", 'text/fhirpath')
  const measure = measureOf([
    populationOf('initial-population', 'true', 'text/cql-expression'),
    path,
    populationOf('numerator', 'Numerator'),
  ])
  expect(await reasons(measure, patient('p', '1960-05-01', { gender: 'female' }))).toEqual([
    'Initial population is true because `true` is true.',
    'Denominator is false because `Patient.birthDate < @1950-01-01` is false.',
    'Numerator does not apply because the subject is not in the denominator.',
  ])
})
