import { describe, expect, test, vi } from 'vitest'
import { OperationError } from '../errors/index.js'
import { evaluateMeasure, toMeasureReport, type Scope } from './index.js'
import { measure, population, reportOf, wardContext, YEAR_2021 } from './ward.fixture.js'

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
    expect(await reportOf(ctx, YEAR_2021)).toEqual({
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
    expect((await reportOf(ctx, YEAR_2021)).measure).toBe('Measure/m')
  })

  test('of a Measure without groups has none', async () => {
    expect(await reportOf(wardContext([measure(undefined)]), YEAR_2021)).not.toHaveProperty('group')
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
    expect((await reportOf(wardContext(versions), { ...YEAR_2021, measure: name })).measure).toBe(canonical)
  })

  test.each([
    'none',
    'Measure/none',
    'Patient/ada',
    'http://example.org/none',
    'http://example.org/Measure/m|3',
    'http://example.org/Measure/m#x',
    'http://example.org/Measure/gone',
    '',
    '__proto__',
  ])('%j does not exist', async (name) => {
    await expect(evaluateMeasure(wardContext(versions), { ...YEAR_2021, measure: name })).rejects.toMatchObject({ code: 'not-found' })
  })
})

test('a Measure that was deleted is gone, not unknown', async () => {
  const ctx = wardContext([measure([])])
  await ctx.storage.write([{ op: 'delete', type: 'Measure', id: 'm' }])
  await expect(evaluateMeasure(ctx, YEAR_2021)).rejects.toMatchObject({ code: 'deleted' })
})

describe('rights and limits', () => {
  const resource = measure([{ population: [population('a', 'Observation?subject:Patient.gender=male'), population('b', 'Organization')] }])

  test('every type that a query looks at is asked for', async () => {
    const asked: string[] = []
    await evaluateMeasure({ ...wardContext([resource]), authorize: (...what) => void asked.push(what.join(' ')) }, YEAR_2021)
    expect(asked).toEqual(['read Measure m', 'search Observation', 'search Patient', 'search Organization'])
  })

  test('what may not be searched is not counted', async () => {
    const ctx = wardContext([resource])
    const count = vi.spyOn(ctx.storage, 'count')
    const authorize = (interaction: string, type: string): void => {
      if (interaction === 'search' && type === 'Organization') throw new OperationError('forbidden', 'No.')
    }
    await expect(evaluateMeasure({ ...ctx, authorize }, YEAR_2021)).rejects.toMatchObject({ code: 'forbidden' })
    expect(count).not.toHaveBeenCalled()
  })

  test('a failing storage is an error, not a count', async () => {
    const ctx = wardContext([resource])
    const storage = { ...ctx.storage, count: () => Promise.reject(new OperationError('storage-unavailable', 'Down.')) }
    await expect(evaluateMeasure({ ...ctx, storage }, YEAR_2021)).rejects.toMatchObject({ code: 'storage-unavailable' })
  })

  test('a cancelled call ends', async () => {
    await expect(evaluateMeasure({ ...wardContext([resource]), signal: AbortSignal.abort() }, YEAR_2021)).rejects.toMatchObject({
      code: 'aborted',
    })
  })
})

test('a language of the caller evaluates its criteria', async () => {
  const constant = {
    names: ['text/x-number'],
    evaluate: async (_ctx: unknown, { groups }: Scope) => ({
      groups: groups.map(({ populations }) => ({
        populations: populations.map(({ expression }) => ({ count: Number(expression) })),
        strata: [],
      })),
    }),
  }
  const resource = measure([
    { population: [{ criteria: { language: 'text/x-number', expression: '42' } }] },
    { population: [population('a', 'Patient')] },
  ])
  const report = await reportOf(wardContext([resource]), YEAR_2021, { languages: [constant] })
  expect(report.group).toMatchObject([{ population: [{ count: 42 }] }, { population: [{ count: 4 }] }])
})

test.each<[string, unknown]>([
  ['a text as coding', { coding: 'x' }],
  ['an item of coding that is not an object', { coding: [null] }],
  ['a code that is not a text', { coding: [{ code: 1 }] }],
  ['an extension without url', { text: 'a', extension: [{}] }],
])('a code of a group that is not a CodeableConcept is not copied into the report: %s', async (_name, code) => {
  const report = await reportOf(wardContext([measure([{ code, population: [population('a', 'Patient')] }])]), YEAR_2021)
  expect(report.group).toMatchObject([{ population: [{ count: 4 }] }])
  expect(report.group?.[0]).not.toHaveProperty('code')
})

test('a code of a group with extensions is copied as it is', async () => {
  const extension = [{ url: 'http://example.org/e', valueString: 'x' }]
  const code = { id: 'c', text: 'Group', _text: { extension }, coding: [{ code: 'g', userSelected: true, extension }], extension }
  const report = await reportOf(wardContext([measure([{ code, population: [] }])]), YEAR_2021)
  expect(report.group?.[0]?.code).toEqual(code)
})

describe('an explanation', () => {
  const group = [
    {
      population: [
        population('initial-population', 'Patient'),
        population('denominator', 'Patient'),
        population('numerator', 'Patient?gender=female'),
      ],
      stratifier: [{ criteria: { language: 'application/x-fhir-query', expression: 'Patient?gender=male' } }],
    },
  ]
  const scored = measure(group, { version: '2', scoring: { coding: [{ code: 'proportion' }] } })

  test('says which Measure was chosen, what each count is of, and the score', async () => {
    const result = await evaluateMeasure(wardContext([scored]), { ...YEAR_2021, measure: 'http://example.org/Measure/m', explain: true })
    const definition = 'http://example.org/Measure/m|2'
    expect(result.explanation?.steps).toMatchObject([
      { kind: 'measure', outcome: 'chosen', reason: 'newest', definition },
      { kind: 'population', path: 'Measure.group[0].population[0]', count: 4 },
      { kind: 'population', path: 'Measure.group[0].population[1]', count: 4 },
      { kind: 'population', count: 3, text: expect.stringContaining("'Patient?gender=female' (application/x-fhir-query)") },
      { kind: 'stratifier', path: 'Measure.group[0].stratifier[0]', count: 1, definition },
      { kind: 'score', path: 'Measure.group[0]', text: 'Group 1 has the score 0.75.' },
    ])
    expect(toMeasureReport(result).extension).toMatchObject([{ url: 'https://fhir-ops.dev/StructureDefinition/explanation' }])
  })

  test('is there when the evaluation fails, and only when it is asked for', async () => {
    const input = { ...YEAR_2021, subject: 'nobody' }
    await expect(evaluateMeasure(wardContext([scored]), { ...input, explain: true })).rejects.toMatchObject({
      detail: { explanation: { steps: [{ kind: 'measure', reason: 'request' }] } },
    })
    const without = await evaluateMeasure(wardContext([scored]), YEAR_2021)
    expect(without.explanation).toBeUndefined()
    expect(toMeasureReport(without).extension).toBeUndefined()
  })
})
