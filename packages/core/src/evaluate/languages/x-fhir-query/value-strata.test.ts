import type { MeasureReport, MeasureReportGroupStratifierStratum } from 'fhir/r4.js'
import { describe, expect, test } from 'vitest'
import { OperationError } from '../../../errors/index.js'
import type { JsonObject } from '../../../json/index.js'
import { evaluateMeasure, type EvaluateMeasureInput } from '../../index.js'
import { basis, measure, population, reportOf as evaluated, scoring, wardContext } from '../../ward.fixture.js'

const input: EvaluateMeasureInput = { measure: 'Measure/m', periodStart: '2021', periodEnd: '2021' }

const byValue = (expression: string): JsonObject => ({ criteria: { language: 'text/fhirpath', expression } })

const divided = (query: string, stratifier: JsonObject, over: object = {}): JsonObject =>
  measure([{ population: [population('a', query)], stratifier: [stratifier] }], over)

const reportOf = (resources: readonly JsonObject[], over: Partial<EvaluateMeasureInput> = {}): Promise<MeasureReport> =>
  evaluated(wardContext(resources), { ...input, ...over })

const strataIn = ({ group: [first] = [] }: MeasureReport): readonly MeasureReportGroupStratifierStratum[] =>
  first?.stratifier?.flatMap(({ stratum = [] }) => stratum) ?? []

/** Each stratum by the text of its value, with its counts. */
const countsIn = (report: MeasureReport): object =>
  Object.fromEntries(strataIn(report).map(({ value, population: all = [] }) => [value?.text, all.map(({ count }) => count)]))

const weighed = (id: string, valueQuantity: object): JsonObject => ({ resourceType: 'Observation', id, valueQuantity })

describe('strata by values', () => {
  test.each<[string, string, object]>([
    ['Patient', 'gender', { female: [3], male: [1] }],
    ['Patient', "gender = 'male'", { true: [1], false: [3] }],
    ['Patient', 'birthDate', { '1950-05-01': [1], '1960-05-01': [1], '1970-05-01': [1], '1980-05-01': [1] }],
    ['Patient', 'gender.length() / 4', { 1: [1], 1.5: [3] }],
    ['Patient', '0.0000001', { '0.0000001': [4] }],
    ['Patient', "5 'mg'", { '5 mg': [4] }],
    ['Patient', 'name', { null: [4] }],
    ['Patient', "gender | 'all'", { female: [3], all: [4], male: [1] }],
    ['Patient', "gender.combine('male')", { female: [3], male: [4] }],
    ['Observation', 'effective.exists()', { true: [5], false: [1] }],
    ['Patient?gender=other', 'gender', {}],
  ])('%s by %s', async (query, expression, expected) => {
    expect(countsIn(await reportOf([divided(query, byValue(expression))]))).toEqual(expected)
  })

  test('divide every population, each stratum with a score', async () => {
    const populations = [
      population('initial-population', 'Patient'),
      population('denominator', 'Patient'),
      population('numerator', 'Patient?birthDate=ge1960'),
    ]
    const stratifier = [{ id: 's', code: { text: 'gender' }, ...byValue('gender') }]
    const report = await reportOf([measure([{ population: populations, stratifier }], scoring('proportion'))])
    expect(report.group?.[0]?.stratifier).toMatchObject([{ id: 's', code: [{ text: 'gender' }] }])
    expect(countsIn(report)).toEqual({ female: [3, 3, 2], male: [1, 1, 1] })
    expect(strataIn(report).map(({ measureScore }) => measureScore?.value)).toEqual([2 / 3, 1])
  })

  test('have the codes of what is counted, whole', async () => {
    const concept = (code: string): object => ({ coding: [{ system: 'http://example.org/codes', code }] })
    const valuesBy = async (expression: string): Promise<unknown> =>
      strataIn(await reportOf([divided('Observation', byValue(expression))])).map(({ value }) => value)
    expect(await valuesBy('code')).toEqual([concept('height'), concept('weight')])
    expect(await valuesBy('code.coding')).toEqual([concept('height'), concept('weight')])
  })

  test('with the same codes are one, with the display of the first member, and amounts with the same text, too', async () => {
    const coded = (id: string, display: string): JsonObject => ({
      resourceType: 'Observation',
      id,
      code: { coding: [{ system: 'http://example.org/codes', code: 'pulse', display }], text: display },
      valueQuantity: { value: 70, unit: display, code: 'kg' },
    })
    const valuesBy = async (expression: string): Promise<unknown> => {
      const resources = [divided('Observation?code=pulse', byValue(expression)), coded('p1', 'Pulse'), coded('p2', 'Heart rate')]
      return strataIn(await reportOf(resources)).map(({ value, population: [all] = [] }) => [value?.text, all?.count])
    }
    expect(await valuesBy('code')).toEqual([['Pulse', 2]])
    expect(await valuesBy('value')).toEqual([['70 kg', 2]])
  })

  test('have amounts as text and as Quantity', async () => {
    const kilos = { value: 70.5, unit: 'kilo', system: 'http://unitsofmeasure.org', code: 'kg' }
    const few = { comparator: '<', value: 3, unit: 'stone' }
    const report = await reportOf([divided('Observation?code:missing=true', byValue('value')), weighed('q1', kilos), weighed('q2', few)])
    const url = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-MeasureReport.group.stratifier.stratum.value'
    expect(strataIn(report)).toMatchObject([
      { value: { text: '70.5 kg' }, extension: [{ url, valueQuantity: kilos }] },
      { value: { text: '< 3 stone' }, extension: [{ url, valueQuantity: few }] },
    ])
  })

  test('are of subjects where these are counted', async () => {
    expect(countsIn(await reportOf([divided('Observation?code=weight', byValue('id'), basis('boolean'))]))).toEqual({ ada: [1], bea: [1] })
  })

  test('take what criteria that name the patient find, and the subject of the report', async () => {
    const resource = divided('Observation?subject=Patient/{{%patient.id}}', byValue('subject.reference'))
    expect(countsIn(await reportOf([resource]))).toEqual({ 'Patient/ada': [2], 'Patient/bea': [2], 'Patient/dan': [1] })
    expect(countsIn(await reportOf([resource], { subject: 'bea' }))).toEqual({ 'Patient/bea': [2] })
  })

  test('are listed in a subject list', async () => {
    const report = await reportOf([divided('Patient', byValue('gender'))], { reportType: 'subject-list' })
    const list = (...ids: readonly string[]): object => ({ entry: ids.map((id) => ({ item: { reference: `Patient/${id}` } })) })
    expect(report.contained).toMatchObject([list('ada', 'bea', 'cleo', 'dan'), list('ada', 'bea', 'cleo'), list('dan')])
  })

  test('of components are one for each combination', async () => {
    const component = (text: string, expression: string): object => ({ code: { text }, ...byValue(expression) })
    const two = { component: [component('sex', 'gender'), component('old', 'birthDate < @1965')] }
    const value = (code: string, text: string): object => ({ code: { text: code }, value: { text } })
    expect(strataIn(await reportOf([divided('Patient', two)]))).toMatchObject([
      { component: [value('sex', 'female'), value('old', 'true')], population: [{ count: 2 }] },
      { component: [value('sex', 'female'), value('old', 'false')], population: [{ count: 1 }] },
      { component: [value('sex', 'male'), value('old', 'false')], population: [{ count: 1 }] },
    ])
    const [stratum] = strataIn(await reportOf([divided('Patient', { component: [component('sex', 'gender')] })]))
    expect(stratum).toMatchObject({ component: [value('sex', 'female')] })
    expect(stratum).not.toHaveProperty('value')
  })

  test.each<[string, JsonObject, string]>([
    ['the code', { code: { text: 'sex' }, description: 'Sex of the patient' }, 'sex'],
    ['without code the description', { description: 'Sex of the patient' }, 'Sex of the patient'],
    ['with an empty code the expression', { code: {} }, 'gender'],
    ['without both the expression', {}, 'gender'],
  ])('of components are named by %s', async (_name, more, text) => {
    const [stratum] = strataIn(await reportOf([divided('Patient', { component: [{ ...more, ...byValue('gender') }] })]))
    expect(stratum).toMatchObject({ component: [{ code: { text }, value: { text: 'female' } }] })
  })
})

