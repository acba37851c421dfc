import { r4 } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { createContext } from 'fhir-ops/context'
import { evaluateMeasure, toMeasureReport } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import type { MeasureReport, MeasureReportGroup } from 'fhir/r4.js'
import { describe, expect, it } from 'vitest'
import { cqlLanguage } from '../src/index.js'
import { libraryWith } from './library.fixture.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()

const TEXT = `library Ward version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
parameter "Measurement Period" Interval<DateTime>
parameter Least Integer default 2
context Patient
define Everybody: true
define Adult: AgeInYearsAt(start of "Measurement Period") >= 18
define Unknown: null as Boolean
define Active: Patient.active
define Age: AgeInYearsAt(start of "Measurement Period")
define Gender: Patient.gender
define Visits: [Encounter]
define Finished: [Encounter] E where E.status = 'finished'
define None: [Encounter] E where false
define VisitCount: Count([Encounter])
define FirstVisit: First([Encounter] E sort by id.value)
define Weights: [Observation]
define During: [Encounter] E where E.period during "Measurement Period"
define Ending: [Encounter] E where end of E.period same as end of "Measurement Period"
define YearBefore: [Encounter] E where start of E.period same or after start of "Measurement Period" - 1 year
define function Minutes(visit FHIR.Encounter): duration in minutes of visit.period
define function One(visit FHIR.Encounter): 1
define function "At Least"(visit FHIR.Encounter): Least
`

type Json = Readonly<Record<string, unknown>> & { readonly resourceType: string; readonly id: string }

const patient = (id: string, more: object = {}): Json => {
  const resource = { resourceType: 'Patient', id, ...more }
  return resource
}
const visit = (id: string, of: string, status: string, period: object = {}): Json => {
  const resource = { resourceType: 'Encounter', id, status, class: { code: 'AMB' }, subject: { reference: `Patient/${of}` }, period }
  return resource
}
const WARD = [
  patient('a', { gender: 'female', birthDate: '1980-06-02', active: true }),
  patient('b', { gender: 'male', birthDate: '2000', active: false }),
  patient('c', { birthDate: '2015-01-01' }),
  patient('d'),
  visit('a1', 'a', 'finished', { start: '2024-01-01T00:00:00Z', end: '2024-01-01T00:30:00Z' }),
  visit('a2', 'a', 'planned', { start: '2024-12-31T23:00:00Z', end: '2024-12-31T23:59:59.999Z' }),
  visit('b1', 'b', 'finished', { start: '2023-01-01T00:00:00Z', end: '2023-01-01T00:45:00Z' }),
  { resourceType: 'Observation', id: 'a3', status: 'final', code: { text: 'weight' }, subject: { reference: 'Patient/a' } },
]

const concept = (code: string): object => ({ coding: [{ code }] })
const criteria = (expression: string, language = 'text/cql-identifier'): object => ({ criteria: { language, expression } })
const population = (kind: string, expression: string, more: object = {}): object => ({
  code: concept(kind),
  ...criteria(expression),
  ...more,
})
const extension = (name: string, value: object): object => ({
  url: `http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/${name}`,
  ...value,
})
const basis = (valueCode: string): object => extension('cqfm-populationBasis', { valueCode })
const observation = (expression: string, aggregate?: string): object =>
  population('measure-observation', expression, {
    extension: [
      extension('cqfm-criteriaReference', { valueString: 'mp' }),
      ...(aggregate === undefined ? [] : [extension('cqfm-aggregateMethod', { valueCode: aggregate })]),
    ],
  })

interface Asked {
  readonly scoring?: string
  readonly extension?: readonly object[]
  readonly population: readonly object[]
  readonly stratifier?: readonly object[]
}

/** The library as ELM that says nothing of types, as much of the published ELM. */
async function untypedLibrary(): Promise<Json> {
  const { elm } = await translator.translate(TEXT)
  const text = JSON.stringify(elm, (key, value: unknown) => (key.startsWith('resultType') ? undefined : value))
  return libraryWith('Ward', text, {}, 'application/elm+json')
}

