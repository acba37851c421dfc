import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { evaluateMeasure, toMeasureReport } from 'fhir-ops/evaluate'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import type { MeasureReport } from 'fhir/r4.js'
import { describe, expect, it } from 'vitest'
import { cqlLanguage } from '../src/index.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()

const HEAD = `library Values version '1' using FHIR version '4.0.1' include FHIRHelpers version '4.0.1'
context Patient define Everybody: true\n`
const UCUM = 'http://unitsofmeasure.org'
const quantities = [
  { value: 5, comparator: '<', unit: 'milligram', system: UCUM, code: 'mg' },
  { unit: 'mg', _value: { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }] } },
]
const weights = quantities.map((valueQuantity, index) => ({
  resourceType: 'Observation',
  id: `w${index + 1}`,
  status: 'final',
  code: { text: 'weight' },
  subject: { reference: 'Patient/p' },
  valueQuantity,
}))

const concept = (code: string): object => ({ coding: [{ code }] })
const criteria = (expression: string): object => ({ criteria: { language: 'text/cql-identifier', expression } })

/** The report of a cohort, by default of one patient, in which a definition is a stratifier and supplemental data. */
async function report(text: string, people?: readonly JsonObject[]): Promise<MeasureReport> {
  const library = {
    resourceType: 'Library',
    id: 'values',
    url: 'http://x/Library/Values',
    name: 'Values',
    version: '1',
    content: [{ contentType: 'text/cql', data: btoa(`${HEAD}define V: ${text}`) }],
  }
  const population = [{ id: 'ip', code: concept('initial-population'), ...criteria('Everybody') }]
  const measure = {
    resourceType: 'Measure',
    id: 'm',
    url: 'http://x/Measure/m',
    status: 'active',
    library: ['http://x/Library/Values'],
    scoring: concept('cohort'),
    extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: 'boolean' }],
    group: [{ population, stratifier: [{ code: { text: 'v' }, ...criteria('V') }] }],
    supplementalData: [{ code: { text: 'v' }, ...criteria('V') }],
  }
  const storage = memoryStorage([library, measure, ...(people ?? [{ resourceType: 'Patient', id: 'p' }]), ...weights], {
    indexer: release.indexer,
  })
  const ctx = createContext({ ...release, types, storage })
  const asked = { measure: 'm', periodStart: '2020', periodEnd: '2020', ...(people === undefined && { subject: 'Patient/p' }) }
  return toMeasureReport(await evaluateMeasure(ctx, asked, { languages: [cqlLanguage({ translator })] }))
}

const WEIGHT = "First([Observation] O where O.id = 'w1').value"

describe('values in a report', () => {
  it.each([
    ["1.50 'mg'", '1.5 mg', { value: 1.5, unit: 'mg', system: UCUM, code: 'mg' }],
    ['3 years', '3 years', { value: 3, unit: 'years' }],
    [WEIGHT, '< 5 mg', { value: 5, comparator: '<', unit: 'mg', system: UCUM, code: 'mg' }],
  ])('%s is the amount %s', async (text, name, quantity) => {
    const { group, contained } = await report(text)
    const [stratum] = group?.[0]?.stratifier?.[0]?.stratum ?? []
    expect(stratum?.value).toEqual({ text: name })
    expect(stratum?.extension?.[0]?.valueQuantity).toEqual(quantity)
    expect(contained).toMatchObject([{ valueQuantity: quantity }])
  })

  it.each([
    ["''", "''"],
    ["First([Observation] O where O.id = 'w2').value", 'null'],
  ])('%s names the stratum %s', async (text, name) => {
    const { group } = await report(text)
    expect(group?.[0]?.stratifier?.[0]?.stratum?.map(({ value }) => value)).toEqual([{ text: name }])
  })

  it('with the same code are one stratum, with the display and the text that the first subject has', async () => {
    const married = (id: string, display: string, times = 1): JsonObject => ({
      resourceType: 'Patient',
      id,
      maritalStatus: { coding: Array.from({ length: times }, () => ({ system: 'http://x/marital', code: 'S', display })), text: display },
    })
    const { group, contained } = await report('Patient.maritalStatus', [
      married('b', 'Never Married'),
      married('a', 'S'),
      married('c', 'Single', 2),
    ])
    const value = { coding: [{ system: 'http://x/marital', code: 'S', display: 'S' }], text: 'S' }
    expect(group?.[0]?.stratifier?.[0]?.stratum).toMatchObject([{ value, population: [{ count: 3 }] }])
    expect(contained).toMatchObject([{ code: value, valueInteger: 3 }])
  })

  it.each(["1.50 'mg'", '3 years', WEIGHT, "''", '{ 1, 2 }', "Concept { codes: { Code { code: 'a' } } }"])(
    'make a valid report of %s',
    async (text) => {
      const resource = await report(text)
      const { findings } = await validate(createContext({ ...release, types, storage: memoryStorage() }), { resource })
      const faults = findings.filter(({ severity, kind }) => severity === 'error' && kind !== 'extension-unknown')
      expect(faults.map(({ kind, text: said }) => [kind, said])).toEqual([])
    },
  )
})
