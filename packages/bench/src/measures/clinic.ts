import type { JsonObject } from 'fhir-ops/internal/json'

/** Canonical of the library. */
export const LIBRARY_URL = 'http://example.org/bench/Library/BloodPressure'
/** The measurement period. */
export const PERIOD = { start: '2015-01-01', end: '2015-12-31' }

const LOINC = 'http://loinc.org'
const SCT = 'http://snomed.info/sct'
const VISITS = ['185349003', '185345009', '185347001', '308335008']
const CHRONIC = ['38341003', '44054006', '15777000']
const ACUTE = ['195662009', '444814009', '10509002', '36971009']
const OTHER_CODES = ['2093-3', '8302-2', '29463-7', '39156-5', '2339-0', '6299-2', '38483-4']

/** Resources of one patient: itself, 20 encounters, 6 conditions, 10 procedures and 110 observations, 22 of them blood pressures. */
export function recordOf(n: number): readonly JsonObject[] {
  const id = `p${n}`
  const subject = { reference: `Patient/${id}` }
  return [
    { resourceType: 'Patient', id, gender: n % 2 === 0 ? 'female' : 'male', birthDate: dayOf(-15_000 + ((n * 37) % 20_000)) },
    ...made(20, (i) => ({
      resourceType: 'Encounter',
      id: `${id}-e${i}`,
      status: i % 9 === 8 ? 'cancelled' : 'finished',
      class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
      type: [concept(SCT, VISITS[(n + i) % 4])],
      subject,
      period: { start: `${dayOf(i * 180 + (n % 90))}T10:00:00Z`, end: `${dayOf(i * 180 + (n % 90))}T10:30:00Z` },
    })),
    ...made(6, (i) => ({
      resourceType: 'Condition',
      id: `${id}-c${i}`,
      clinicalStatus: concept('http://terminology.hl7.org/CodeSystem/condition-clinical', i % 2 === 0 ? 'active' : 'resolved'),
      code: concept(SCT, i === 0 && n % 3 === 0 ? CHRONIC[n % 3] : ACUTE[(n + i) % 4]),
      subject,
      onsetDateTime: `${dayOf(i * 500 + (n % 200))}T08:00:00Z`,
    })),
    ...made(10, (i) => ({
      resourceType: 'Procedure',
      id: `${id}-r${i}`,
      status: 'completed',
      code: concept(SCT, i === 7 && n % 11 === 0 ? '73761001' : '430193006'),
      subject,
      performedPeriod: { start: `${dayOf(i * 300)}T09:00:00Z`, end: `${dayOf(i * 300)}T09:15:00Z` },
    })),
    ...made(110, (i) => (i % 5 === 0 ? pressure(n, i, subject) : plain(n, i, subject))),
  ]
}