async function report(
  { scoring = 'cohort', extension: own = [], ...group }: Asked,
  others: readonly Json[] = [],
  library: Json = libraryWith('Ward', TEXT),
): Promise<MeasureReport> {
  const definition = {
    resourceType: 'Measure',
    id: 'm',
    status: 'active',
    library: ['http://x/Library/Ward'],
    scoring: concept(scoring),
    extension: own,
    group: [group],
  }
  const ctx = createContext({
    ...release,
    types,
    convertUnit: unitConversion(),
    storage: memoryStorage([library, definition, ...WARD, ...others], { indexer: release.indexer }),
  })
  const input = { measure: 'm', periodStart: '2024', periodEnd: '2024' }
  return toMeasureReport(await evaluateMeasure(ctx, input, { languages: [cqlLanguage({ translator })] }))
}

async function reported(asked: Asked, others: readonly Json[] = []): Promise<MeasureReportGroup> {
  const [group = {}] = (await report(asked, others)).group ?? []
  return group
}

const counts = ({ population: own = [] }: Pick<MeasureReportGroup, 'population'>): readonly (number | undefined)[] =>
  own.map(({ count }) => count)
const strata = ({ stratifier = [] }: MeasureReportGroup): readonly unknown[] =>
  stratifier.map(({ stratum = [] }) => stratum.map(({ value, population: own }) => [value?.text, own?.[0]?.count]))

const EVERYBODY = [population('initial-population', 'Everybody')]
const VISITS = [population('initial-population', 'Visits')]

describe('a stratifier whose criterion gives what is counted has one stratum', () => {
  it.each<[string, readonly object[], readonly object[], string, number]>([
    ['a truth value of CQL', [basis('boolean')], EVERYBODY, 'Adult', 2],
    ['one that is null for everybody', [basis('boolean')], EVERYBODY, 'Unknown', 0],
    ['a truth value of FHIR', [basis('boolean')], EVERYBODY, 'Active', 1],
    ['a list of resources', [basis('Encounter')], VISITS, 'Finished', 2],
    ['an empty list', [basis('Encounter')], VISITS, 'None', 0],
    ['a single resource', [basis('Encounter')], VISITS, 'FirstVisit', 2],
  ])('%s', async (_, own, members, expression, expected) => {
    const asked = { extension: own, population: members, stratifier: [criteria(expression)] }
    expect(strata(await reported(asked))).toEqual([[[undefined, expected]]])
  })

  it('null is no value of a criterion, in ELM without types', async () => {
    const asked = { extension: [basis('boolean')], population: EVERYBODY, stratifier: [criteria('Adult')] }
    const [group = {}] = (await report(asked, [], await untypedLibrary())).group ?? []
    expect(strata(group)).toEqual([[[undefined, 2]]])
  })

  it('truth values are values where the Measure does not say that subjects are counted', async () => {
    expect(strata(await reported({ population: EVERYBODY, stratifier: [criteria('Adult')] }))).toEqual([
      [
        ['true', 2],
        ['false', 1],
        ['null', 1],
      ],
    ])
  })

  it('resources of another type than those that are counted are refused', async () => {
    const asked = { extension: [basis('Encounter')], population: VISITS, stratifier: [criteria('Weights')] }
    await expect(report(asked)).rejects.toMatchObject({
      code: 'definition-invalid',
      message: "Group 1, stratifier 1 gives Observation, while its basis is 'Encounter'.",
    })
  })
})

it('a truth value of FHIR says whether a subject is in a population', async () => {
  expect(counts(await reported({ extension: [basis('boolean')], population: [population('initial-population', 'Active')] }))).toEqual([1])
})

describe('numbers that are not known exactly', () => {
  it('have a stratum of their own, and do not make the others impossible', async () => {
    const stratifier = [{ component: [{ code: { text: 'age' }, ...criteria('Age') }] }]
    const { stratifier: [own] = [] } = await reported({ extension: [basis('boolean')], population: EVERYBODY, stratifier })
    expect(own?.stratum?.map(({ component }) => component?.[0]?.value.text)).toEqual(['43', 'Interval[23, 24]', '9', 'null'])
  })

  it('are no observations: the report names the subject', async () => {
    const populations = [...VISITS, population('measure-population', 'Finished', { id: 'mp' }), observation('Minutes', 'sum')]
    const asked = { scoring: 'continuous-variable', extension: [basis('Encounter')], population: populations }
    const { status, group, contained } = await report(asked, [visit('c1', 'c', 'finished', { start: '2024-03-01', end: '2024-03-02' })])
    expect([status, group]).toEqual(['error', undefined])
    expect(JSON.stringify(contained)).toMatch(/Patient\/c could not be evaluated: .* to be in Interval\[0, 2879\]/)
  })
})

