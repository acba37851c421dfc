import { describe, expect, test } from 'vitest'
import { comparableMs, processorClock } from '../../../../test/processor-time.js'
import type { OperationContext } from '../context/index.js'
import { searchCodes } from '../expand/index.js'
import type { JsonObject } from '../json/index.js'
import { evaluateMeasure } from './index.js'
import { basis, countsOf, measure, PARAMETERS, population, wardContext, YEAR_2021 } from './ward.fixture.js'

test('a value set that a query names and that is not there is a fault of the Measure, with its place', async () => {
  const resource = measure([{ population: [population('numerator', 'Observation?code:in=http://example.org/none')] }])
  const ctx: OperationContext = wardContext([resource], { search: { parameters: PARAMETERS, codesOf: searchCodes(() => ctx) } })
  await expect(evaluateMeasure(ctx, YEAR_2021)).rejects.toMatchObject({
    code: 'definition-not-found',
    expression: ['Measure.group[0].population[0].criteria.expression'],
    message: expect.stringMatching(/^Group 1, population 1 \('numerator'\): .*http:\/\/example.org\/none/),
  })
})

describe('queries that are not understood', () => {
  test.each([
    ['NoSuchResource', 'NoSuchResource'],
    ['https://elsewhere.example.org/fhir/Patient', 'not a resource type'],
    ['Bot', 'not a resource type'],
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
    const error: unknown = await countsOf(resource).catch((reason: unknown) => reason)
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
      'CQL',
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
      'a basis that the query does not have',
      measure([{ population: [population('a', 'Patient')] }], basis('Encounter')),
      'definition-invalid',
      'Measure.group[0].population[0].criteria.expression',
    ],
  ])('%s', async (_name, resource, code, expression) => {
    await expect(countsOf(resource)).rejects.toMatchObject({ code, expression: [expression] })
  })

  test('another language is named', async () => {
    await expect(countsOf(one({ language: 'text/cql', expression: 'x' }))).rejects.toThrow("'text/cql'")
  })

  test('broken groups are passed over', async () => {
    expect(await countsOf(measure([null, 'x', { population: [null, 7] }]))).toEqual([])
  })

  test('100 groups and 500 populations are counted, one more is too costly', async () => {
    const groups = (count: number): object[] => Array.from({ length: count }, () => ({ population: [population('a', 'Patient')] }))
    const populations = (count: number): object[] => [{ population: Array.from({ length: count }, () => population('a', 'Patient')) }]
    expect(await countsOf(measure(groups(100)))).toHaveLength(100)
    expect(await countsOf(measure(populations(500)))).toHaveLength(500)
    await expect(countsOf(measure(groups(101)))).rejects.toMatchObject({ code: 'too-costly' })
    await expect(countsOf(measure(populations(501)))).rejects.toMatchObject({ code: 'too-costly' })
  })

  test('500 populations, each of which derives from the next, take no longer than others', async () => {
    const url = 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-criteriaReference'
    const chain = Array.from({ length: 500 }, (_, n) =>
      population('a', 'Patient', { id: `p${n}`, extension: [{ url, valueString: `p${n + 1}` }] }),
    )
    const ms = processorClock()
    expect(await countsOf(measure([{ population: chain }]))).toHaveLength(500)
    expect(comparableMs(ms(), 5_000)).toBeLessThan(5_000)
  })

  test('without search parameters, queries are refused', async () => {
    const ctx = { ...wardContext([measure([{ population: [population('a', 'Patient')] }])]), search: undefined }
    await expect(evaluateMeasure(ctx, YEAR_2021)).rejects.toMatchObject({ code: 'not-supported' })
  })
})