function pressure(n: number, i: number, subject: JsonObject): JsonObject {
  const component = (code: string, value: number): JsonObject => ({
    code: concept(LOINC, code),
    valueQuantity: { value, unit: 'mm[Hg]', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
  })
  return {
    resourceType: 'Observation',
    id: `p${n}-o${i}`,
    status: 'final',
    code: concept(LOINC, '85354-9'),
    subject,
    effectiveDateTime: `${dayOf(i * 33 + (n % 30))}T10:10:00Z`,
    component: [component('8480-6', 105 + ((n * 13 + i * 7) % 60)), component('8462-4', 60 + ((n * 5 + i * 3) % 45))],
  }
}

function plain(n: number, i: number, subject: JsonObject): JsonObject {
  return {
    resourceType: 'Observation',
    id: `p${n}-o${i}`,
    status: 'final',
    code: concept(LOINC, i === 3 && n % 4 === 0 ? '2093-3' : (OTHER_CODES[1 + (i % 6)] ?? '')),
    subject,
    effectiveDateTime: `${dayOf(i * 33)}T10:10:00Z`,
    valueQuantity: { value: (n + i) % 200, unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' },
  }
}

function concept(system: string, code = ''): JsonObject {
  return { coding: [{ system, code }] }
}

function made(count: number, make: (i: number) => JsonObject): readonly JsonObject[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

function dayOf(day: number): string {
  return new Date(Date.UTC(2010, 0, 1) + day * 86_400_000).toISOString().slice(0, 10)
}

const valueSet = (name: string, codes: readonly string[]): JsonObject => ({
  resourceType: 'ValueSet',
  id: name,
  url: `http://example.org/bench/vs/${name}`,
  version: '1',
  status: 'active',
  compose: { include: [{ system: SCT, concept: codes.map((code) => ({ code })) }] },
})

/** The value sets that the library names. */
export const VALUE_SETS: readonly JsonObject[] = [valueSet('visits', VISITS.slice(0, 3)), valueSet('chronic', CHRONIC)]

/** Blood pressure of patients with chronic conditions, and patients who ever had a cholesterol measurement. */
export const LIBRARY_TEXT: string = `library BloodPressure version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
codesystem "LOINC": '${LOINC}'
codesystem "SNOMED": '${SCT}'
valueset "Visits": 'http://example.org/bench/vs/visits'
valueset "Chronic": 'http://example.org/bench/vs/chronic'
code "Blood pressure": '85354-9' from "LOINC"
code "Systolic": '8480-6' from "LOINC"
code "Diastolic": '8462-4' from "LOINC"
code "Cholesterol": '2093-3' from "LOINC"
code "Colonoscopy": '73761001' from "SNOMED"
parameter "Measurement Period" Interval<DateTime>
context Patient
define "Cholesterol measured": exists [Observation: "Cholesterol"]
define "Qualifying visits":
  [Encounter: "Visits"] E
    where E.status.value = 'finished'
      and start of E.period >= start of "Measurement Period" and end of E.period <= end of "Measurement Period"
define "Initial Population": AgeInYearsAt(start of "Measurement Period") >= 18 and exists "Qualifying visits"
define "Chronic conditions":
  [Condition: "Chronic"] C where C.onset as FHIR.dateTime before end of "Measurement Period"
define "Denominator": "Initial Population" and exists "Chronic conditions"
define "Denominator Exclusion":
  exists ([Procedure: "Colonoscopy"] P where (P.performed as FHIR.Period) overlaps "Measurement Period")
define "Readings":
  [Observation: "Blood pressure"] O
    where O.status.value in { 'final', 'amended', 'corrected' } and (O.effective as FHIR.dateTime) during "Measurement Period"
    return Tuple {
      time: FHIRHelpers.ToDateTime(O.effective as FHIR.dateTime),
      systolic: singleton from (O.component C where C.code ~ "Systolic" return C.value as FHIR.Quantity),
      diastolic: singleton from (O.component C where C.code ~ "Diastolic" return C.value as FHIR.Quantity)
    }
define "Most recent": Last("Readings" R sort by time)
define "Numerator": "Most recent".systolic < 140 'mm[Hg]' and "Most recent".diastolic < 90 'mm[Hg]'
`

/** The conversions that the library uses, for engines without built-in ones. */
export const HELPERS_TEXT: string = `library FHIRHelpers version '4.0.1'
using FHIR version '4.0.1'
define function ToDate(value FHIR.date): value.value
define function ToDateTime(value FHIR.dateTime): value.value
define function ToString(value FHIR.string): value.value
define function ToInterval(period FHIR.Period): Interval[period."start".value, period."end".value]
define function ToQuantity(quantity FHIR.Quantity): System.Quantity { value: quantity.value.value, unit: quantity.code.value }
define function ToConcept(concept FHIR.CodeableConcept):
  System.Concept { codes: concept.coding C return System.Code { code: C.code.value, system: C.system.value } }
`

const population = (code: string, expression: string): JsonObject => ({
  code: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-population', code }] },
  criteria: { language: 'text/cql-identifier', expression },
})

const measure = (id: string, scoring: string, populations: readonly JsonObject[]): JsonObject => ({
  resourceType: 'Measure',
  id,
  url: `http://example.org/bench/Measure/${id}`,
  status: 'active',
  library: [LIBRARY_URL],
  scoring: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-scoring', code: scoring }] },
  group: [{ population: populations }],
})

/** One retrieve by code. */
export const MEASURE_A: JsonObject = measure('a', 'cohort', [population('initial-population', 'Cholesterol measured')])

/** Four populations: age, visits by value set and status, conditions, procedures, the most recent of the blood pressures. */
export const MEASURE_B: JsonObject = measure('b', 'proportion', [
  population('initial-population', 'Initial Population'),
  population('denominator', 'Denominator'),
  population('denominator-exclusion', 'Denominator Exclusion'),
  population('numerator', 'Numerator'),
])
