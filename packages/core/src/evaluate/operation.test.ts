import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/index.js'
import type { Operation, OperationResponse } from '../operation/index.js'
import { parametersFromQuery, parametersOf } from '../parameters/index.js'
import { INDEXER, measure, population, wardContext } from './ward.fixture.js'
import { evaluateMeasureOperation } from './measure-operations.js'

const ctx = wardContext([measure([{ population: [population('measure-population', 'Patient')] }])])

function post(
  parameter: readonly object[],
  id: string | undefined = 'm',
  operation: Operation = evaluateMeasureOperation(),
): Promise<OperationResponse> {
  const body: JsonObject = { resourceType: 'Parameters', parameter }
  return operation.run(ctx, { type: 'Measure', id, method: 'POST', strict: false, parameters: parametersOf(body), body })
}

function get(query: string, id?: string): Promise<OperationResponse> {
  const parameters = parametersFromQuery(new URLSearchParams(query))
  return evaluateMeasureOperation().run(ctx, { type: 'Measure', id, method: 'GET', strict: false, parameters })
}

const start = { name: 'periodStart', valueDate: '2020-01-01' }
const end = { name: 'periodEnd', valueDate: '2030-01-01' }
const found = {
  status: 200,
  resource: {
    resourceType: 'MeasureReport',
    id: 'report-1',
    status: 'complete',
    type: 'summary',
    measure: 'http://example.org/Measure/m',
    period: { start: '2020-01-01', end: '2030-01-01' },
    group: [{ population: [{ code: { coding: [{ code: 'measure-population' }] }, count: 4 }] }],
  },
}

describe('$evaluate-measure', () => {
  test('POST at instance level', async () => {
    expect(await post([start, end])).toMatchObject(found)
  })

  test('a Measure as the body is refused, as it would be ignored', async () => {
    const parameters = parametersOf({ resourceType: 'Parameters', parameter: [start, end] })
    const body = measure([{ population: [population('measure-population', 'Patient')] }])
    const answer = evaluateMeasureOperation().run(ctx, { type: 'Measure', id: 'm', method: 'POST', strict: false, parameters, body })
    await expect(answer).rejects.toMatchObject({ code: 'body-structure', message: expect.stringContaining('cannot be the body') })
  })

  test('dates may come as any text type', async () => {
    expect(
      await post([
        { name: 'periodStart', valueString: '2020-01-01' },
        { name: 'periodEnd', valueDateTime: '2030-01-01' },
      ]),
    ).toMatchObject(found)
  })

  test.each(['http://example.org/Measure/m', 'Measure/m', 'm'])('POST and GET at type level, with measure=%s', async (name) => {
    const answer = await evaluateMeasureOperation().run(ctx, {
      type: 'Measure',
      method: 'POST',
      strict: false,
      parameters: parametersOf({ resourceType: 'Parameters', parameter: [start, end, { name: 'measure', valueString: name }] }),
    })
    expect(answer).toMatchObject(found)
    expect(await get(`periodStart=2020-01-01&periodEnd=2030-01-01&measure=${name}`)).toEqual(answer)
  })

  test.each<[string, readonly object[], string]>([
    ['subject', [{ name: 'subject', valueString: 'ada' }], 'individual'],
    ['a subject as reference', [{ name: 'subject', valueReference: { reference: 'Patient/ada' } }], 'individual'],
    [
      'reportType subject',
      [
        { name: 'subject', valueString: 'ada' },
        { name: 'reportType', valueCode: 'subject' },
      ],
      'individual',
    ],
    [
      'reportType individual',
      [
        { name: 'subject', valueString: 'ada' },
        { name: 'reportType', valueCode: 'individual' },
      ],
      'individual',
    ],
    ['reportType population', [{ name: 'reportType', valueCode: 'population' }], 'summary'],
    ['reportType summary', [{ name: 'reportType', valueCode: 'summary' }], 'summary'],
  ])('%s', async (_name, parameters, type) => {
    expect((await post([start, end, ...parameters])).resource).toMatchObject({ type })
  })
})

describe('what is refused', () => {
  test.each<[string, readonly object[], string]>([
    ['no periodStart', [end], 'parameter-required'],
    ['no periodEnd', [start], 'parameter-required'],
    ['an empty periodStart', [{ name: 'periodStart', valueDate: '' }, end], 'parameter-value'],
    ['a period as an object', [{ name: 'periodStart', valuePeriod: {} }, end], 'parameter-value'],
    ['a repeated periodStart', [start, start, end], 'parameter-invalid'],
    ['a measure beside the id', [start, end, { name: 'measure', valueString: 'm' }], 'parameter-invalid'],
    ['an unknown reportType', [start, end, { name: 'reportType', valueCode: 'all' }], 'parameter-value'],
    ['an unknown practitioner', [start, end, { name: 'practitioner', valueString: 'Practitioner/p' }], 'content-not-found'],
    ['lastReceivedOn', [start, end, { name: 'lastReceivedOn', valueDateTime: '2020' }], 'parameter-unsupported'],
    ['parameters', [start, end, { name: 'parameters', resource: { resourceType: 'Parameters' } }], 'parameter-unsupported'],
    ['an unknown parameter', [start, end, { name: 'constructor', valueString: 'x' }], 'parameter-invalid'],
    ['a reference without reference', [start, end, { name: 'subject', valueReference: {} }], 'parameter-invalid'],
  ])('%s', async (_name, parameters, code) => {
    await expect(post(parameters)).rejects.toMatchObject({ code })
  })

  test('no measure at type level', async () => {
    await expect(get('periodStart=2020&periodEnd=2021')).rejects.toMatchObject({ code: 'parameter-required', expression: ['measure'] })
  })

  test('an unknown id', async () => {
    await expect(post([start, end], 'none')).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('storing reports', () => {
  const storing = evaluateMeasureOperation({ storeReports: INDEXER })

  test('answers 201 with the place of the report, which can be read there', async () => {
    const answer = await post([start, end], 'm', storing)
    expect(answer).toMatchObject({ ...found, status: 201, location: 'MeasureReport/report-1' })
    expect((await ctx.storage.read('MeasureReport', 'report-1'))?.resource).toEqual(answer.resource)
  })

  test('is not offered by GET, which changes nothing', () => {
    expect(storing.methods).toEqual(['POST'])
    expect(evaluateMeasureOperation().methods).toEqual(['GET', 'POST'])
  })
})

test('_explain adds how the counts were reached', async () => {
  expect((await post([start, end, { name: '_explain', valueBoolean: true }])).resource).toMatchObject({
    extension: [{ url: 'https://fhir-ops.dev/StructureDefinition/explanation', extension: [{ url: 'step' }, { url: 'step' }] }],
  })
})