describe('the score of observations', () => {
  const cv = (expression: string, members: string, aggregate?: string): Asked => ({
    scoring: 'continuous-variable',
    extension: [basis('Encounter')],
    population: [...VISITS, population('measure-population', members, { id: 'mp' }), observation(expression, aggregate)],
  })

  it.each<[string, string, number | undefined]>([
    ['sum', 'Visits', 3],
    ['sum', 'None', undefined],
    ['average', 'None', undefined],
    ['median', 'None', undefined],
    ['maximum', 'None', undefined],
    ['count', 'None', 0],
  ])('%s of %s', async (aggregate, members, expected) => {
    expect((await reported(cv('One', members, aggregate))).measureScore?.value).toBe(expected)
  })

  it('needs an aggregate method', async () => {
    await expect(report(cv('One', 'Visits'))).rejects.toMatchObject({
      code: 'definition-required',
      expression: ['Measure.group[0].population[2]'],
    })
  })
})

describe('a population', () => {
  it('is not a function of an item, which has no value for a subject', async () => {
    await expect(report({ population: [population('initial-population', 'Minutes')] })).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringContaining("Group 1, population 1 ('initial-population') names a function with an operand"),
      expression: ['Measure.group[0].population[0].criteria.expression'],
    })
  })
})

describe('a function of other resources than those that are counted is refused', () => {
  it.each<[string, string, object]>([
    ['of a stratifier', 'stratifier[0]', { extension: [basis('boolean')], population: EVERYBODY, stratifier: [criteria('Minutes')] }],
    [
      'of an observation',
      'population[2]',
      {
        scoring: 'continuous-variable',
        extension: [basis('Observation')],
        population: [
          population('initial-population', 'Weights'),
          population('measure-population', 'Weights', { id: 'mp' }),
          observation('Minutes', 'sum'),
        ],
      },
    ],
  ])('%s', async (_, place, group) => {
    await expect(report({ population: [], ...group })).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringContaining('names a function of Encounter, while'),
      expression: [`Measure.group[0].${place}.criteria.expression`],
    })
  })
})

describe('a basis', () => {
  it('is a type, or the type of a DataRequirement', async () => {
    const ofVisits = extension('cqm-populationBasis', { valueDataRequirement: { type: 'Encounter' } })
    expect(counts(await reported({ extension: [ofVisits], population: VISITS }))).toEqual([3])
    await expect(report({ extension: [ofVisits], population: EVERYBODY })).rejects.toMatchObject({ code: 'definition-invalid' })
  })

  it('has no filters of its own', async () => {
    const codeFilter = [{ path: 'type', valueSet: 'http://x/vs' }]
    const filtered = extension('cqm-populationBasis', { valueDataRequirement: { type: 'Encounter', codeFilter } })
    await expect(report({ extension: [filtered], population: VISITS })).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining('codeFilter'),
    })
  })

  it('of an initial population is that of what derives from it, of each side of a ratio', async () => {
    const from = (id: string): object => extension('cqfm-criteriaReference', { valueString: id })
    const sum = extension('cqfm-aggregateMethod', { valueCode: 'sum' })
    const group = await reported(
      {
        scoring: 'ratio',
        extension: [basis('Encounter')],
        population: [
          population('initial-population', 'Everybody', { id: 'people', extension: [basis('boolean')] }),
          population('initial-population', 'Visits', { id: 'visits' }),
          population('denominator', 'Everybody', { id: 'den', extension: [from('people')] }),
          population('denominator-exclusion', 'Active'),
          population('numerator', 'Finished', { id: 'num', extension: [from('visits')] }),
          population('measure-observation', 'One', { extension: [from('num'), sum] }),
          population('measure-observation', 'VisitCount', {
            extension: [from('den'), extension('cqfm-aggregateMethod', { valueCode: 'count' })],
          }),
        ],
      },
      [patient('e', { birthDate: '1990-01-01' })],
    )
    expect(counts(group)).toEqual([5, 3, 5, 1, 2, 2, 4])
  })
})

describe('the measurement period', () => {
  it.each<[string, number]>([
    ['During', 2],
    ['Ending', 1],
    ['YearBefore', 3],
  ])('has what begins and ends with it, to the second or the millisecond: %s', async (expression, expected) => {
    const asked = { extension: [basis('Encounter')], population: [population('initial-population', expression)] }
    expect(counts(await reported(asked))).toEqual([expected])
  })
})
