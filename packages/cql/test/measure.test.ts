import { r4 } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { createContext, forRequest, type Progress } from 'fhir-ops/context'
import { evaluateMeasure, evaluateMeasurePart, mergeMeasureParts, toMeasureReport } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import type { MeasureReport } from 'fhir/r4.js'
import { describe, expect, it } from 'vitest'
import { cqlLanguage } from '../src/index.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()

const TEXT = `library Visits version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
parameter "Measurement Period" Interval<DateTime>
parameter Least Integer default 1
context Patient
define Everybody: true
define Women: Patient.gender = 'female'
define Visited: exists Visits
define Left: Patient.active = false
define Statuses: Visits V return V.status.value
define Visits: [Encounter] E where E.period during "Measurement Period"
define Gender: Patient.gender
define function Length(visit FHIR.Encounter): duration in minutes of visit.period
define Wrong: singleton from {1, 2}
define Days: Visits V return date from start of V.period
define SomeDays: Days D where month from D = 2
define function Zero(visit FHIR.Encounter): 0
define function Status(visit FHIR.Encounter): visit.status.value
define function "Same Day"(one FHIR.Encounter, other FHIR.Encounter): one.period same day as other.period
define Frequent: Count(Visits) >= Least
define LastVisit: Last(Visits)
define Facts: Tuple { age: AgeInYearsAt(start of "Measurement Period"), none: null as String }
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
  more: { readonly basis?: string; readonly stratifier?: readonly object[]; readonly [member: string]: unknown } = {},
): { resourceType: string; id: string } {
  const { basis: what = 'boolean', stratifier, ...others } = more
  const basis = { url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: what }
  const resource = {
    resourceType: 'Measure',
    id: 'm',
    status: 'active',
    library: ['http://x/Library/Visits|1'],
    scoring: concept(scoring),
    extension: [basis],
    group: [{ population: populations, ...(stratifier !== undefined && { stratifier }) }],
    ...others,
  }
  return resource
}

async function report(
  definition: { resourceType: string; id: string },
  more: object = {},
  others: readonly object[] = [],
): Promise<MeasureReport> {
  const ctx = createContext({
    ...release,
    types,
    convertUnit: unitConversion(),
    storage: memoryStorage([library, definition, ...PEOPLE, ...others], { indexer: release.indexer }),
  })
  const input = { measure: 'm', periodStart: '2020-01-01', periodEnd: '2020-12-31', ...more }
  return toMeasureReport(await evaluateMeasure(ctx, input, { languages: [cqlLanguage({ translator })] }))
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

it('lists what is no resource beside the subject that it is of, each equal value once', async () => {
  const [language, day] = ['text/cql-expression', (expression: string): object => ({ criteria: { language, expression } })]
  const starts = day('Visits.Visits V return all start of FHIRHelpers.ToInterval(V.period)')
  const same = day('{ @2020-03-01T11:00:00+01:00, @2020-02-01T12:00:00+02:00 }')
  const cohort = measure('cohort', [population('initial-population', '', starts)], { basis: 'dateTime' })
  const [list] = (await report(cohort, { reportType: 'subject-list' })).contained ?? []
  expect(list).toMatchObject({
    entry: [
      { item: { reference: 'Patient/a', display: '@2020-02-01T10:00:00+00:00' } },
      { item: { reference: 'Patient/a', display: '@2020-12-31T23:00:00+00:00' } },
      { item: { reference: 'Patient/c', display: '@2020-03-01T10:00:00+00:00' } },
    ],
  })
  const sides = [population('initial-population', '', starts), population('denominator', '', starts), population('numerator', '', same)]
  const proportion = await report(measure('proportion', sides, { basis: 'dateTime' }))
  expect(proportion.group?.[0]?.population?.map(({ count }) => count)).toEqual([3, 3, 2])
})

it.each([
  ['text/cql-identifier', 'Days', 'SomeDays'],
  ['text/cql-expression', 'Visits.Days D return D', 'Visits.Days D where month from D = 2'],
])('divides dates by a list of dates, which is one stratum, in %s', async (language, days, some) => {
  const criteria = (expression: string): object => ({ criteria: { language, expression } })
  const everyDay = { code: concept('initial-population'), ...criteria(days) }
  const { group } = await report(measure('cohort', [everyDay], { basis: 'date', stratifier: [criteria(some)] }))
  expect(group?.[0]?.population?.[0]?.count).toBe(3)
  expect(group?.[0]?.stratifier?.[0]?.stratum).toMatchObject([{ population: [{ count: 1 }] }])
})

it.each([
  ['2020-02-01T09:59:59Z', '2020-03-01T10:19:58Z', 1],
  ['2020-02-01T10:59:59+01:00', '2020-03-01T10:20:01.000Z', 2],
  ['2020-02-01T10:00:01.001Z', '2020-12-31T23:30:01Z', 2],
])('a period from %s to %s, given as dateTimes, is taken as it is', async (periodStart, periodEnd, count) => {
  const cohort = measure('cohort', [population('initial-population', 'Visits')], { basis: 'Encounter' })
  const answer = await report(cohort, { periodStart, periodEnd })
  expect(answer.period).toEqual({ start: periodStart, end: periodEnd })
  expect(answer.group?.[0]?.population?.[0]?.count).toBe(count)
})

it('refuses resources of another type than the basis', async () => {
  const cohort = measure('cohort', [population('initial-population', 'Visits')], { basis: 'Observation' })
  await expect(report(cohort)).rejects.toMatchObject({
    code: 'definition-invalid',
    message: expect.stringContaining("gives Encounter, while its basis is 'Observation'"),
  })
})

it.each(['boolean', undefined])('has no stratum of those who have none of the values, with basis %s', async (basis) => {
  const stratifier = [{ criteria: { language: 'text/cql-identifier', expression: 'Statuses' } }]
  const more = { stratifier, ...(basis === undefined && { extension: [] }) }
  const [group] = (await report(measure('cohort', [population('initial-population', 'Everybody')], more))).group ?? []
  const strata = group?.stratifier?.[0]?.stratum?.map(({ value, population: own }) => [value?.text, own?.[0]?.count])
  expect(strata).toEqual([['finished', 2]])
})

it('has no stratum at all where nobody has one of the values', async () => {
  const stratifier = [{ criteria: { language: 'text/cql-identifier', expression: 'Statuses' } }]
  const cohort = measure('cohort', [population('initial-population', 'Everybody')], { stratifier, extension: [] })
  const { group } = await report(cohort, { periodStart: '2018', periodEnd: '2018' })
  expect(group?.[0]?.stratifier).toEqual([{}])
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

const counted = ({ group = [] }: MeasureReport): readonly unknown[] =>
  group.flatMap(({ population: all = [] }) => all.map(({ count }) => count))

describe('a ratio of observations', () => {
  const sides = [
    population('initial-population', 'Visits'),
    population('denominator', 'Visits', { id: 'den' }),
    population('numerator', 'Visits', { id: 'num' }),
  ]
  const observation = (expression: string, of?: string): object =>
    population('measure-observation', expression, {
      extension: [
        { url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod', valueCode: 'sum' },
        ...(of === undefined
          ? []
          : [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-criteriaReference', valueString: of }]),
      ],
    })
  const ratio = (...observations: readonly object[]): { resourceType: string; id: string } =>
    measure('ratio', [...sides, ...observations], { basis: 'Encounter' })

  it.each([
    ['of numerator and denominator', [observation('Zero', 'num'), observation('Length', 'den')], [3, 3, 3, 3, 3], 0],
    ['with nothing to divide by', [observation('Length', 'num'), observation('Zero', 'den')], [3, 3, 3, 3, 3], undefined],
    ['of older Measures, which do not say of what they are', [observation('Length'), observation('Length')], [3, 3, 3, 0, 0], undefined],
  ])('%s', async (_, observations, counts, score) => {
    const answer = await report(ratio(...observations))
    expect(counted(answer)).toEqual(counts)
    expect(answer.group?.[0]?.measureScore?.value).toBe(score)
  })

  it.each([
    ['one', [observation('Length', 'num')]],
    ['both of one side', [observation('Length', 'num'), observation('Length', 'num')]],
    ['one that does not say of what it is', [observation('Length', 'num'), observation('Length')]],
    ['one of nothing', [observation('Length', 'num'), observation('Length', 'nothing')]],
    ['texts', [observation('Status', 'num'), observation('Length', 'den')]],
  ])('%s is refused', async (_, observations) => {
    await expect(report(ratio(...observations))).rejects.toMatchObject({ code: 'definition-invalid' })
  })
})

describe('observations in units', () => {
  const stay = (id: string, value: number, unit: string): { resourceType: string; id: string } => {
    const resource = {
      resourceType: 'Observation',
      id,
      status: 'final',
      code: { text: 'dose' },
      subject: { reference: 'Patient/a' },
      valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code: unit },
    }
    return resource
  }
  const dose = { criteria: { language: 'text/cql', expression: 'Dose' } }
  const doses = {
    ...library,
    id: 'doses',
    url: 'http://x/Library/Doses',
    name: 'Doses',
    content: [
      {
        contentType: 'text/cql',
        data: btoa(`library Doses version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
