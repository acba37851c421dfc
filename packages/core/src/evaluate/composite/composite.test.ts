import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../json/index.js'
import { evaluateMeasure, toMeasureReport } from '../index.js'
import { basis, measure, population, scoring, wardContext, YEAR_2021 } from '../ward.fixture.js'

const URL = 'http://example.org/Measure'
const extension = (name: string, value: object): object => ({
  url: `http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/${name}`,
  ...value,
})
const weight = (valueDecimal: unknown): object => extension('cqfm-weight', { valueDecimal })
const groupId = (valueId: string): object => extension('cqfm-groupId', { valueId })

/** A component: everybody, a denominator, a numerator, and whatever else. */
function component(
  id: string,
  [denominator, numerator]: readonly [string, string],
  more: readonly JsonObject[] = [],
  over: object = {},
): JsonObject {
  const populations = [
    population('initial-population', 'Patient'),
    population('denominator', denominator),
    population('numerator', numerator),
    ...more,
  ]
  return {
    ...measure([{ population: populations }], { ...scoring('proportion'), ...basis('boolean'), ...over }),
    id,
    url: `${URL}/${id}`,
    version: '1',
  }
}

/** Women (ada, bea, cleo) who were weighed (ada, bea); people of 1960 and later (bea, cleo, dan) who were measured (bea, dan). */
const WEIGHED = component('weighed', ['Patient?gender=female', 'Observation?code=weight'])
const MEASURED = component('measured', ['Patient?birthDate=ge1960', 'Observation?code=height'])

type Named = readonly [name: string, ...extensions: readonly object[]]

function composite(method: string | undefined, named: readonly Named[], over: object = {}): JsonObject {
  const relatedArtifact = named.map(([name, ...extensions]) => ({
    ...(extensions.length > 0 && { extension: extensions }),
    type: 'composed-of',
    resource: name.includes(':') ? name : `${URL}/${name}`,
  }))
  const compositeScoring = method === undefined ? {} : { compositeScoring: { coding: [{ code: method }] } }
  return { ...measure(undefined, { ...scoring('composite'), ...compositeScoring, relatedArtifact, ...over }) }
}

const BOTH: readonly Named[] = [['weighed'], ['measured|1']]

async function groupsOf(resource: JsonObject, more: readonly JsonObject[] = [], over: object = {}): Promise<Record<string, unknown>[]> {
  const ctx = wardContext([resource, WEIGHED, MEASURED, ...more])
  const { group = [] } = toMeasureReport(await evaluateMeasure(ctx, { ...YEAR_2021, ...over }))
  return group.map((one) => ({
    ...Object.fromEntries((one.population ?? []).map(({ code, count }) => [code?.coding?.[0]?.code, count])),
    ...(one.measureScore !== undefined && { score: one.measureScore.value }),
  }))
}

