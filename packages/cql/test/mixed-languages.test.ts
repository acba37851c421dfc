import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { dataRequirements, evaluateMeasure, evaluateMeasurePart, mergeMeasureParts, toMeasureReport } from 'fhir-ops/evaluate'
import type { CriteriaLanguage, EvaluateMeasureInput } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import type { MeasureReport } from 'fhir/r4.js'
import { describe, expect, it } from 'vitest'
import { cqlLanguage } from '../src/index.js'
import { libraryWith } from './library.fixture.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()
const languages: readonly CriteriaLanguage[] = [cqlLanguage({ translator })]

const TEXT = `library Ward version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
parameter Sought String default 'female'
context Patient
define Everybody: true
define Female: Patient.gender = Sought
define Gender: Patient.gender
define Visits: [Encounter]
define Finished: [Encounter] E where E.status = 'finished'
define Visited: exists Visits
define function Status(visit FHIR.Encounter): visit.status
define function One(visit FHIR.Encounter): 1
define Failing: Message(true, Patient.gender = 'male', 'x', 'Error', 'refused')
`

type Json = Readonly<Record<string, unknown>> & { readonly resourceType: string; readonly id: string }
const stored = (resourceType: string, id: string, more: object): Json => ({ resourceType, id, ...more })
const visit = (id: string, of: string, status: string): Json =>
  stored('Encounter', id, { status, class: { code: 'AMB' }, subject: { reference: `Patient/${of}` } })
const WARD = [
  stored('Patient', 'a', { gender: 'female', active: true }),
  stored('Patient', 'b', { gender: 'male', active: true }),
  stored('Patient', 'c', { gender: 'female' }),
  visit('a1', 'a', 'finished'),
  visit('a2', 'a', 'planned'),
  visit('b1', 'b', 'planned'),
  visit('c1', 'c', 'finished'),
]

const criteria = (expression: string, language = 'text/cql-identifier'): object => ({ criteria: { language, expression } })
const inCql = (kind: string, expression: string, more: object = {}): object => ({
  code: { coding: [{ code: kind }] },
  ...criteria(expression),
  ...more,
})
const search = (kind: string, expression: string): object => ({ ...inCql(kind, ''), ...criteria(expression, 'application/x-fhir-query') })
const basisOf = (valueCode: string): object => ({
  extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode }],
})
const measure = (group: object, more: object = {}): Json =>
  stored('Measure', 'm', { status: 'active', library: ['http://x/Library/Ward'], group: [group], ...more })
const scoring = (code: string): object => ({ scoring: { coding: [{ code }] } })

const contextOf = (definition: Json): ReturnType<typeof createContext> =>
  createContext({
    ...release,
    types,
    storage: memoryStorage([libraryWith('Ward', TEXT), definition, ...WARD], { indexer: release.indexer }),
  })
const input = { measure: 'm', periodStart: '2024', periodEnd: '2024' }
const report = async (definition: Json, asked: Partial<EvaluateMeasureInput> = {}): Promise<MeasureReport> =>
  toMeasureReport(await evaluateMeasure(contextOf(definition), { ...input, ...asked }, { languages }))
const countsOf = ({ group = [] }: MeasureReport): readonly unknown[] =>
  group.map(({ population = [] }) => population.map(({ count }) => count))
const strataOf = ({ group = [] }: MeasureReport): readonly unknown[] =>
  (group[0]?.stratifier ?? []).map(({ stratum = [] }) =>
    stratum.map(({ value, population = [] }) => [value?.text, population.map(({ count }) => count).join(' ')]),
  )

const subjects = {
  ...basisOf('boolean'),
  population: [search('initial-population', 'Patient?active=true'), inCql('denominator', 'Everybody'), inCql('numerator', 'Female')],
}
const visits = {
  ...basisOf('Encounter'),
  population: [
    inCql('initial-population', 'Visits'),
    search('denominator', 'Encounter?status=planned,finished'),
    inCql('numerator', 'Finished'),
  ],
}

