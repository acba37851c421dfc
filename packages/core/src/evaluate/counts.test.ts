import { describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../json/index.js'
import { evaluateMeasure } from './index.js'
import { basis, countsOf, measure, population, reportOf, wardContext, YEAR_2021 } from './ward.fixture.js'

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
    expect(await countsOf(measure([{ population: [population('measure-population', expression)] }]))).toEqual([expected])
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
    expect(await countsOf(measure(group))).toEqual([1, 6, 4])
  })

  test('are of resources where the basis is their type', async () => {
    expect(await countsOf(measure([{ population: [population('x', 'Observation?code=weight')] }], basis('Observation')))).toEqual([3])
  })

  test('are of subjects where the basis is boolean, whether by the population, the group or the Measure', async () => {
    const plain = population('x', 'Observation?code=weight')
    const own = population('x', 'Observation?code=weight', basis('boolean'))
    expect(await countsOf(measure([{ population: [plain] }], basis('boolean')))).toEqual([2])
    expect(await countsOf(measure([{ population: [own, plain], ...basis('Observation') }], basis('boolean')))).toEqual([2, 3])
    expect(await countsOf(measure([{ population: [population('x', 'Patient?gender=female')] }], basis('boolean')))).toEqual([3])
  })

  test('are of the subjects that the Measure is about, with basis boolean', async () => {
    const about = (code: string): object => ({ subjectCodeableConcept: { coding: [{ code }] }, ...basis('boolean') })
    const groups = [
      { resourceType: 'Group', id: 'g' },
      { resourceType: 'Observation', id: 'g1', subject: { reference: 'Group/g' }, code: { coding: [{ code: 'count' }] } },
    ]
    const countOf = async (resource: JsonObject): Promise<unknown> =>
      (await reportOf(wardContext([resource, ...groups]))).group?.[0]?.population?.map(({ count }) => count)
    expect(await countOf(measure([{ population: [population('a', 'Group'), population('b', 'Observation')] }], about('Group')))).toEqual([
      1, 1,
    ])
    await expect(countOf(measure([{ population: [population('a', 'Patient')] }], about('Location')))).rejects.toMatchObject({
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
    await evaluateMeasure(ctx, YEAR_2021)
    expect(count).toHaveBeenCalledTimes(1)
    expect(search).not.toHaveBeenCalled()
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
  expect((await reportOf(ctx)).group).toMatchObject([{ population: [{ count: 2 }] }])
})

test('progress is told population by population; what hears of it may end the evaluation', async () => {
  const ctx = wardContext([measure([{ population: [population('a', 'Patient'), population('b', 'Observation')] }])])
  const told: unknown[] = []
  await evaluateMeasure({ ...ctx, onProgress: (progress) => void told.push(progress) }, YEAR_2021)
  expect(told).toEqual([
    { done: 0, of: 'populations' },
    { done: 1, of: 'populations' },
  ])
  const stop = new AbortController()
  const onProgress = ({ done }: { readonly done: number }): void => (done === 1 ? stop.abort() : undefined)
  await expect(evaluateMeasure({ ...ctx, onProgress, signal: stop.signal }, YEAR_2021)).rejects.toMatchObject({ code: 'aborted' })
})