describe('stratifiers by values that are refused', () => {
  const fhirpath = { language: 'text/fhirpath', expression: 'gender' }

  test.each<[string, JsonObject, string, string]>([
    ['an expression that cannot be read', byValue('gender..'), 'fhirpath-invalid', '.criteria.expression'],
    ['an expression that fails', byValue("gender.combine('x').single()"), 'fhirpath-invalid', '.criteria.expression'],
    ['a resource as value', byValue('$this'), 'definition-invalid', '.criteria.expression'],
    ['criteria and components', { criteria: fhirpath, component: [{ code: {}, criteria: fhirpath }] }, 'definition-invalid', ''],
    ['a component without criteria', { component: [{ code: {} }] }, 'definition-required', '.component[0].criteria'],
    [
      'a component that is a search',
      { component: [{ code: {}, criteria: population('', 'Patient')['criteria'] }] },
      'not-supported',
      '.component[0].criteria.language',
    ],
  ])('%s', async (_name, stratifier, code, path) => {
    await expect(reportOf([divided('Patient', stratifier)])).rejects.toMatchObject({
      code,
      expression: [`Measure.group[0].stratifier[0]${path}`],
    })
  })

  test('a stored value that is not a CodeableConcept', async () => {
    const broken = { resourceType: 'Observation', id: 'broken', code: { coding: 'weight' } }
    await expect(reportOf([divided('Observation?_id=broken', byValue('code')), broken])).rejects.toMatchObject({
      code: 'definition-invalid',
      expression: ['Measure.group[0].stratifier[0].criteria.expression'],
    })
  })

  test.each(['gender', "gender | 'all'"])('%s for more members than an expansion may have codes', async (expression) => {
    const ctx = wardContext([divided('Patient', byValue(expression))], { limits: { maxExpansion: expression === 'gender' ? 3 : 6 } })
    await expect(evaluateMeasure(ctx, input)).rejects.toMatchObject({ code: 'too-costly' })
  })

  test('to who may not search what is counted', async () => {
    const ctx = wardContext([divided('Observation?code=weight', byValue('gender'), basis('boolean'))])
    const authorize = (interaction: string, type: string): void => {
      if (interaction === 'search' && type === 'Patient') throw new OperationError('forbidden', 'No.')
    }
    await expect(evaluateMeasure({ ...ctx, authorize }, input)).rejects.toMatchObject({ code: 'forbidden' })
  })
})