describe('composite scoring', () => {
  test('opportunity: each component in whose denominator somebody is counts as a case', async () => {
    const [group, ...components] = await groupsOf(composite('opportunity', BOTH))
    expect(group).toMatchObject({ 'initial-population': 8, denominator: 6, numerator: 4, score: 4 / 6 })
    expect(components).toEqual([
      { 'initial-population': 4, denominator: 3, numerator: 2, score: 2 / 3 },
      { 'initial-population': 4, denominator: 3, numerator: 2, score: 2 / 3 },
    ])
  })

  test('all-or-nothing: in the numerator is who got everything that is for them', async () => {
    const [group] = await groupsOf(composite('all-or-nothing', BOTH))
    expect(group).toEqual({
      'initial-population': 4,
      denominator: 4,
      'denominator-exclusion': 0,
      numerator: 3,
      'numerator-exclusion': 0,
      'denominator-exception': 0,
      score: 3 / 4,
    })
  })

  test('linear: the average of what part everybody got', async () => {
    const [group] = await groupsOf(composite('linear', BOTH))
    expect(group).toMatchObject({ 'measure-population': 4, 'measure-observation': 4, score: (1 + 1 + 0 + 1) / 4 })
    const half = component('half', ['Patient?gender=female', 'Patient?birthDate=ge1965'])
    const [other] = await groupsOf(composite('linear', [['weighed'], ['half']]), [half])
    expect(other).toMatchObject({ score: 1 / 2 })
  })

  test('weighted: the average of the scores of the components', async () => {
    const few = component('few', ['Patient', 'Patient?birthDate=ge1980'])
    const [group] = await groupsOf(composite('weighted', [['weighed', weight(3)], ['few']]), [few])
    expect(group).toEqual({ score: ((2 / 3) * 3 + 1 / 4) / 4 })
  })

  test('weighted: no score where a component that weighs something has none', async () => {
    const none = component('none', ['Patient?birthDate=ge2000', 'Patient'])
    expect((await groupsOf(composite('weighted', [['weighed'], ['none']]), [none]))[0]).toEqual({})
    expect((await groupsOf(composite('weighted', [['weighed'], ['none', weight(0)]]), [none]))[0]).toEqual({ score: 2 / 3 })
  })

  test('exclusions and exceptions of components', async () => {
    const strict = component(
      'strict',
      ['Patient', 'Patient?gender=male'],
      [population('denominator-exclusion', 'Patient?birthDate=lt1955'), population('denominator-exception', 'Patient?birthDate=lt1965')],
    )
    const [opportunity] = await groupsOf(composite('opportunity', [['weighed'], ['strict']]), [strict])
    expect(opportunity).toMatchObject({
      denominator: 7,
      'denominator-exclusion': 1,
      'denominator-exception': 1,
      numerator: 3,
      score: 3 / 5,
    })
    const [all] = await groupsOf(composite('all-or-nothing', [['weighed'], ['strict']]), [strict])
    // ada is excluded; bea, excepted in one, has the other; cleo has nothing; dan has what is for him.
    expect(all).toMatchObject({ denominator: 4, 'denominator-exclusion': 1, 'denominator-exception': 0, numerator: 2, score: 2 / 3 })
    const [linear] = await groupsOf(composite('linear', [['weighed'], ['strict']]), [strict])
    expect(linear).toMatchObject({ 'measure-population-exclusion': 0, score: (1 + 1 + 0 + 1) / 4 })
  })

  test('where less is better, not to be in the numerator counts', async () => {
    const notation = { improvementNotation: { coding: [{ code: 'decrease' }] } }
    const avoided = component('avoided', ['Patient?gender=female', 'Observation?code=weight'], [], notation)
    const [opportunity] = await groupsOf(composite('opportunity', [['avoided'], ['measured']]), [avoided])
    expect(opportunity).toMatchObject({ numerator: 1 + 2, score: 3 / 6 })
  })

  test('components that count resources count those who have any, but for weights', async () => {
    const populations = [
      population('initial-population', 'Observation'),
      population('denominator', 'Observation?code=weight'),
      population('numerator', 'Observation?date=2021'),
    ]
    const visits = component('visits', ['', ''], [], { ...basis('Observation'), group: [{ population: populations }] })
    const [, , individual] = await groupsOf(composite('opportunity', [['weighed'], ['visits']]), [visits])
    expect(individual).toMatchObject({ denominator: 2, numerator: 2, score: 1 })
    const [, , resources] = await groupsOf(composite('weighted', [['weighed'], ['visits']]), [visits])
    expect(resources).toMatchObject({ denominator: 3, numerator: 2, score: 2 / 3 })
  })

  test('individual reports: each component says which Measure it is', async () => {
    const ctx = wardContext([composite('all-or-nothing', BOTH), WEIGHED, MEASURED])
    const report = toMeasureReport(await evaluateMeasure(ctx, { ...YEAR_2021, subject: 'cleo' }))
    expect(report).toMatchObject({ type: 'individual', group: [{ measureScore: { value: 0 } }, {}, {}] })
    expect(report.group?.[2]?.extension).toEqual([
      {
        url: 'http://hl7.org/fhir/StructureDefinition/cqf-measureInfo',
        extension: [{ url: 'measure', valueCanonical: `${URL}/measured|1` }],
      },
    ])
  })

  test('subject lists name who is in the composite', async () => {
    const ctx = wardContext([composite('all-or-nothing', BOTH), WEIGHED, MEASURED])
    const { groups } = await evaluateMeasure(ctx, { ...YEAR_2021, reportType: 'subject-list' })
    expect(groups[0]?.populations[3]?.members?.toSorted()).toEqual(['Patient/ada', 'Patient/bea', 'Patient/dan'])
    const summary = await evaluateMeasure(ctx, YEAR_2021)
    expect(JSON.stringify(summary)).not.toContain('members')
  })

  test('groups of one Measure, also of the composite itself', async () => {
    const [weighed] = [WEIGHED['group']].flat()
    const [measured] = [MEASURED['group']].flat()
    const own = (id: string, group: unknown): object => ({
      ...Object(group),
      id,
      extension: [
        extension('cqfm-scoring', { valueCodeableConcept: { coding: [{ code: 'proportion' }] } }),
        ...Object(basis('boolean')).extension,
      ],
    })
    const resource = composite(
      'opportunity',
      [
        ['m', groupId('w')],
        ['m', groupId('h')],
      ],
      { group: [{ id: 'all', code: { text: 'All of it' } }, own('w', weighed), own('h', measured)] },
    )
    const report = toMeasureReport(await evaluateMeasure(wardContext([resource]), YEAR_2021))
    expect(report.group?.map(({ id }) => id)).toEqual(['all', 'w', 'h'])
    expect(report.group?.[0]).toMatchObject({ code: { text: 'All of it' }, measureScore: { value: 4 / 6 } })
  })

  test('an explanation says what the components make', async () => {
    const ctx = wardContext([composite('weighted', BOTH), WEIGHED, MEASURED])
    const { explanation } = await evaluateMeasure(ctx, { ...YEAR_2021, explain: true })
    expect(JSON.stringify(explanation)).toContain('The composite has the score 0.66')
  })
})

