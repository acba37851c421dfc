import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf, issuesOf } from './findings-of.js'

const KINDS = /^measure-/
const MEASURE = 'http://example.org/Measure/m'

const ABSENT = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason'
const DEQM = 'http://hl7.org/fhir/'

const coded = (code: string): JsonObject => ({ code: { coding: [{ system: 'http://a.org', code }] } })
const scored = (code: string): JsonObject => ({
  scoring: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-scoring', code }] },
})
const criteria = { criteria: { language: 'text/cql', expression: 'Lib.Define' } }
const measure = (members: JsonObject): JsonObject => ({ resourceType: 'Measure', url: MEASURE, status: 'active', ...members })
const report = (group: readonly JsonObject[], members: JsonObject = {}): JsonObject => ({
  resourceType: 'MeasureReport',
  status: 'complete',
  type: 'summary',
  measure: MEASURE,
  period: { start: '2020', end: '2021' },
  group,
  ...members,
})

describe('a report', () => {
  const cohort = measure({
    ...scored('cohort'),
    group: [
      {
        population: [
          { ...coded('a'), ...criteria },
          { ...coded('b'), ...criteria },
        ],
      },
    ],
  })
  const proportion = measure({ ...scored('proportion'), group: [{ ...coded('g') }, { ...coded('h') }] })
  const single = measure({ ...scored('cohort'), group: [{ ...coded('g'), population: [{ ...coded('a'), ...criteria }] }] })
  const both = [
    { ...coded('a'), count: 1 },
    { ...coded('b'), count: 2 },
  ]
  const score = { measureScore: { value: 0.5 } }
  test.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['may leave out the code of the only group', single, report([{ population: [{ ...coded('a'), count: 1 }] }]), []],
    ['may have the code of the only group', single, report([{ ...coded('g'), population: [{ ...coded('a'), count: 1 }] }]), []],
    [
      'has no other code than the only group: MEASURE_MR_GRP_NO_WRONG_CODE',
      single,
      report([{ ...coded('h'), population: [{ ...coded('a'), count: 1 }] }]),
      ['error measure-part MeasureReport.group[0]'],
    ],
    [
      'has a code for the only group that can be compared: MEASURE_MR_GRP_NO_USABLE_CODE',
      single,
      report([{ code: { text: 'g' }, population: [{ ...coded('a'), count: 1 }] }]),
      ['error measure-part MeasureReport.group[0]'],
    ],
    [
      'does not leave out the code of the only population: MEASURE_MR_GRP_POP_NO_CODE, MEASURE_MR_GRP_POP_MISSING_BY_CODE',
      single,
      report([{ population: [{ count: 1 }] }]),
      ['error measure-part MeasureReport.group[0].population[0]', 'error measure-part MeasureReport.group[0]'],
    ],
    ['has the populations of the measure', cohort, report([{ population: both }]), []],
    [
      'has no other populations',
      cohort,
      report([{ population: [...both, { ...coded('c'), count: 1 }] }]),
      ['error measure-part MeasureReport.group[0].population[2]'],
    ],
    [
      'has each population once',
      cohort,
      report([{ population: [...both, ...both.slice(1)] }]),
      ['error measure-part MeasureReport.group[0].population[2]'],
    ],
    ['lacks no population', cohort, report([{ population: both.slice(1) }]), ['error measure-part MeasureReport.group[0]']],
    [
      'tells counts',
      cohort,
      report([{ population: [{ ...coded('a') }, { ...coded('b'), count: 2 }] }]),
      ['warning measure-count MeasureReport.group[0].population[0]'],
    ],
    [
      'lists subjects only as a list',
      cohort,
      report([
        {
          population: [
            { ...coded('a'), count: 1, subjectResults: { reference: 'List/1' } },
            { ...coded('b'), count: 2 },
          ],
        },
      ]),
      ['error measure-count MeasureReport.group[0].population[0]'],
    ],
    [
      'of a cohort has no score',
      cohort,
      report([{ population: both, ...score }]),
      ['error measure-score MeasureReport.group[0].measureScore'],
    ],
    [
      'tells several groups apart',
      proportion,
      report([{ ...coded('g'), ...score }, score]),
      ['error measure-part MeasureReport.group[1]', 'error measure-part MeasureReport'],
    ],
    [
      'of a proportion has scores',
      proportion,
      report([{ ...coded('g'), ...score }, coded('h')]),
      ['error measure-score MeasureReport.group[1]'],
    ],
    [
      'of a proportion has scores up to 1',
      proportion,
      report([
        { ...coded('g'), ...score },
        { ...coded('h'), measureScore: { value: 1.5 } },
      ]),
      ['error measure-score MeasureReport.group[1].measureScore.value'],
    ],
    [
      'of a proportion has scores without unit',
      proportion,
      report([
        { ...coded('g'), ...score },
        { ...coded('h'), measureScore: { value: 0.5, unit: '%' } },
      ]),
      ['error measure-score MeasureReport.group[1].measureScore.unit'],
    ],
    [
      'has a count that may be absent for a reason',
      single,
      report([{ ...coded('g'), population: [{ ...coded('a'), _count: { extension: [{ url: ABSENT, valueCode: 'masked' }] } }] }]),
      [],
    ],
    [
      'may have a score of another type in an extension',
      proportion,
      report([
        {
          ...coded('g'),
          measureScore: {
            extension: [{ url: `${DEQM}us/davinci-deqm/StructureDefinition/extension-alternateScoreType`, valueString: 'x' }],
          },
        },
        {
          ...coded('h'),
          measureScore: { extension: [{ url: `${DEQM}uv/deqm/StructureDefinition/deqm-alternateScoreType`, valueDecimal: 2 }] },
        },
      ]),
      ['error measure-score MeasureReport.group[1].measureScore.extension[0].value.ofType(decimal)'],
    ],
    [
      'of a ratio should have a unit',
      measure({ ...scored('ratio'), group: [{}] }),
      report([score]),
      ['warning measure-score MeasureReport.group[0].measureScore'],
    ],
    [
      'has the stratifiers of the measure',
      measure({ ...scored('cohort'), group: [{ stratifier: [coded('s')] }] }),
      report([{}]),
      ['error measure-part MeasureReport.group[0]'],
    ],
    [
      'that only collects data has no scores',
      proportion,
      report([{ ...coded('g'), ...score }, coded('h')], { type: 'data-collection' }),
      ['error measure-score MeasureReport.group[0].measureScore'],
    ],
    ['that only collects data has no groups', proportion, report([], { type: 'data-collection', group: undefined }), []],
    [
      'of a measure without scoring is not judged by it',
      measure({ group: [{}] }),
      report([score]),
      ['information measure-scoring-unknown MeasureReport.measure'],
    ],
  ])('%s', async (_, definition, resource, expected) => {
    expect(await findingsOf(resource, [definition], KINDS)).toEqual(expected)
  })

  test.each([
    [2, []],
    [1, ['error measure-count MeasureReport.group[0].population[1]']],
  ])('that lists its two subjects in a contained List may count %d', async (count, expected) => {
    const entry = ['Patient/1', 'Patient/2'].map((reference) => ({ item: { reference } }))
    const contained = [{ resourceType: 'List', id: 'list', status: 'current', mode: 'snapshot', entry }]
    const population = [
      { ...coded('a'), count: 1, subjectResults: { reference: 'Patient/1' } },
      { ...coded('b'), count, subjectResults: { reference: '#list' } },
    ]
    expect(await findingsOf(report([{ population }], { type: 'subject-list', contained }), [cohort], KINDS)).toEqual(expected)
  })

  test('cannot be counted where a list is elsewhere', async () => {
    const population = [{ ...coded('a'), count: 1, subjectResults: { reference: 'List/1' } }]
    const MEASURE = 'information|business-rule measure-count MeasureReport.group[0].population[0]'
    expect(
      (await issuesOf(report([{ population }], { type: 'subject-list' }), [cohort], KINDS)).filter((one) => one.includes('-count ')),
    ).toEqual([MEASURE])
  })

  test('of a measure that is not known is not checked against it', async () => {
    expect(await findingsOf(report([]), [], KINDS)).toEqual(['warning measure-unknown MeasureReport'])
  })
})

