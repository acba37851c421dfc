import { r4 } from '@fhir-ops/r4'
import { createContext, forRequest, type Progress } from 'fhir-ops/context'
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
define Places: [Location]
define Male: Patient.gender = 'male'
define Visits: [Encounter]
define Finished: [Encounter] E where E.status = 'finished'
define Visited: exists Visits
define function Status(visit FHIR.Encounter): visit.status
define function Length(visit FHIR.Encounter): if visit.status = 'planned' then null else Count([Encounter]) * 10
define Age: if Patient.gender = 'female' then 20 else 40
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
  stored('Location', 'l', { status: 'active' }),
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

const contextOf = (definition: Json, others: readonly Json[] = []): ReturnType<typeof createContext> =>
  createContext({
    ...release,
    types,
    storage: memoryStorage([libraryWith('Ward', TEXT), definition, ...WARD, ...others], { indexer: release.indexer }),
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

  const observation = (expression: string, more: object = {}, language = 'text/cql-identifier'): object => ({
    ...inCql('measure-observation', expression),
    ...criteria(expression, language),
    extension: [
      { url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod', valueCode: 'sum' },
      ...Object.entries(more).map(([name, valueString]) => ({ url: `http://x/cqfm-${name}`, valueString })),
    ],
  })

  it.each<[string, object, string, readonly number[], number, readonly unknown[]]>([
    [
      'subjects',
      {
        ...basisOf('boolean'),
        population: [search('initial-population', 'Patient?active=true'), inCql('measure-population', 'Everybody'), observation('Age')],
        stratifier: [criteria('Gender'), criteria('Patient?gender=male', 'application/x-fhir-query')],
      },
      'continuous-variable',
      [2, 2, 2],
      60,
      [
        [
          ['female', '1 1 1', 20],
          ['male', '1 1 1', 40],
        ],
        [[undefined, '1 1 1', 40]],
      ],
    ],
    [
      'resources that only searches find',
      {
        ...basisOf('Encounter'),
        population: [
          search('initial-population', 'Encounter'),
          search('measure-population', 'Encounter?subject=a,c'),
          search('measure-population-exclusion', 'Encounter?_id=c1'),
          observation('Length'),
        ],
        stratifier: [criteria('Status'), criteria('status', 'text/fhirpath'), criteria('Finished')],
      },
      'continuous-variable',
      [4, 3, 1, 1],
      20,
      [
        [
          ['finished', '2 2 1 1', 20],
          ['planned', '2 1 0 0', undefined],
        ],
        [
          ['finished', '2 2 1 1', 20],
          ['planned', '2 1 0 0', undefined],
        ],
        [[undefined, '2 2 1 1', 20]],
      ],
    ],
    [
      'both sides of a ratio',
      {
        ...basisOf('Encounter'),
        population: [
          search('initial-population', 'Encounter'),
          { ...search('denominator', 'Encounter?subject=a,c'), id: 'd' },
          { ...inCql('numerator', 'Finished'), id: 'n' },
          observation('Length', { criteriaReference: 'd' }),
          observation('Length', { criteriaReference: 'n' }),
        ],
      },
      'ratio',
      [4, 3, 2, 2, 2],
      1,
      [],
    ],
  ])('observes %s', async (_, group, code, counts, score, strata) => {
    const answer = await report(measure(group, scoring(code)))
    const found = (answer.group?.[0]?.stratifier ?? []).map(({ stratum = [] }) =>
      stratum.map(({ value, population = [], measureScore }) => [
        value?.text,
        population.map(({ count }) => count).join(' '),
        measureScore?.value,
      ]),
    )
    expect([countsOf(answer), answer.group?.[0]?.measureScore?.value, found]).toEqual([[counts], score, strata])
  })

  const supplementalData = [
    { usage: [{ coding: [{ code: 'supplemental-data' }] }], code: { text: 'gender' }, ...criteria('Gender') },
    { usage: [{ coding: [{ code: 'risk-adjustment-factor' }] }], code: { text: 'active' }, ...criteria('Patient.active', 'text/fhirpath') },
  ]
  const supplements = async (more: object, asked: Partial<EvaluateMeasureInput> = {}): Promise<readonly unknown[]> => {
    const definition = measure({}, { ...more, supplementalData })
    const result = await evaluateMeasure(contextOf(definition), { ...input, ...asked }, { languages })
    return (result.supplements ?? []).flatMap(({ code, values }) =>
      values.map(({ value, count }) => [code?.text, value.concept['text'], count]),
    )
  }

  it.each<[string, object]>([
    ['a group in several languages', { group: [subjects] }],
    ['a group of searches', { group: [{ population: [search('initial-population', 'Patient?active=true')] }] }],
    [
      'groups in a language each',
      {
        group: [{ population: [search('initial-population', 'Patient?_id=a')] }, { population: [inCql('initial-population', 'Male')] }],
      },
    ],
    ['a group that counts resources', { group: [{ population: [search('initial-population', 'Encounter?subject=a,b')] }] }],
  ])('has supplemental data of the initial populations of %s', async (_, more) => {
    expect(await supplements(more)).toEqual([
      ['gender', 'female', 1],
      ['gender', 'male', 1],
      ['active', 'true', 2],
    ])
    expect(await supplements(more, { subject: 'Patient/b' })).toEqual([
      ['gender', 'male', 1],
      ['active', 'true', 1],
    ])
    expect(await supplements(more, { subject: 'Patient/c' })).toEqual([])
  })

  it('can be cancelled while memberships are decided, when all members are listed', async () => {
    const people = Array.from({ length: 2_000 }, (_, n) => stored('Patient', `p${n}`, { active: true }))
    const definition = stored('Measure', 'm', {
      status: 'active',
      library: ['http://x/Library/Ward'],
      group: Array.from({ length: 50 }, () => ({ ...subjects, ...scoring('proportion') })),
    })
    const ctx = contextOf(definition, people)
    const stop = new AbortController()
    const onProgress = ({ done, total, of }: Progress): void => {
      if (of === 'subjects' && done + 1 === total) setTimeout(() => stop.abort(), 0)
    }
    const request = forRequest(ctx, { signal: stop.signal, onProgress, limits: { maxExpansion: 1_000_000, operationTimeoutMs: 600_000 } })
    await expect(evaluateMeasure(request, input, { languages })).rejects.toMatchObject({ code: 'aborted' })
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
      'with a stratifier of what belongs to no subject',
      measure(
        { ...basisOf('Location'), population: [search('initial-population', 'Location')], stratifier: [criteria('Places')] },
        scoring('cohort'),
      ),
      'definition-invalid',
      'Measure.group[0].population[0]',
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
