import { describe, expect, test, vi } from 'vitest'
import type { OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { searchCodes } from '../expand/index.js'
import type { JsonObject } from '../json/index.js'
import { evaluateMeasure, type EvaluateInput } from './index.js'
import { basis, measure, PARAMETERS, population, scoring, wardContext } from './ward.fixture.js'

const period = { periodStart: '2021', periodEnd: '2021' }
const input: EvaluateInput = { measure: 'Measure/m', ...period }

async function counts(resource: JsonObject, over: Partial<EvaluateInput> = {}): Promise<readonly unknown[]> {
  const report = await evaluateMeasure(wardContext([resource]), { ...input, ...over })
  return (report.group ?? []).flatMap((group) => (group.population ?? []).map((one) => one.count))
}

describe('the report', () => {
  test('says what was evaluated, when and for which period, and how many there are', async () => {
    const code = { coding: [{ code: 'measure-population' }], text: 'All patients' }
    const group = [
      {
        id: 'g',
        code: { text: 'Group' },
        population: [{ id: 'p', code, criteria: { language: 'application/x-fhir-query', expression: 'Patient' } }],
      },
    ]
    const ctx = wardContext([measure(group, { version: '2', improvementNotation: { text: 'up' } })])
    expect(await evaluateMeasure(ctx, input)).toEqual({
      resourceType: 'MeasureReport',
      id: 'report-1',
      meta: { versionId: '1', lastUpdated: '2024-05-06T07:08:09.010Z' },
      status: 'complete',
      type: 'summary',
      measure: 'http://example.org/Measure/m|2',
      date: '2024-05-06T07:08:09.010Z',
      period: { start: '2021', end: '2021' },
      improvementNotation: { text: 'up' },
      group: [{ id: 'g', code: { text: 'Group' }, population: [{ id: 'p', code, count: 4 }] }],
    })
  })

  test('names a Measure without url by its id', async () => {
    const ctx = wardContext([measure([{ population: [population('x', 'Patient')] }], { url: undefined })])
    expect((await evaluateMeasure(ctx, input)).measure).toBe('Measure/m')
  })

  test('of a Measure without groups has none', async () => {
    expect(await evaluateMeasure(wardContext([measure(undefined)]), input)).not.toHaveProperty('group')
  })
})

describe('which Measure', () => {
  const versions = [
    measure([], { id: 'old', version: '1.9' }),
    measure([], { id: 'new', version: '1.10' }),
    measure([], { id: 'retired', version: '2', status: 'retired' }),
    measure([], { id: 'gone', url: 'http://example.org/Measure/gone', version: '1', status: 'retired' }),
  ]

  test.each([
    ['old', 'http://example.org/Measure/m|1.9'],
    ['Measure/old', 'http://example.org/Measure/m|1.9'],
    ['http://example.org/Measure/m', 'http://example.org/Measure/m|1.10'],
    ['http://example.org/Measure/m|2', 'http://example.org/Measure/m|2'],
    ['Measure/retired', 'http://example.org/Measure/m|2'],
  ])('%s is %s', async (name, canonical) => {
    expect((await evaluateMeasure(wardContext(versions), { ...period, measure: name })).measure).toBe(canonical)
  })

  test.each([
    'none',
    'Measure/none',
    'Patient/ada',
    'http://example.org/none',
    'http://example.org/Measure/m|3',
    'http://example.org/Measure/gone',
    '',
    '__proto__',
  ])('%j does not exist', async (name) => {
    await expect(evaluateMeasure(wardContext(versions), { ...period, measure: name })).rejects.toMatchObject({ code: 'not-found' })
  })
})

test('a Measure that was deleted is gone, not unknown', async () => {
  const ctx = wardContext([measure([])])
  await ctx.storage.write([{ op: 'delete', type: 'Measure', id: 'm' }])
  await expect(evaluateMeasure(ctx, input)).rejects.toMatchObject({ code: 'deleted' })
})

describe('counts', () => {
  test.each<[string, number]>([
    ['Patient', 4],
    ['Patient?gender=female', 3],
    ['Patient?gender:not=female', 1],
    ['Patient?gender=female&birthDate=ge1960', 2],
    ['Observation?code=weight', 3],
    ['Observation?_count=1&_sort=-date&_total=none', 6],
    ['Observation?_summary=count', 6],
    ['Observation?subject:Patient.gender=male', 1],
    ['Patient?_has:Observation:subject:code=weight', 2],
    ['Observation?date=ge{{%periodStart}}&date=le{{%periodEnd}}', 3],
    ['Observation?date=ge{{%measurementPeriod.start}}&date=le{{%measurementPeriod.end}}', 3],
    ['Organization', 0],
  ])('%s: %i', async (expression, expected) => {
    expect(await counts(measure([{ population: [population('measure-population', expression)] }]))).toEqual([expected])
  })

  test('stand alone where no scoring is stated, whatever the kinds are', async () => {
    const group = [
      {
        population: [
          population('denominator', 'Patient?gender=male'),
          population('numerator', 'Observation'),
          { criteria: population('', 'Patient')['criteria'] },
        ],
      },
    ]
    expect(await counts(measure(group))).toEqual([1, 6, 4])
  })

  test('are of resources where the basis is their type', async () => {
    expect(await counts(measure([{ population: [population('x', 'Observation?code=weight')] }], basis('Observation')))).toEqual([3])
  })

  test('are of subjects where the basis is boolean, whether by the population, the group or the Measure', async () => {
    const plain = population('x', 'Observation?code=weight')
    const own = population('x', 'Observation?code=weight', basis('boolean'))
    expect(await counts(measure([{ population: [plain] }], basis('boolean')))).toEqual([2])
    expect(await counts(measure([{ population: [own, plain], ...basis('Observation') }], basis('boolean')))).toEqual([2, 3])
    expect(await counts(measure([{ population: [population('x', 'Patient?gender=female')] }], basis('boolean')))).toEqual([3])
  })

  test('are of the subjects that the Measure is about, with basis boolean', async () => {
    const about = (code: string): object => ({ subjectCodeableConcept: { coding: [{ code }] }, ...basis('boolean') })
    const groups = [
      { resourceType: 'Group', id: 'g' },
      { resourceType: 'Observation', id: 'g1', subject: { reference: 'Group/g' }, code: { coding: [{ code: 'count' }] } },
    ]
    const countOf = async (resource: JsonObject): Promise<unknown> =>
      (await evaluateMeasure(wardContext([resource, ...groups]), input)).group?.[0]?.population?.map(({ count }) => count)
    expect(await countOf(measure([{ population: [population('a', 'Group'), population('b', 'Observation')] }], about('Group')))).toEqual([
      1, 1,
    ])
    await expect(countOf(measure([{ population: [population('a', 'Patient')] }], about('Practitioner')))).rejects.toMatchObject({
      code: 'definition-invalid',
    })
  })

  test('ask the storage once for equal queries, and never for the resources', async () => {
    const ctx = wardContext([
      measure([
        { population: [population('a', 'Patient'), population('b', 'Patient?_count=5')] },
        { population: [population('c', 'Patient')] },
      ]),
    ])
    const count = vi.spyOn(ctx.storage, 'count')
    const search = vi.spyOn(ctx.storage, 'search')
    await evaluateMeasure(ctx, input)
    expect(count).toHaveBeenCalledTimes(1)
    expect(search).not.toHaveBeenCalled()
  })
})

describe('scoring', () => {
  const proportion = (over: object = {}): JsonObject =>
    measure(
      [
        {
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
    const { group = [] } = await evaluateMeasure(wardContext([proportion()]), input)
    expect(group[0]?.population?.map((one) => one.count)).toEqual([4, 3, 1, 1, 1])
    expect(group[0]?.measureScore).toEqual({ value: 1 })
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
    const report = await evaluateMeasure(wardContext([measure(group, { ...scoring('proportion'), ...basis('boolean') })]), input)
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
    const report = await evaluateMeasure(wardContext([measure(group, scoring('ratio'))]), input)
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
    expect(await counts(measure(group('men'), scoring('ratio')))).toEqual([3, 1, 3, 1])
    await expect(counts(measure(group('children'), scoring('ratio')))).rejects.toMatchObject({ code: 'definition-invalid' })
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
    expect(await counts(measure(cv, scoring('continuous-variable')))).toEqual([4, 3, 1])
    expect(await counts(measure([{ population: [population('initial-population', 'Patient')] }], scoring('cohort')))).toEqual([4])
    const none = [
      {
        population: [
          population('initial-population', 'Patient'),
          population('denominator', 'Patient?gender=other'),
          population('numerator', 'Patient'),
        ],
      },
    ]
    const report = await evaluateMeasure(wardContext([measure(none, scoring('proportion'))]), input)
    expect(report.group?.[0]).not.toHaveProperty('measureScore')
  })

  test("the group's own scoring wins over the Measure's", async () => {
    const own = {
      extension: [
        { url: 'http://hl7.org/fhir/uv/cqm/StructureDefinition/cqm-scoring', valueCodeableConcept: { coding: [{ code: 'cohort' }] } },
      ],
    }
    expect(await counts(measure([{ ...own, population: [population('initial-population', 'Patient')] }], scoring('proportion')))).toEqual([
      4,
    ])
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
    ['composite', [population('initial-population', 'Patient')], 'not-supported', 'Measure.group[0]'],
    ['toString', [population('initial-population', 'Patient')], 'not-supported', 'Measure.group[0]'],
    ['', [population('initial-population', 'Patient')], 'not-supported', 'Measure.group[0]'],
    [
      'proportion',
      [population('initial-population', 'Patient'), population('denominator', 'Patient'), population('numerator', 'Observation')],
      'definition-invalid',
      'Measure.group[0].population[2].criteria.expression',
    ],
  ])('%s: populations that do not fit are refused', async (code, populations, error, expression) => {
    await expect(counts(measure([{ population: populations }], scoring(code)))).rejects.toMatchObject({
      code: error,
      expression: [expression],
    })
  })

  test('a scoring that is words only is not passed over', async () => {
    const resource = measure([{ population: [population('numerator', 'Patient')] }], { scoring: { text: 'Proportion' } })
    await expect(counts(resource)).rejects.toMatchObject({ code: 'not-supported', message: "Scoring 'Proportion' is not supported." })
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
    const report = await evaluateMeasure(wardContext([measure(group, scoring('proportion'))]), input)
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

describe('the report of one subject', () => {
  const resource = measure([
    { population: [population('a', 'Patient'), population('b', 'Observation'), population('c', 'Observation?code=weight')] },
  ])

  test.each(['Patient/ada', 'ada'])('%s', async (subject) => {
    const report = await evaluateMeasure(wardContext([resource]), { ...input, subject })
    expect(report).toMatchObject({ type: 'individual', subject: { reference: 'Patient/ada' } })
    expect(report.group?.[0]?.population?.map((one) => one.count)).toEqual([1, 2, 2])
  })

  test('a summary may be kept to one subject', async () => {
    expect(await evaluateMeasure(wardContext([resource]), { ...input, subject: 'ada', reportType: 'population' })).toMatchObject({
      type: 'summary',
    })
  })

  test('a query that names the patient is not narrowed further', async () => {
    const named = measure([
      {
        population: [
          population('a', 'Observation?subject=Patient/{{%patient.id}}'),
          population('b', 'Patient?_id={{%subject.id}}'),
          population('c', 'Organization?name={{%patient.id}}'),
        ],
      },
    ])
    expect(await counts(named, { subject: 'bea' })).toEqual([2, 1, 0])
  })

  test('the individual reports add up to the summary', async () => {
    const sums = [0, 0, 0]
    for (const subject of ['ada', 'bea', 'cleo', 'dan']) {
      for (const [index, one] of (await counts(resource, { subject })).entries()) sums[index] = (sums[index] ?? 0) + Number(one)
    }
    const ofSomebody = measure([
      {
        population: [
          population('a', 'Patient'),
          population('b', 'Observation?subject:missing=false'),
          population('c', 'Observation?code=weight'),
        ],
      },
    ])
    expect(sums).toEqual(await counts(ofSomebody))
  })

  test.each<[Partial<EvaluateInput>, string]>([
    [{ reportType: 'subject' }, 'parameter-required'],
    [{ subject: 'Patient/nobody' }, 'content-not-found'],
    [{ subject: '' }, 'parameter-invalid'],
    [{ subject: 'Practitioner/p' }, 'parameter-invalid'],
    [{ subject: 'Patient/a b' }, 'parameter-invalid'],
    [{ subject: 'Patient/ada/_history/1' }, 'parameter-invalid'],
    [{ subject: 'Group/none' }, 'content-not-found'],
    [{ practitioner: 'Practitioner/nobody' }, 'content-not-found'],
    [{ practitioner: 'Organization/o' }, 'parameter-invalid'],
    [{ practitioner: '' }, 'parameter-invalid'],
  ])('%j is refused', async (over, code) => {
    await expect(counts(resource, over)).rejects.toMatchObject({ code })
  })

  test('a type that refers to no patient cannot be counted for one', async () => {
    await expect(counts(measure([{ population: [population('a', 'Organization')] }]), { subject: 'ada' })).rejects.toMatchObject({
      code: 'definition-invalid',
    })
    await expect(counts(measure([{ population: [population('a', 'Organization')] }], basis('boolean')))).rejects.toMatchObject({
      code: 'definition-invalid',
    })
  })

  test('a Measure about others than patients has no patient as subject', async () => {
    const about = measure([], { subjectCodeableConcept: { coding: [{ code: 'Practitioner' }] } })
    await expect(counts(about, { subject: 'ada' })).rejects.toMatchObject({ code: 'parameter-invalid' })
  })
})

test('a query may ask for all that lies below something', async () => {
  const organization = (id: string, partOf?: string): JsonObject => ({
    resourceType: 'Organization',
    id,
    ...(partOf !== undefined && { partOf: { reference: `Organization/${partOf}` } }),
  })
  const resource = measure([{ population: [population('a', 'Organization?partof:below=Organization/top')] }])
  const ctx = wardContext([
    resource,
    organization('top'),
    organization('middle', 'top'),
    organization('leaf', 'middle'),
    organization('other'),
  ])
  expect((await evaluateMeasure(ctx, input)).group).toMatchObject([{ population: [{ count: 2 }] }])
})

test('a value set that a query names and that is not there is a fault of the Measure, with its place', async () => {
  const resource = measure([{ population: [population('numerator', 'Observation?code:in=http://example.org/none')] }])
  const ctx: OperationContext = wardContext([resource], { search: { parameters: PARAMETERS, codesOf: searchCodes(() => ctx) } })
  await expect(evaluateMeasure(ctx, input)).rejects.toMatchObject({
    code: 'definition-not-found',
    expression: ['Measure.group[0].population[0].criteria.expression'],
    message: expect.stringMatching(/^Group 1, population 1 \('numerator'\): .*http:\/\/example.org\/none/),
  })
})

describe('ME-07 queries that are not understood', () => {
  test.each([
    ['NoSuchResource', 'NoSuchResource'],
    ['https://elsewhere.example.org/fhir/Patient', 'no resource type'],
    ['Bot', 'no resource type'],
    ['Patient?no-such-parameter=1', 'no-such-parameter'],
    ['Patient?constructor=1', 'constructor'],
    ['Patient?gender:nosuch=male', 'gender:nosuch'],
    ['Patient?birthDate=ge19x0', 'ge19x0'],
    ['Patient?birthDate=zz1980', 'zz1980'],
    ['Patient?_count=-1', '_count'],
    ['Patient?_count=99999999999999999999', '_count'],
    ['Patient?_include=Patient:organization', '_include'],
    ['Patient?_sort=(select)', '_sort'],
    ['Patient?_sort=none', 'none'],
    ['Patient?_cursor=x', '_cursor'],
    ['Patient?_filter=x', '_filter'],
    ["Patient?gender='; drop table x;--&x'=1", "x'"],
    ['Patient?birthDate=ge{{%now}}', '%now'],
  ])('%s', async (expression, part) => {
    const resource = measure([
      { population: [population('first', 'Patient')] },
      { population: [population('a', 'Patient'), population('numerator', expression)] },
    ])
    const error: unknown = await counts(resource).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'definition-invalid',
      expression: ['Measure.group[1].population[1].criteria.expression'],
      message: expect.stringMatching(/^Group 2, population 2 \('numerator'\): /),
    })
    expect(String(error)).toContain(part)
  })
})

describe('Measures that cannot be evaluated', () => {
  const one = (criteria: unknown): JsonObject => measure([{ population: [{ criteria }] }])

  test.each<[string, JsonObject, string, string]>([
    ['no criteria', one(undefined), 'definition-required', 'Measure.group[0].population[0].criteria'],
    ['criteria of another shape', one('Patient'), 'definition-required', 'Measure.group[0].population[0].criteria'],
    [
      'no expression',
      one({ language: 'application/x-fhir-query' }),
      'definition-required',
      'Measure.group[0].population[0].criteria.expression',
    ],
    ['no language', one({ expression: 'Patient' }), 'not-supported', 'Measure.group[0].population[0].criteria.language'],
    [
      'ME-08 CQL',
      one({ language: 'text/cql-identifier', expression: 'Numerator' }),
      'not-supported',
      'Measure.group[0].population[0].criteria.language',
    ],
    [
      'a language named like an object property',
      one({ language: 'constructor', expression: 'x' }),
      'not-supported',
      'Measure.group[0].population[0].criteria.language',
    ],
    [
      'two populations with one id',
      measure([{ population: [population('a', 'Patient', { id: 'p' }), population('b', 'Patient', { id: 'p' })] }]),
      'definition-invalid',
      'Measure.group[0].population[1].id',
    ],
    [
      'two languages in one group',
      measure([{ population: [population('a', 'Patient'), { criteria: { language: 'text/fhirpath', expression: 'x' } }] }]),
      'not-supported',
      'Measure.group[0].population[1].criteria.language',
    ],
    [
      'a component of a stratifier without code',
      measure([{ stratifier: [{ component: [{}] }] }]),
      'definition-required',
      'Measure.group[0].stratifier[0].component[0].code',
    ],
    [
      'a basis that the query does not have',
      measure([{ population: [population('a', 'Patient')] }], basis('Encounter')),
      'definition-invalid',
      'Measure.group[0].population[0].criteria.expression',
    ],
  ])('%s', async (_name, resource, code, expression) => {
    await expect(counts(resource)).rejects.toMatchObject({ code, expression: [expression] })
  })

  test('another language is named', async () => {
    await expect(counts(one({ language: 'text/cql', expression: 'x' }))).rejects.toThrow("'text/cql'")
  })

  test('broken groups are passed over', async () => {
    expect(await counts(measure([null, 'x', { population: [null, 7] }]))).toEqual([])
  })

  test('ME-09 100 groups and 500 populations are counted, one more is too costly', async () => {
    const groups = (count: number): object[] => Array.from({ length: count }, () => ({ population: [population('a', 'Patient')] }))
    const populations = (count: number): object[] => [{ population: Array.from({ length: count }, () => population('a', 'Patient')) }]
    expect(await counts(measure(groups(100)))).toHaveLength(100)
    expect(await counts(measure(populations(500)))).toHaveLength(500)
    await expect(counts(measure(groups(101)))).rejects.toMatchObject({ code: 'too-costly' })
    await expect(counts(measure(populations(501)))).rejects.toMatchObject({ code: 'too-costly' })
  })

  test('without search parameters, queries are refused', async () => {
    const ctx = { ...wardContext([measure([{ population: [population('a', 'Patient')] }])]), search: undefined }
    await expect(evaluateMeasure(ctx, input)).rejects.toMatchObject({ code: 'not-supported' })
  })
})

describe('rights and limits', () => {
  const resource = measure([{ population: [population('a', 'Observation?subject:Patient.gender=male'), population('b', 'Organization')] }])

  test('every type that a query looks at is asked for', async () => {
    const asked: string[] = []
    await evaluateMeasure({ ...wardContext([resource]), authorize: (...what) => void asked.push(what.join(' ')) }, input)
    expect(asked).toEqual(['read Measure m', 'search Observation', 'search Patient', 'search Organization'])
  })

  test('what may not be searched is not counted', async () => {
    const ctx = wardContext([resource])
    const count = vi.spyOn(ctx.storage, 'count')
    const authorize = (interaction: string, type: string): void => {
      if (interaction === 'search' && type === 'Organization') throw new OperationError('forbidden', 'No.')
    }
    await expect(evaluateMeasure({ ...ctx, authorize }, input)).rejects.toMatchObject({ code: 'forbidden' })
    expect(count).not.toHaveBeenCalled()
  })

  test('a failing storage is an error, not a count', async () => {
    const ctx = wardContext([resource])
    const storage = { ...ctx.storage, count: () => Promise.reject(new OperationError('storage-unavailable', 'Down.')) }
    await expect(evaluateMeasure({ ...ctx, storage }, input)).rejects.toMatchObject({ code: 'storage-unavailable' })
  })

  test('a cancelled call ends', async () => {
    await expect(evaluateMeasure({ ...wardContext([resource]), signal: AbortSignal.abort() }, input)).rejects.toMatchObject({
      code: 'aborted',
    })
  })
})

test('a language of the caller evaluates its criteria', async () => {
  const constant = {
    names: ['text/x-number'],
    evaluator: () => async (group: { readonly populations: readonly { readonly expression: string }[] }) => ({
      populations: group.populations.map(({ expression }) => ({ count: Number(expression) })),
      strata: [],
    }),
  }
  const resource = measure([
    { population: [{ criteria: { language: 'text/x-number', expression: '42' } }] },
    { population: [population('a', 'Patient')] },
  ])
  const report = await evaluateMeasure(wardContext([resource]), input, { languages: [constant] })
  expect(report.group).toMatchObject([{ population: [{ count: 42 }] }, { population: [{ count: 4 }] }])
})