describe('a measure', () => {
  const elm = btoa(JSON.stringify({ library: { statements: { def: [{ name: 'Define' }] } } }))
  const library = {
    resourceType: 'Library',
    url: 'http://example.org/Library/l',
    name: 'Lib',
    status: 'active',
    type: { text: 'x' },
    content: [{ contentType: 'application/elm+json', data: elm }],
  }
  const using = (expression: string): JsonObject =>
    measure({ library: [library.url], group: [{ population: [{ ...coded('a'), criteria: { language: 'text/cql', expression } }] }] })

  test.each<readonly [expression: string, said: readonly string[]]>([
    ['Initial Population', ['warning measure-criteria Measure.group[0].population[0].criteria']],
    ['"Initial Population"', ['warning measure-criteria Measure.group[0].population[0].criteria']],
    ['true', []],
    ['exists [Encounter]', []],
  ])('without libraries has inline CQL that names no definition: %s: MEASURE_M_CRITERIA_CQL_NO_LIB', async (expression, said) => {
    const { library: _, ...without } = using(expression)
    expect(await findingsOf(without, [library], KINDS)).toEqual(said)
  })

  test('may have inline CQL with a library that is not known', async () => {
    expect(await findingsOf(using('Define'), [], KINDS)).toEqual(['information measure-library-unknown Measure'])
  })

  test('has the library that its criteria name', async () => {
    expect(await findingsOf(using('Lib.Define'), [library], KINDS)).toEqual([])
    expect(await findingsOf(using('Other.Define'), [library], KINDS)).toEqual([
      'error measure-criteria Measure.group[0].population[0].criteria',
    ])
  })

  test.each([['A & B'], ['C > D'], ["E's"], ['F']])(
    'may name definitions of ELM in XML, however they are written there: %s',
    async (name) => {
      const xml =
        "<library xmlns='urn:hl7-org:elm:r1'><statements><def name=\"A &#38; B\"/><def name='C > D'/>" +
        `<def accessLevel='Public' name="E's"/><def\n name = "F"/></statements></library>`
      const inXml = { ...library, content: [{ contentType: 'application/elm+xml', data: btoa(xml) }] }
      expect(await findingsOf(using(`Lib."${name}"`), [inXml], KINDS)).toEqual([])
    },
  )

  test('is not checked against a library that is not known', async () => {
    expect(await findingsOf(using('Other.Define'), [], KINDS)).toEqual(['information measure-library-unknown Measure'])
  })

  test('may have CQL that stands for itself', async () => {
    expect(await findingsOf(using('Count([Device])'), [library], KINDS)).toEqual([])
  })
})
