import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { libraryWith } from '../library.fixture.js'

/** A measure of four populations: adults with diabetes whose HbA1c was measured in the period and is low, without hospice. */
export const DIABETES = `library Diabetes version '1.2'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
include Common version '1'
valueset "HbA1c": 'http://x/ValueSet/hba1c'
valueset "Diabetes codes": 'http://x/ValueSet/diabetes'
codesystem "Snomed": 'http://snomed.info/sct'
code "Hospice care": '385763009' from "Snomed"
parameter "Measurement Period" Interval<DateTime>
context Patient
define "Initial Population": Common.Adult and exists Visits
define Visits: [Encounter] E where E.status = 'finished' and E.period during "Measurement Period"
define "Denominator": exists [Condition: "Diabetes codes"]
define "Exclusion": exists [Procedure: "Hospice care"]
define "HbA1c in period": [Observation: "HbA1c"] O
  where O.status in { 'final', 'amended' } and O.effective during "Measurement Period"
define "Latest": Last("HbA1c in period" O sort by (effective as FHIR.dateTime).value)
define "Numerator": exists "HbA1c in period" and (Latest.value as FHIR.Quantity) < 8 '%'
define "Never used": exists [Device]
`
export const COMMON = `library Common version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
parameter "Measurement Period" Interval<DateTime>
context Patient
define Adult: AgeInYearsAt(@2024-01-01) >= 18
define Unused: true
`

/** Any resource. */
export interface Resource {
  readonly resourceType: string
  readonly id: string
  readonly [member: string]: unknown
}

export const libraryOf = (name: string, text: string, version = '1'): Resource =>
  libraryWith(name, text, { version, type: { coding: [{ code: 'logic-library' }] } })
export const valueSetOf = (id: string, system: string, ...codes: readonly string[]): Resource => ({
  resourceType: 'ValueSet',
  id,
  url: `http://x/ValueSet/${id}`,
  status: 'active',
  compose: { include: [{ system, concept: codes.map((code) => ({ code })) }] },
})
export const populationOf = (kind: string, expression: string, language = 'text/cql-identifier'): object => ({
  code: { coding: [{ code: kind }] },
  criteria: { language, expression },
})
export const measureOf = (population: readonly object[], over: object = {}): Resource => ({
  resourceType: 'Measure',
  id: 'm',
  url: 'http://x/Measure/m',
  version: '3',
  status: 'active',
  library: ['http://x/Library/Diabetes'],
  scoring: { coding: [{ code: 'proportion' }] },
  extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: 'boolean' }],
  group: [{ population }],
  ...over,
})
export const MEASURE: Resource = measureOf([
  populationOf('initial-population', 'Initial Population'),
  populationOf('denominator', 'Denominator'),
  populationOf('denominator-exclusion', 'Exclusion'),
  populationOf('numerator', 'Numerator'),
])

const of = (id: string): object => ({ subject: { reference: `Patient/${id}` } })
export const patient = (id: string, birthDate: string = '1960-05-01', more: object = {}): Resource => ({
  resourceType: 'Patient',
  id,
  birthDate,
  ...more,
})
export const visit = (id: string, who: string, start: string, end: string = start, status = 'finished'): Resource => ({
  resourceType: 'Encounter',
  id,
  status,
  class: { code: 'AMB' },
  ...of(who),
  period: { start: `${start}T10:00:00Z`, end: `${end}T11:00:00Z` },
})
export const observation = (id: string, who: string, effectiveDateTime: string, more: object = {}): Resource => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '4548-4' }] },
  ...of(who),
  effectiveDateTime,
  valueQuantity: { value: 7.1, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
  ...more,
})
export const condition = (id: string, who: string, code = '44054006'): Resource => ({
  resourceType: 'Condition',
  id,
  code: { coding: [{ system: 'http://snomed.info/sct', code }] },
  ...of(who),
})
export const procedure = (id: string, who: string, code: string): Resource => ({
  resourceType: 'Procedure',
  id,
  status: 'completed',
  code: { coding: [{ system: 'http://snomed.info/sct', code }] },
  ...of(who),
})

const { indexer, ...release } = r4()

/** A context with the measure, its libraries and value sets, and other resources. */
export function contextWith(...resources: readonly Resource[]): OperationContext {
  const definitions = [
    libraryOf('Diabetes', DIABETES, '1.2'),
    libraryOf('Common', COMMON),
    valueSetOf('hba1c', 'http://loinc.org', '4548-4', '17856-6'),
    valueSetOf('diabetes', 'http://snomed.info/sct', '44054006', '46635009'),
    ...(resources.some(({ resourceType }) => resourceType === 'Measure') ? [] : [MEASURE]),
  ]
  return createContext({ ...release, storage: memoryStorage([...definitions, ...resources], { indexer }) })
}
