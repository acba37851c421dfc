import { describe, expect, test } from 'vitest'
import { OperationError } from '../../errors/index.js'
import type { JsonObject } from '../../json/index.js'
import { parametersFromQuery } from '../../parameters/index.js'
import { collectData, toParameters, type CollectDataInput } from '../index.js'
import { measure, population, wardContext } from '../ward.fixture.js'
import { measureOperations } from '../measure-operations.js'

const YEAR = { measure: 'm', periodStart: '2021', periodEnd: '2021' }

async function collected(
  expressions: readonly string[],
  over: Partial<CollectDataInput> = {},
  others: readonly JsonObject[] = [],
): Promise<readonly string[]> {
  const resource = measure([{ population: expressions.map((expression, index) => population(`p${index}`, expression)) }])
  const { resources } = await collectData(wardContext([resource, ...others]), { ...YEAR, ...over })
  return resources.map(({ id }) => id).toSorted()
}

describe('collected data', () => {
  test.each<readonly [string, readonly string[], readonly string[]]>([
    ['by type', ['Patient'], ['ada', 'bea', 'cleo', 'dan']],
    ['by codes', ['Observation?code=weight'], ['w1', 'w2', 'w3']],
    ['by dates', ['Observation?date=ge{{%periodStart}}&date=le{{%periodEnd}}'], ['h1', 'w2', 'w3']],
    [
      'of several criteria, each once',
      ['Observation?code=height', 'Observation?date=2021', 'Observation?code=height&date=2021'],
      ['h1', 'h2', 'h3', 'w2', 'w3'],
    ],
    [
      'of types that a criterion reaches',
      ['Patient?_has:Observation:subject:code=weight'],
      ['ada', 'bea', 'cleo', 'dan', 'h1', 'h2', 'h3', 'w1', 'w2', 'w3'],
    ],
  ])('%s', async (_, expressions, ids) => {
    expect(await collected(expressions)).toEqual(ids)
  })

  test('of a period is what begins in its last day and goes on, or ends in its first', async () => {
    const visits = [
      ['long', '2020-12-20', '2021-01-01T09:00:00Z'],
      ['late', '2021-12-31T20:00:00Z', '2022-01-02'],
      ['open', '2021-12-31T20:00:00Z', undefined],
      ['before', '2020-12-20', '2020-12-31'],
      ['after', '2022-01-01', undefined],
    ].map(([id, start, end]) => ({ resourceType: 'Observation', id, effectivePeriod: { start, ...(end !== undefined && { end }) } }))
    const expressions = ['Observation?date=ge{{%periodStart}}&date=le{{%periodEnd}}']
    expect(await collected(expressions, {}, visits)).toEqual(['h1', 'late', 'long', 'open', 'w2', 'w3'])
    expect(await collected(expressions, { periodStart: '0001', periodEnd: '9999' }, visits)).toHaveLength(10)
  })

  const members = ['bea', 'dan'].map((id) => ({ entity: { reference: `Patient/${id}` } }))
  const group = { resourceType: 'Group', id: 'g', actual: true, member: members }
  test.each<readonly [string, Partial<CollectDataInput>, readonly string[]]>([
    ['a patient', { subject: 'bea' }, ['bea', 'h1', 'w3']],
    ['a Group', { subject: 'Group/g' }, ['bea', 'dan', 'h1', 'h2', 'w3']],
  ])('is that of %s', async (_, over, ids) => {
    expect(await collected(['Patient', 'Observation'], over, [group])).toEqual(ids)
  })

  test('of types that refer to no patient is that of all', async () => {
    const place = { resourceType: 'Organization', id: 'o', name: 'x' }
    expect(await collected(['Organization?name=x'], { subject: 'bea' }, [place])).toEqual(['o'])
  })

  test('by another reference than the subject is not collected for some patients only', async () => {
    const expressions = ['Observation?code={{%patient.id}}']
    expect(await collected(expressions)).toHaveLength(6)
    await expect(collected(expressions, { subject: 'bea' })).rejects.toMatchObject({ code: 'not-supported' })
    expect(await collected(['Observation?subject=Patient/{{%patient.id}}'], { subject: 'bea' })).toEqual(['h1', 'w3'])
  })

  test('of a time is what was stored later', async () => {
    expect(await collected(['Patient'], { lastReceivedOn: '2024-05-01' })).toHaveLength(4)
    expect(await collected(['Patient'], { lastReceivedOn: '2999-01-01' })).toEqual([])
  })

  test('comes with a report, and keeps the digits of numbers', async () => {
    const resource = measure([{ population: [population('p', 'Observation?code=weight')] }], { version: '2' })
    const ctx = wardContext([resource])
    const result = await collectData(ctx, { ...YEAR, subject: 'ada' })
    expect(toParameters(result)).toMatchObject({
      parameter: [
        {
          name: 'measureReport',
          resource: {
            resourceType: 'MeasureReport',
            id: 'report-1',
            status: 'complete',
            type: 'data-collection',
            measure: 'http://example.org/Measure/m|2',
            subject: { reference: 'Patient/ada' },
            period: { start: '2021', end: '2021' },
            evaluatedResource: [{ reference: 'Observation/w1' }, { reference: 'Observation/w2' }],
          },
        },
        { name: 'resource', resource: { id: 'w1' } },
        { name: 'resource', resource: { id: 'w2' } },
      ],
    })
    const operation = measureOperations().find(({ name }) => name === '$collect-data')
    const parameters = parametersFromQuery([...Object.entries(YEAR), ['subject', 'ada']])
    const request = { type: 'Measure', method: 'GET', parameters, strict: false } as const
    const [asResource, asText] = [await operation?.run(ctx, request), await operation?.write?.(ctx, request)]
    expect(asResource?.resource).toEqual(toParameters(result))
    expect(JSON.parse([...(asText?.text ?? [])].join(''))).toEqual(asResource?.resource)
  })
})

describe('what is refused', () => {
  const ctx = wardContext([measure([{ population: [population('p', 'Observation')] }])])
  test.each<readonly [string, object, string]>([
    ['no Measure', { periodStart: '2021', periodEnd: '2021' }, 'parameter-required'],
    ['an unknown Measure', { ...YEAR, measure: 'x' }, 'not-found'],
    ['an unknown subject', { ...YEAR, subject: 'nobody' }, 'content-not-found'],
    ['no date', { ...YEAR, lastReceivedOn: 'yesterday' }, 'parameter-value'],
  ])('%s', async (_, input, code) => {
    // @ts-expect-error some are incomplete
    await expect(collectData(ctx, input)).rejects.toMatchObject({ code })
  })

  test.each([{ maxExpansion: 3 }, { maxAnswerBytes: 300 }])('more than %j', async (limits) => {
    const narrow = { ...ctx, limits: { ...ctx.limits, ...limits } }
    await expect(collectData(narrow, YEAR)).rejects.toMatchObject({ code: 'too-costly' })
  })

  test('types that the caller may not search', async () => {
    const authorize = (action: string, type: string): void => {
      if (action === 'search' && type === 'Observation') throw new OperationError('forbidden', 'no')
    }
    await expect(collectData({ ...ctx, authorize }, YEAR)).rejects.toMatchObject({ code: 'forbidden' })
  })
})