context Patient
define All: [Observation]
define Small: [Observation] O where (O.value as FHIR.Quantity) < 1 'g'
define function Dose(item FHIR.Observation): item.value as FHIR.Quantity
`),
      },
    ],
  }
  const aggregated = (method: string): object => ({
    ...dose,
    extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod', valueCode: method }],
  })
  const continuous = (method: string): { resourceType: string; id: string } =>
    measure(
      'continuous-variable',
      [
        population('initial-population', 'All'),
        population('measure-population', 'All'),
        population('measure-observation', '', aggregated(method)),
      ],
      { basis: 'Observation', library: ['http://x/Library/Doses'] },
    )

  it.each([
    ['sum', 1501],
    ['maximum', 1000],
    ['median', 500],
    ['average', 1501 / 3],
  ])('are converted, and the %s says in which', async (method, value) => {
    const answer = await report(continuous(method), {}, [doses, stay('o1', 1, 'g'), stay('o2', 500, 'mg'), stay('o3', 0.001, 'g')])
    const { measureScore } = answer.group?.[0] ?? {}
    expect([measureScore?.code, measureScore?.system]).toEqual(['g', 'http://unitsofmeasure.org'])
    expect(measureScore?.value).toBeCloseTo(value / 1000, 9)
  })

  it('are only counted as they are', async () => {
    const answer = await report(continuous('count'), {}, [doses, stay('o1', 1, 'g'), stay('o2', 5, 'mL')])
    expect(answer.group?.[0]?.measureScore).toEqual({ value: 2 })
  })

  it('that do not compare are refused by name', async () => {
    await expect(report(continuous('sum'), {}, [doses, stay('o1', 1, 'g'), stay('o2', 5, 'mL')])).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringContaining("'g' and in 'mL'"),
    })
  })

  it('are divided in one unit', async () => {
    const observation = (of: string): object =>
      population('measure-observation', '', {
        ...dose,
        extension: [
          { url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod', valueCode: 'sum' },
          { url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-criteriaReference', valueString: of },
        ],
      })
    const ratio = measure(
      'ratio',
      [
        population('initial-population', 'All'),
        population('denominator', 'All', { id: 'den' }),
        population('numerator', 'Small', { id: 'num' }),
        observation('num'),
        observation('den'),
      ],
      { basis: 'Observation', library: ['http://x/Library/Doses'] },
    )
    const answer = await report(ratio, {}, [doses, stay('o1', 1.5, 'g'), stay('o2', 500, 'mg')])
    expect(answer.group?.[0]?.measureScore).toEqual({ value: 0.25 })
  })
})

it('observes elements of FHIR that are numbers or quantities', async () => {
  const observed = (expression: string): { resourceType: string; id: string } =>
    measure('continuous-variable', [
      population('initial-population', 'Everybody'),
      population('measure-population', 'Everybody'),
      population('measure-observation', '', {
        criteria: { language: 'text/cql-expression', expression },
        extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod', valueCode: 'sum' }],
      }),
    ])
  const weight = {
    resourceType: 'Observation',
    id: 'w',
    status: 'final',
    code: { text: 'weight' },
    subject: { reference: 'Patient/a' },
    valueQuantity: { value: 61.5, code: 'kg' },
  }
  const born = patient('e', 'female', { multipleBirthInteger: 2 })
  const scores = []
  for (const expression of ['First([Observation]).value as FHIR.Quantity', 'Patient.multipleBirth as FHIR.integer'])
    scores.push(
      (await report(observed(expression), {}, [weight, born])).group?.map(({ population: own = [], measureScore }) => [
        own.at(-1)?.count,
        measureScore?.value,
      ]),
    )
  expect(scores).toEqual([[[1, 61.5]], [[1, 2]]])
})

describe('criteria of other languages', () => {
  const inLanguage = (language: string, expression: string): { resourceType: string; id: string } =>
    measure('cohort', [{ code: concept('initial-population'), criteria: { language, expression } }])

  it.each([
    ['text/cql-expression', "Patient.gender = 'female' and exists [Encounter]", 2],
    ['text/cql', 'Visits.Women and Visits.Left', 1],
    ['text/cql', 'Women', 3],
    ['text/cql-expression', 'exists ([Encounter] E where E.period during "Measurement Period")', 2],
    ['text/fhirpath', "Patient.gender = 'female'", 3],
    ['text/fhirpath', 'active.exists()', 1],
  ])('%s: %s', async (language, expression, expected) => {
    expect(counted(await report(inLanguage(language, expression)))).toEqual([expected])
  })

  it.each([
    ['text/cql-expression', "Patient.gender = 'male'", [2, 1]],
    ['text/cql-expression', "exists (Visits.Visits V where V.id = 'a1')", [2, 1]],
    ['text/fhirpath', 'active.exists()', [2, 1]],
  ])('stand beside names of definitions, each with its own value: %s: %s', async (language, expression, expected) => {
    const { group = [] } = await report(
      measure('cohort', [], {
        group: [
          { population: [population('initial-population', 'Visited')] },
          { population: [population('initial-population', '', { criteria: { language, expression } })] },
        ],
      }),
    )
    expect(group.flatMap(({ population: own = [] }) => own.map(({ count }) => count))).toEqual(expected)
  })

  it('FHIRPath without a value is in the stratum of null', async () => {
    const stratifier = [{ criteria: { language: 'text/fhirpath', expression: 'active' } }]
    const [group] = (await report(measure('cohort', [population('initial-population', 'Everybody')], { stratifier }))).group ?? []
    expect(group?.stratifier?.[0]?.stratum?.map(({ value, population: own }) => [value?.text, own?.[0]?.count])).toEqual([
      ['null', 3],
      ['false', 1],
    ])
  })

  it('FHIRPath divides the items that CQL counts', async () => {
    const stratifier = [{ criteria: { language: 'text/fhirpath', expression: 'subject.reference' } }]
    const visits = measure('cohort', [population('initial-population', 'Visits')], { basis: 'Encounter', stratifier })
    const [group] = (await report(visits)).group ?? []
    expect(group?.stratifier?.[0]?.stratum?.map(({ value, population: own }) => [value?.text, own?.[0]?.count])).toEqual([
      ['Patient/a', 2],
      ['Patient/c', 1],
    ])
  })

  it.each([
    ['CQL that is none', inLanguage('text/cql-expression', '1 +'), 'definition-invalid'],
    ['FHIRPath that is none', inLanguage('text/fhirpath', '1 +'), 'fhirpath-invalid'],
    ['an unknown language', inLanguage('text/x', '1'), 'not-supported'],
  ])('%s is refused', async (_, definition, code) => {
    await expect(report(definition)).rejects.toMatchObject({ code })
  })

  it('names the criterion of which CQL has errors, and the line within it', async () => {
    const inCql = (kind: string, expression: string): object => ({
      code: concept(kind),
      criteria: { language: 'text/cql-expression', expression },
    })
    const wrong = (numerator: string): ReturnType<typeof measure> =>
      measure('proportion', [inCql('initial-population', 'true'), inCql('denominator', 'true'), inCql('numerator', numerator)])
    const asked = (numerator: string): Promise<unknown> => report(wrong(numerator))
    const place = "Group 1, population 3 ('numerator')"
    const expression = ['Measure.group[0].population[2].criteria.expression']
    await expect(asked("true\n and Foo('x')")).rejects.toMatchObject({
      message: expect.stringMatching(/^The CQL has errors: Group 1, population 3 \('numerator'\): .*Foo.* \(line 2, column 6\)/),
      expression,
    })
    await expect(asked('true and')).rejects.toMatchObject({ message: expect.stringContaining(`${place}: Syntax error`), expression })
    const earlier = measure('proportion', [
      inCql('initial-population', 'true and'),
      inCql('denominator', 'true'),
      inCql('numerator', 'false'),
    ])
    await expect(report(earlier)).rejects.toMatchObject({ expression: ['Measure.group[0].population[0].criteria.expression'] })
  })

  it('names of definitions without a library, at the place of the library', async () => {
    const named = measure('cohort', [population('initial-population', 'Women')], { library: [] })
    await expect(report(named)).rejects.toMatchObject({ expression: ['Measure.library'] })
  })
})

describe('parameters of the library', () => {
  const frequent = measure('cohort', [population('initial-population', 'Frequent')])
  const given = (name: string): object => ({
    parameters: { resourceType: 'Parameters', parameter: [{ name, valueInteger: 2 }] },
  })

  it('have the values of the request, else their defaults', async () => {
    expect([counted(await report(frequent)), counted(await report(frequent, given('Least')))]).toEqual([[2], [1]])
  })

  it.each(['Most', 'Measurement Period'])('%s is refused', async (name) => {
    await expect(report(frequent, given(name))).rejects.toMatchObject({ code: 'parameter-invalid' })
  })

  it('are refused where criteria are searches', async () => {
    const searches = measure('cohort', [
      { code: concept('initial-population'), criteria: { language: 'application/x-fhir-query', expression: 'Patient' } },
    ])
    await expect(report(searches, given('Least'))).rejects.toMatchObject({ code: 'parameter-unsupported' })
  })
})

describe('supplemental data', () => {
  const criteria = (expression: string): object => ({ language: 'text/cql-identifier', expression })
  const definition = measure('cohort', [population('initial-population', 'Visited')], {
    supplementalData: [
      { id: 'sde-sex', code: { text: 'Sex' }, usage: [concept('supplemental-data')], criteria: criteria('Gender') },
      { id: 'sde-visits', usage: [concept('supplemental-data')], criteria: criteria('Visits') },
    ],
  })
  const DEQM = 'http://hl7.org/fhir/us/davinci-deqm/StructureDefinition'

  it('of which several have a resource names it for each', async () => {
    const ids = ['sde-visits', 'sde-same']
    const supplementalData = ids.map((id) => ({ id, usage: [concept('supplemental-data')], criteria: criteria('Visits') }))
    const twice = measure('cohort', [population('initial-population', 'Visited')], { supplementalData })
    const { evaluatedResource } = await report(twice, { subject: 'Patient/a' })
    const named = ids.map((valueString) => ({ url: `${DEQM}/extension-criteriaReference`, valueString }))
    expect(evaluatedResource).toEqual([
      { reference: 'Encounter/a1', extension: named },
      { reference: 'Encounter/a2', extension: named },
    ])
  })

  it('of one subject is what it is, beside what was evaluated', async () => {
    const answer = await report(definition, { subject: 'Patient/a' })
    expect(answer.contained).toMatchObject([
      { resourceType: 'Observation', id: 'supplement-1-1', code: { text: 'Sex' }, valueCodeableConcept: { text: 'female' } },
    ])
    expect(answer.extension).toMatchObject([
      {
        url: `${DEQM}/extension-supplementalData`,
        valueReference: { reference: '#supplement-1-1', extension: [{ valueString: 'sde-sex' }] },
      },
    ])
    expect(answer.evaluatedResource).toEqual([
      { reference: 'Encounter/a1', extension: [{ url: `${DEQM}/extension-criteriaReference`, valueString: 'sde-visits' }] },
      { reference: 'Encounter/a2', extension: [{ url: `${DEQM}/extension-criteriaReference`, valueString: 'sde-visits' }] },
    ])
  })

  it('of many subjects is how many of the initial population have each value', async () => {
    const { contained = [] } = await report(definition)
    expect(contained).toMatchObject([
      { code: { text: 'female' }, valueInteger: 1 },
      { code: { text: 'male' }, valueInteger: 1 },
    ])
  })
})

describe('supporting evidence', () => {
  const evidence = (valueExpression: object): object => ({
    url: 'http://hl7.org/fhir/StructureDefinition/cqf-supportingEvidenceDefinition',
    valueExpression: { language: 'text/cql-identifier', ...valueExpression },
  })
  const withEvidence = (...extension: readonly object[]): { resourceType: string; id: string } =>
    measure('cohort', [population('initial-population', 'Visited', { extension })])

  it('is beside the population in the report of one subject', async () => {
    const definition = withEvidence(
      evidence({ name: 'Last', expression: 'LastVisit', description: 'The last visit' }),
      evidence({ name: 'Facts', expression: 'Facts' }),
    )
    const [group] = (await report(definition, { subject: 'a' })).group ?? []
    expect(group?.population?.[0]?.extension).toMatchObject([
      {
        url: 'http://hl7.org/fhir/StructureDefinition/cqf-supportingEvidence',
        extension: [
          { url: 'name', valueCode: 'Last' },
          { url: 'description', valueString: 'The last visit' },
          { url: 'value', valueReference: { reference: 'Encounter/a2' } },
        ],
      },
      {
        extension: [
          { url: 'name', valueCode: 'Facts' },
          { url: 'value', extension: [{ url: 'age' }, { url: 'none', extension: [{ valueCode: 'unknown' }] }] },
        ],
      },
    ])
    expect(JSON.stringify(await report(definition))).not.toContain('supportingEvidence')
  })

  it.each([
    ['without a name', { expression: 'Facts' }, 'definition-required'],
    ['without an expression', { name: 'Facts' }, 'definition-required'],
    ['of a definition that does not exist', { name: 'Facts', expression: 'Nothing' }, 'definition-not-found'],
  ])('%s is refused', async (_, expression, code) => {
    await expect(report(withEvidence(evidence(expression)))).rejects.toMatchObject({ code })
  })
})

it('a subject that cannot be evaluated makes a report of an error, without counts', async () => {
  const answer = await report(measure('cohort', [population('initial-population', 'Wrong')]))
  expect(answer).toMatchObject({ status: 'error', contained: [{ resourceType: 'OperationOutcome' }] })
  expect(answer).not.toHaveProperty('group')
  const [outcome] = answer.contained ?? []
  expect(JSON.stringify(outcome)).toContain('Patient/a could not be evaluated')
})

describe('with `continue`', () => {
  const kinds = [population('initial-population', 'Everybody'), population('denominator', 'Women'), population('numerator', 'Left')]
  const failing = measure('proportion', [...kinds, population('numerator-exclusion', 'Wrong')], {
    supplementalData: [{ id: 'sex', criteria: { language: 'text/cql-identifier', expression: 'Gender' } }],
  })

  it('subjects that cannot be evaluated count nowhere, and the report names their number', async () => {
    const answer = await report(failing, { continue: true })
    expect([answer.status, answer.group?.[0]?.population?.map(({ count }) => count)]).toEqual(['complete', [3, 2, 0, 0]])
    const outcome = { resourceType: 'OperationOutcome', issue: [{ severity: 'warning' }, { severity: 'warning' }] }
    expect(answer.contained?.[0]).toMatchObject(outcome)
    expect(JSON.stringify(answer.contained?.[0])).toMatch(
      /1 subject could not be evaluated, which no count contains.*Patient\/b could not be evaluated/,
    )
    const sexes = JSON.stringify(answer.contained?.slice(1).map((one) => ({ ...one, id: undefined })))
    expect(sexes).toMatch(/"female".*"valueInteger":2.*"male".*"valueInteger":1/)
  })

  it('all that fail are counted, the first are named, and all others are evaluated', async () => {
    const others = Array.from({ length: 60 }, (_, at) => patient(`p${at}`, 'female', { active: at % 2 === 0 ? false : true }))
    const { group, contained } = await report(failing, { continue: true }, others)
    expect(group?.[0]?.population?.map(({ count }) => count)).toEqual([33, 32, 0, 0])
    expect(JSON.stringify(contained?.[0])).toContain('31 subjects could not be evaluated')
    expect(contained?.[0]).toMatchObject({ issue: { length: 21 } })
  })

  it('parts add up, also to those that failed', async () => {
    const storage = memoryStorage([library, failing, ...PEOPLE], { indexer: release.indexer })
    const ctx = createContext({ ...release, types, storage })
    const input = { measure: 'm', periodStart: '2020', periodEnd: '2020', continue: true }
    const options = { languages: [cqlLanguage({ translator })] }
    const parts = await Promise.all([1, 2, 3].map((part) => evaluateMeasurePart(ctx, input, { part, of: 3 }, options)))
    const whole = await mergeMeasureParts(ctx, input, JSON.parse(JSON.stringify(parts)), options)
    expect([whole.failed, whole.groups[0]?.populations.map(({ count }) => count)]).toEqual([1, [3, 2, 0, 0]])
  })

  it('the report of one subject is still one of an error, and searches are refused', async () => {
    expect((await report(failing, { continue: true, subject: 'Patient/b' })).status).toBe('error')
    const search = { ...population('initial-population', ''), criteria: { language: 'application/x-fhir-query', expression: 'Patient' } }
    await expect(report(measure('cohort', [search]), { continue: true })).rejects.toMatchObject({
      code: 'parameter-unsupported',
      expression: ['continue'],
    })
  })
})

it('who is not in a population is not asked for what lies within it', async () => {
  const kinds = [population('initial-population', 'Everybody'), population('denominator', 'Left'), population('numerator', 'Wrong')]
  const definition = measure('proportion', kinds)
  const [outcome] = (await report(definition)).contained ?? []
  expect(JSON.stringify(outcome)).toContain('Patient/b could not be evaluated')
  expect(JSON.stringify(outcome)).not.toContain('Patient/a could not be evaluated')
  const ofOne = await report(definition, { subject: 'Patient/a' })
  expect(ofOne.status).toBe('complete')
  expect(ofOne.group?.[0]?.population?.map(({ count }) => count)).toEqual([1, 0, 0])
})

it('a period of days is one where the library declares it so', async () => {
  const text = `library Days version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
