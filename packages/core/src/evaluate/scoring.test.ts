import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/index.js'
import { basis, countsOf, measure, population, reportOf, scoring, wardContext } from './ward.fixture.js'

describe('scoring', () => {
  const proportion = (over: object = {}, ofGroup: object = {}): JsonObject =>
    measure(
      [
        {
          ...ofGroup,
          population: [
            population('initial-population', 'Patient'),
            population('denominator', 'Patient?gender=female'),
            population('denominator-exclusion', 'Patient?birthDate=lt1960'),
            population('numerator', 'Patient?_has:Observation:subject:code=weight'),
            population('denominator-exception', 'Patient?birthDate=ge1965'),
          ],
        },
      ],
      { ...scoring('proportion'), ...over },
    )

  test('proportion: each population lies within its parents, without what is excluded', async () => {
    const { group = [] } = await reportOf(wardContext([proportion()]))
    expect(group[0]?.population?.map((one) => one.count)).toEqual([4, 3, 1, 1, 1])
    expect(group[0]?.measureScore).toEqual({ value: 1 })
  })

  test.each<[string, readonly (number | undefined)[], number | undefined]>([
    ['initial-population', [3, 3, 1, 1, 1], 1],
    ['denominator', [3, 1, 1, 1], 1],
    ['numerator', [1], undefined],
  ])('a stratifier that applies to the %s divides that and what is within it', async (kind, counts, score) => {
    const url = 'http://hl7.org/fhir/uv/cqm/StructureDefinition/cqm-appliesTo'
    const extension = [{ url, valueCodeableConcept: { coding: [{ code: kind }] } }]
    const stratifier = [{ extension, criteria: { language: 'application/x-fhir-query', expression: 'Patient?gender=female' } }]
    const { group: [reported] = [] } = await reportOf(wardContext([proportion({}, { stratifier })]))
    const [stratum] = reported?.stratifier?.[0]?.stratum ?? []
    expect([stratum?.population?.map(({ count }) => count), stratum?.measureScore?.value]).toEqual([counts, score])
    const other = [{ url, valueCodeableConcept: { coding: [{ code: 'measure-population' }] } }]
    await expect(reportOf(wardContext([proportion({}, { stratifier: [{ ...stratifier[0], extension: other }] })]))).rejects.toMatchObject({
      code: 'definition-invalid',
      expression: ['Measure.group[0].stratifier[0].extension'],
    })
  })

  test('proportion of subjects, over resources of several types', async () => {
    const group = [
      {
        population: [
          population('initial-population', 'Patient'),
          population('denominator', 'Observation?code=height'),
          population('numerator', 'Observation?code=weight'),
        ],
      },
    ]
    const report = await reportOf(wardContext([measure(group, { ...scoring('proportion'), ...basis('boolean') })]))
    expect(report.group?.[0]).toMatchObject({ population: [{ count: 4 }, { count: 2 }, { count: 1 }], measureScore: { value: 0.5 } })
  })

  test('ratio: the numerator does not lie within the denominator', async () => {
    const group = [
      {
        population: [
          population('initial-population', 'Patient'),
          population('denominator', 'Patient?gender=female'),
          population('numerator', 'Patient?gender=male'),
        ],
      },
    ]
    const report = await reportOf(wardContext([measure(group, scoring('ratio'))]))
    expect(report.group?.[0]).toMatchObject({ population: [{ count: 4 }, { count: 3 }, { count: 1 }], measureScore: { value: 1 / 3 } })
  })

  test('ratio with two initial populations, each side within its own', async () => {
    const refers = (valueString: string): object => ({
      extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-criteriaReference', valueString }],
    })
    const group = (to: string): object[] => [
      {
        population: [
          population('initial-population', 'Patient?gender=female', { id: 'women' }),
          population('initial-population', 'Patient?gender=male', { id: 'men' }),
          population('denominator', 'Patient', refers('women')),
          population('numerator', 'Patient', refers(to)),
        ],
      },
    ]
    expect(await countsOf(measure(group('men'), scoring('ratio')))).toEqual([3, 1, 3, 1])
    await expect(countsOf(measure(group('children'), scoring('ratio')))).rejects.toMatchObject({ code: 'definition-invalid' })
  })

  test('cohort and continuous-variable count; nothing to divide by gives no score', async () => {
    const cv = [
      {
        population: [
          population('initial-population', 'Patient'),
          population('measure-population', 'Patient?gender=female'),
          population('measure-population-exclusion', 'Patient?birthDate=lt1960'),
        ],
      },
    ]
    expect(await countsOf(measure(cv, scoring('continuous-variable')))).toEqual([4, 3, 1])
    expect(await countsOf(measure([{ population: [population('initial-population', 'Patient')] }], scoring('cohort')))).toEqual([4])
    const none = [
      {
        population: [
          population('initial-population', 'Patient'),
          population('denominator', 'Patient?gender=other'),
          population('numerator', 'Patient'),
        ],
      },
    ]
    const report = await reportOf(wardContext([measure(none, scoring('proportion'))]))
    expect(report.group?.[0]).not.toHaveProperty('measureScore')
  })

  test("the group's own scoring wins over the Measure's", async () => {
    const own = {
      extension: [
        { url: 'http://hl7.org/fhir/uv/cqm/StructureDefinition/cqm-scoring', valueCodeableConcept: { coding: [{ code: 'cohort' }] } },
      ],
    }
    expect(await countsOf(measure([{ ...own, population: [population('initial-population', 'Patient')] }], scoring('proportion')))).toEqual(
      [4],
    )
  })

  test.each<[string, readonly JsonObject[], string, string]>([
    [
      'proportion',
      [population('initial-population', 'Patient'), population('denominator', 'Patient')],
      'definition-required',
      'Measure.group[0].population',
    ],
    [
      'cohort',
      [population('initial-population', 'Patient'), population('numerator', 'Patient')],
      'definition-invalid',
      'Measure.group[0].population[1]',
    ],
    [
      'cohort',
      [population('initial-population', 'Patient'), population('initial-population', 'Patient')],
      'definition-invalid',
      'Measure.group[0].population[1]',
    ],
    [
      'cohort',
      [population('initial-population', 'Patient'), population('measure-observation', 'Observation')],
      'not-supported',
      'Measure.group[0].population[1]',
    ],
    ['cohort', [population('constructor', 'Patient')], 'definition-invalid', 'Measure.group[0].population[0]'],
    ['episode', [population('initial-population', 'Patient')], 'not-supported', 'Measure.group[0]'],
    ['toString', [population('initial-population', 'Patient')], 'not-supported', 'Measure.group[0]'],
    ['', [population('initial-population', 'Patient')], 'not-supported', 'Measure.group[0]'],
    [
      'proportion',
      [population('initial-population', 'Patient'), population('denominator', 'Patient'), population('numerator', 'Observation')],
      'definition-invalid',
      'Measure.group[0].population[2].criteria.expression',
    ],
  ])('%s: populations that do not fit are refused', async (code, populations, error, expression) => {
    await expect(countsOf(measure([{ population: populations }], scoring(code)))).rejects.toMatchObject({
      code: error,
      expression: [expression],
    })
  })

  test('a scoring that is words only is not passed over', async () => {
    const resource = measure([{ population: [population('numerator', 'Patient')] }], { scoring: { text: 'Proportion' } })
    await expect(countsOf(resource)).rejects.toMatchObject({ code: 'not-supported', message: "Scoring 'Proportion' is not supported." })
  })

  test('stratifiers cut every population and have a score of their own', async () => {
    const stratifier = [
      { id: 's', code: { text: 'weighed' }, criteria: population('', 'Patient?_has:Observation:subject:code=weight')['criteria'] },
    ]
    const group = [
      {
        population: [
          population('initial-population', 'Patient'),
          population('denominator', 'Patient'),
          population('numerator', 'Patient?birthDate=ge1960'),
        ],
        stratifier,
      },
    ]
    const report = await reportOf(wardContext([measure(group, scoring('proportion'))]))
    expect(report.group?.[0]?.stratifier).toEqual([
      {
        id: 's',
        code: [{ text: 'weighed' }],
        stratum: [
          {
            population: [
              { code: { coding: [{ code: 'initial-population' }] }, count: 2 },
              { code: { coding: [{ code: 'denominator' }] }, count: 2 },
              { code: { coding: [{ code: 'numerator' }] }, count: 1 },
            ],
            measureScore: { value: 0.5 },
          },
        ],
      },
    ])
  })
})

test('the improvement notation of a group is reported as its extension', async () => {
  const notation = { coding: [{ code: 'decrease' }], text: 'Lower is better' }
  const url = 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-improvementNotation'
  const resource = measure([{ extension: [{ url, valueCodeableConcept: notation }], population: [population('a', 'Patient')] }])
  const { group = [], improvementNotation } = await reportOf(wardContext([resource]))
  expect(improvementNotation).toBeUndefined()
  expect(group[0]?.extension).toEqual([
    { url: 'http://hl7.org/fhir/us/davinci-deqm/StructureDefinition/extension-groupImprovementNotation', valueCodeableConcept: notation },
  ])
})