/** A Measure with groups that are composites, each with its method. */
function ofGroups(groups: readonly (readonly [method: string | undefined, ...named: Named[]])[], over: object = {}): JsonObject {
  const group = groups.map(([method, ...named], at) => {
    const resource = (name: string): string => (name.includes(':') ? name : `${URL}/${name}`)
    const components = named.map(([name, ...extensions]) =>
      extension('cqfm-component', {
        valueRelatedArtifact: { ...(extensions.length > 0 && { extension: extensions }), type: 'composed-of', resource: resource(name) },
      }),
    )
    const concept = (code: string): object => ({ valueCodeableConcept: { coding: [{ code }] } })
    const scored = method === undefined ? [] : [extension('cqfm-compositeScoring', concept(method))]
    return { id: `g${at}`, extension: [extension('cqfm-scoring', concept('composite')), ...scored, ...components] }
  })
  return measure(group, over)
}

describe('groups that are composites', () => {
  test('have each its own method and components, before these and the other groups', async () => {
    const two = ofGroups([
      ['opportunity', ...BOTH],
      ['weighted', ['weighed', weight(3)], ['measured']],
      ['all-or-nothing', ['weighed']],
    ])
    const own = { ...two, group: [two['group'], MEASURED['group']].flat(), ...scoring('proportion'), ...basis('boolean') }
    const groups = await groupsOf(own)
    const whole = (await groupsOf(composite('opportunity', BOTH)))[0]
    expect(groups.slice(0, 3)).toEqual([
      whole,
      { score: 2 / 3 },
      (await groupsOf(composite('all-or-nothing', [['weighed'], ['weighed']])))[0],
    ])
    expect(groups.slice(3).map(({ score }) => score)).toEqual([2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3])
  })

  test('have the method of the Measure where they state none', async () => {
    const compositeScoring = { coding: [{ code: 'opportunity' }] }
    const [group] = await groupsOf(ofGroups([[undefined, ...BOTH]], { ...scoring('composite'), compositeScoring }))
    expect(group).toMatchObject({ denominator: 6, numerator: 4 })
  })

  test.each<readonly [string, JsonObject, string, string]>([
    ['no method', ofGroups([[undefined, ...BOTH]]), 'definition-required', 'compositeScoring'],
    ['components that do not exist', ofGroups([['linear', ['none'], ['weighed']]]), 'definition-not-found', "Measure/none'"],
    ['components that are composites', ofGroups([['linear', ['other']]]), 'definition-invalid', 'composite measure itself'],
    [
      'populations of their own',
      {
        ...ofGroups([]),
        group: [{ ...Object([ofGroups([['linear', ...BOTH]])['group']].flat()[0]), population: [population('a', 'Patient')] }],
      },
      'definition-invalid',
      'populations of its own',
    ],
  ])('are refused with %s', async (_, resource, code, text) => {
    const other = { ...ofGroups([['linear', ['weighed']]]), id: 'other', url: `${URL}/other` }
    const ctx = wardContext([resource, WEIGHED, MEASURED, other])
    await expect(evaluateMeasure(ctx, YEAR_2021)).rejects.toMatchObject({ code, message: expect.stringContaining(text) })
  })
})