parameter "Measurement Period" Interval<Date>
context Patient
define Until: end of "Measurement Period" = @2020-12-31 and Patient.gender = 'male'
`
  const days = {
    ...library,
    id: 'days',
    url: 'http://x/Library/Days',
    name: 'Days',
    content: [{ contentType: 'text/cql', data: btoa(text) }],
  }
  const definition = measure('cohort', [population('initial-population', 'Until')], { library: ['http://x/Library/Days'] })
  expect(counted(await report(definition, {}, [days]))).toEqual([1])
})

describe('a composite measure', () => {
  const women = { ...measure('proportion', PROPORTION), id: 'women', url: 'http://x/Measure/Women' }
  const visits = {
    ...measure(
      'ratio',
      [
        population('initial-population', 'Everybody Visits'),
        population('denominator', 'Visits'),
        population('numerator', 'Short Visits'),
        population('measure-observation', 'Length'),
      ].map((one) => ({ ...one })),
      { basis: 'Encounter' },
    ),
    id: 'visits',
    url: 'http://x/Measure/Visits',
    library: ['http://x/Library/Short'],
  }
  const short = {
    ...library,
    id: 'short',
    url: 'http://x/Library/Short',
    content: [
      {
        contentType: 'text/cql',
        data: btoa(`library Short
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
context Patient
define "Everybody Visits": [Encounter]
define Visits: [Encounter] E where start of E.period during Interval[@2020-01-01T00:00:00.0Z, @2020-12-31T23:59:59.0Z]
define "Short Visits": Visits E where duration in minutes of E.period < 15
define Male: Patient.gender = 'male'
define function Length(visit FHIR.Encounter): 1`),
      },
    ],
  }
  const composite = (method: string): { resourceType: string; id: string } =>
    measure('composite', [], {
      group: [],
      library: [],
      compositeScoring: concept(method),
      relatedArtifact: [women, visits].map(({ url: resource }) => ({ type: 'composed-of', resource })),
    })

  it('counts subjects who have any item that satisfies a criterion', async () => {
    const [group, , resources] = (await report(composite('opportunity'), {}, [women, visits, short])).group ?? []
    // Women without b, who left: a and d; a visited. Visits of 2020: a and c; a short one: a.
    expect(resources?.population?.map(({ count }) => count)).toEqual([3, 2, 1])
    expect(group?.measureScore?.value).toBe(2 / 4)
  })

  it('has supplemental data and failures of its components', async () => {
    const supplementalData = [{ id: 'sex', criteria: { language: 'text/cql-identifier', expression: 'Gender' } }]
    const told = { ...women, supplementalData }
    const { contained = [] } = await report(composite('all-or-nothing'), {}, [told, visits, short])
    expect(JSON.stringify(contained)).toContain('http://x/Measure/Women')
    const failing = {
      ...visits,
      group: [{ population: [...PROPORTION.slice(0, 3), population('numerator', 'Wrong')] }],
      library: ['http://x/Library/Visits|1'],
    }
    const failed = await report(composite('all-or-nothing'), {}, [women, { ...failing, scoring: concept('proportion') }, short])
    expect(failed.status).toBe('error')
    expect(failed.group).toBeUndefined()
  })
})

it('tells how far it is, and ends when it is cancelled', async () => {
  const definition = measure('proportion', PROPORTION)
  const ctx = createContext({ ...release, types, storage: memoryStorage([library, definition, ...PEOPLE], { indexer: release.indexer }) })
  const input = { measure: 'm', periodStart: '2020', periodEnd: '2020' }
  const options = { languages: [cqlLanguage({ translator })] }
  const told: Progress[] = []
  await evaluateMeasure(forRequest(ctx, { onProgress: (progress) => void told.push(progress) }), input, options)
  expect(told).toEqual([0, 1, 2, 3].map((done) => ({ done, total: 4, of: 'subjects' })))
  const stop = new AbortController()
  const onProgress = ({ done }: Progress): void => (done === 1 ? stop.abort() : undefined)
  const cancelled = evaluateMeasure(forRequest(ctx, { signal: stop.signal, onProgress }), input, options)
  await expect(cancelled).rejects.toMatchObject({ code: 'aborted' })
})

describe('what is refused', () => {
  it.each(['5', "{ 'a' }", 'Visits.Visits V return V.period'])(
    'what is not a resource where resources are counted: %s',
    async (expression) => {
      const criteria = { language: 'text/cql-expression', expression }
      const encounters = measure('cohort', [population('initial-population', '', { criteria })], { basis: 'Encounter' })
      await expect(report(encounters)).rejects.toMatchObject({ code: 'definition-invalid' })
    },
  )

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
    [
      'resources where dates are counted',
      measure('cohort', [population('initial-population', 'Visits')], { basis: 'date' }),
      'definition-invalid',
    ],
    [
      'an observation of subjects where resources are counted',
      measure(
        'continuous-variable',
        [
          population('initial-population', 'Visits'),
          population('measure-population', 'Visits'),
          population('measure-observation', 'Everybody', {
            extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod', valueCode: 'count' }],
          }),
        ],
        { basis: 'Encounter' },
      ),
      'definition-invalid',
    ],
    [
      'strata of resources where subjects are counted',
      measure('cohort', [population('initial-population', 'Women')], {
        stratifier: [{ criteria: { language: 'text/cql-identifier', expression: 'Visits' } }],
      }),
      'definition-invalid',
    ],
    [
      'an improvement notation that does not exist',
      measure('cohort', [population('initial-population', 'Women')], {
        improvementNotation: {
          coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-improvement-notation', code: 'neutral' }],
        },
      }),
      'definition-invalid',
    ],
    [
      'a missing library of a Measure without groups',
      { ...cohort('Women'), group: [], library: ['http://x/Library/None'] },
      'definition-not-found',
    ],
    ['a library that does not exist', { ...cohort('Women'), library: ['http://x/Library/None'] }, 'definition-not-found'],
    ['no library', { ...cohort('Women'), library: [] }, 'definition-not-found'],
    ['a scoring that does not exist', measure('guess', [population('initial-population', 'Women')]), 'not-supported'],
  ])('%s', async (_, definition, code) => {
    await expect(report(definition)).rejects.toMatchObject({ code })
  })

  it('a misspelt definition, with the one that it may mean', async () => {
    await expect(report(cohort('women'))).rejects.toThrow(/has no definition 'women'\. Did you mean 'Women'\?/)
  })

  it('a function of two operands, with how it is called', async () => {
    await expect(report(cohort('Same Day'))).rejects.toThrow(
      /names a function\. An expression can call it: \w+\."Same Day"\(one, other\)\.$/,
    )
  })

  it('names of definitions without a library, at the place of the library', async () => {
    const named = measure('cohort', [population('initial-population', 'Women')], { library: [] })
    await expect(report(named)).rejects.toMatchObject({ expression: ['Measure.library'] })
  })
})