describe('a group with criteria in CQL and criteria that are searches', () => {
  it.each<[string, object, readonly number[], number]>([
    ['subjects', subjects, [2, 2, 1], 0.5],
    ['resources', visits, [4, 4, 2], 0.5],
    [
      'exclusions',
      {
        ...visits,
        population: [...visits.population, search('denominator-exclusion', 'Encounter?_id=a1'), inCql('denominator-exception', 'Visits')],
      },
      [4, 4, 1, 1, 2],
      1,
    ],
  ])('counts %s as one in a single language would', async (_, group, counts, score) => {
    const answer = await report(measure(group, scoring('proportion')))
    expect([countsOf(answer), answer.group?.[0]?.measureScore?.value]).toEqual([[counts], score])
  })

  it('lists members, of one subject also what was read, and explains each criterion in its language', async () => {
    const listing = { ...input, reportType: 'subject-list' } as const
    const { groups } = await evaluateMeasure(contextOf(measure(subjects, scoring('proportion'))), listing, { languages })
    expect(groups[0]?.populations.map(({ members }) => members)).toEqual([
      ['Patient/a', 'Patient/b'],
      ['Patient/a', 'Patient/b'],
      ['Patient/a'],
    ])
    const asked = { ...input, subject: 'Patient/c', explain: true }
    const result = await evaluateMeasure(
      contextOf(measure({ ...subjects, stratifier: [criteria('Gender')] }, scoring('proportion'))),
      asked,
      { languages },
    )
    expect(countsOf(toMeasureReport(result))).toEqual([[0, 0, 0]])
    expect(result.explanation?.criteria?.map(({ path, result: own }) => [path, own])).toEqual([
      ['Measure.group[0].population[0]', 'false'],
      ['Measure.group[0].population[1]', 'true'],
      ['Measure.group[0].population[2]', 'true'],
    ])
  })

  it('takes parameters of the library', async () => {
    const parameters = { resourceType: 'Parameters', parameter: [{ name: 'Sought', valueString: 'male' }] }
    expect(countsOf(await report(measure(subjects), { parameters }))).toEqual([[2, 3, 1]])
  })

  it('is divided by values, sets and combinations of them', async () => {
    const stratifier = [
      criteria('Gender'),
      criteria('Female'),
      criteria('Patient?gender=male', 'application/x-fhir-query'),
      criteria('gender', 'text/fhirpath'),
    ]
    expect(strataOf(await report(measure({ ...subjects, stratifier }, scoring('proportion'))))).toEqual([
      [
        ['female', '1 1 1'],
        ['male', '1 1 0'],
      ],
      [[undefined, '1 1 1']],
      [[undefined, '1 1 0']],
      [
        ['female', '1 1 1'],
        ['male', '1 1 0'],
      ],
    ])
    expect(strataOf(await report(measure({ ...visits, stratifier: [criteria('Status')] }, scoring('proportion'))))).toEqual([
      [
        ['finished', '2 2 2'],
        ['planned', '2 2 0'],
      ],
    ])
  })

  it('is evaluated in parts as a whole, and its data requirements are those of all its languages', async () => {
    const definition = measure(subjects, scoring('proportion'))
    const ctx = contextOf(definition)
    const parts = await Promise.all([1, 2].map((part) => evaluateMeasurePart(ctx, input, { part, of: 2 }, { languages })))
    expect(countsOf(toMeasureReport(await mergeMeasureParts(ctx, input, parts, { languages })))).toEqual(countsOf(await report(definition)))
    const { data } = await dataRequirements(contextOf(measure(visits, scoring('proportion'))), input, { languages })
    expect(new Set(data.map(({ type }) => type))).toEqual(new Set(['Encounter', 'Patient']))
  })

  it('reports subjects whose evaluation fails', async () => {
    const group = {
      ...subjects,
      population: [search('initial-population', 'Patient'), inCql('denominator', 'Everybody'), inCql('numerator', 'Failing')],
    }
    const { status, contained } = await report(measure(group, scoring('proportion')))
    expect([status, JSON.stringify(contained)]).toEqual(['error', expect.stringContaining('Patient/b could not be evaluated')])
  })

  it.each<[string, Json, string, string]>([
    ['without a basis', measure({ population: subjects.population }, scoring('proportion')), 'definition-required', 'Measure.group[0]'],
    [
      'with observations',
      measure(
        {
          ...basisOf('Encounter'),
          population: [
            search('initial-population', 'Encounter'),
            inCql('measure-population', 'Visits'),
            inCql('measure-observation', 'One'),
          ],
        },
        scoring('continuous-variable'),
      ),
      'not-supported',
      'Measure.group[0].population[2]',
    ],
    [
      'with a stratifier that cannot know the members',
      measure({ ...visits, population: [search('initial-population', 'Encounter')], stratifier: [criteria('Status')] }, scoring('cohort')),
      'not-supported',
      'Measure.group[0].stratifier[0].criteria.language',
    ],
    [
      'with supplemental data',
      measure(subjects, { supplementalData: [{ usage: [{ coding: [{ code: 'supplemental-data' }] }], ...criteria('Gender') }] }),
      'not-supported',
      'Measure.supplementalData[0]',
    ],
    [
      'with supplemental data beside a group of searches',
      measure(subjects, {
        group: [{ population: [search('initial-population', 'Patient')] }, { population: [inCql('initial-population', 'Everybody')] }],
        supplementalData: [{ usage: [{ coding: [{ code: 'supplemental-data' }] }], ...criteria('Gender') }],
      }),
      'not-supported',
      'Measure.supplementalData[0]',
    ],
    [
      'in an unknown language',
      measure({ population: [inCql('initial-population', 'Everybody', criteria('x', 'text/x'))] }),
      'not-supported',
      'Measure.group[0].population[0].criteria.language',
    ],
  ])('%s is refused', async (_, definition, code, path) => {
    await expect(report(definition)).rejects.toMatchObject({ code, expression: [path] })
  })
})