describe('composites that are refused', () => {
  const ITSELF: readonly Named[] = [['m'], ['weighed']]
  const other = { ...composite('opportunity', BOTH), id: 'other', url: `${URL}/other` }
  const cohort = component('cohort', ['Patient', 'Patient'], [], scoring('cohort'))
  const ofPlaces = component('places', ['Patient', 'Patient'], [], { subjectCodeableConcept: { coding: [{ code: 'Organization' }] } })
  const double = { ...WEIGHED, id: 'double', url: `${URL}/double`, group: [WEIGHED['group'], WEIGHED['group']].flat() }
  const head = (more: object): object => ({ group: [{ ...more }] })
  const criteria = { language: 'text/fhirpath', expression: 'gender' }
  test.each<readonly [string, JsonObject, string, string]>([
    ['no method', composite(undefined, BOTH), 'definition-required', 'compositeScoring'],
    ['an unknown method', composite('best', BOTH), 'not-supported', "'best'"],
    ['one component', composite('opportunity', [['weighed']]), 'definition-required', 'at least two'],
    [
      'components that do not exist',
      composite('opportunity', [['weighed|9'], ['none'], ['measured']]),
      'definition-not-found',
      "weighed|9', 'http://example.org/Measure/none'",
    ],
    ['itself as a component', composite('opportunity', ITSELF), 'definition-invalid', 'composite measure itself'],
    [
      'a component that is a composite',
      composite('opportunity', [['other'], ['weighed']]),
      'definition-invalid',
      'composite measure itself',
    ],
    ['a cohort', composite('opportunity', [['cohort'], ['weighed']]), 'not-supported', "scoring 'cohort'"],
    ['other subjects', composite('opportunity', [['places'], ['weighed']]), 'definition-invalid', 'another type'],
    ['a group that is not named', composite('opportunity', [['double'], ['weighed']]), 'definition-invalid', 'several groups'],
    ['a group that there is not', composite('opportunity', [['double', groupId('x')], ['weighed']]), 'definition-invalid', "no group 'x'"],
    ['a weight that is none', composite('weighted', [['measured', weight('1')], ['weighed']]), 'definition-invalid', 'weight'],
    [
      'weights of 0',
      composite('weighted', [
        ['measured', weight(0)],
        ['weighed', weight(0)],
      ]),
      'definition-invalid',
      'weigh nothing',
    ],
    ['strata', composite('weighted', BOTH, head({ stratifier: [{ criteria }] })), 'not-supported', 'stratification'],
    ['supplemental data', composite('weighted', BOTH, { supplementalData: [{ criteria }] }), 'not-supported', 'Supplemental'],
  ])('%s', async (_, resource, code, text) => {
    const ctx = wardContext([resource, WEIGHED, MEASURED, other, cohort, ofPlaces, double])
    await expect(evaluateMeasure(ctx, YEAR_2021)).rejects.toMatchObject({ code, message: expect.stringContaining(text) })
  })

  test('who may not read Measures learns nothing of components', async () => {
    const ctx = wardContext([composite('weighted', BOTH)])
    const seen: string[] = []
    await evaluateMeasure({ ...ctx, authorize: (action, type) => void seen.push(`${action} ${type}`) }, YEAR_2021).catch(() => undefined)
    expect(seen).toContain('read Measure')
  })
})
