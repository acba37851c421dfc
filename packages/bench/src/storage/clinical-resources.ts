import type { JsonObject } from 'fhir-ops/internal/json'

/** Number of resources per Patient: itself and nine Observations about it. */
export const PER_PATIENT = 10

const START = Date.UTC(2016, 0, 1)
const DAY_MS = 86_400_000
const DAYS = 3_650

/** The n-th of any number of small resources: about 0.3 kB each, with ids in no order. */
export function clinicalResource(n: number): JsonObject {
  const patient = Math.floor(n / PER_PATIENT)
  return n % PER_PATIENT === 0 ? patientResource(patient) : observationResource(n, patient)
}

/** The id of the n-th Patient. */
export function patientId(n: number): string {
  return `p${scattered(n)}`
}

function patientResource(n: number): JsonObject {
  return {
    resourceType: 'Patient',
    id: patientId(n),
    identifier: [{ system: 'http://example.org/mrn', value: String(n) }],
    name: [{ family: `Family${n % 5_000}`, given: [`Given${n % 300}`] }],
    gender: n % 2 === 0 ? 'female' : 'male',
    birthDate: dayOf(n * 7 - 15_000),
  }
}

function observationResource(n: number, patient: number): JsonObject {
  return {
    resourceType: 'Observation',
    id: `o${scattered(n)}`,
    status: n % 10 === 1 ? 'preliminary' : 'final',
    code: { coding: [{ system: 'http://loinc.org', code: String(n % 101) }] },
    subject: { reference: `Patient/${patientId(patient)}` },
    effectiveDateTime: dayOf(n % DAYS),
    valueQuantity: { value: n % 200, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  }
}

/** A text from a number, in no order. */
function scattered(n: number): string {
  return (Math.imul(n, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')
}

function dayOf(day: number): string {
  return new Date(START + day * DAY_MS).toISOString().slice(0, 10)
}

/** A Measure that counts Patients and Observations. */
export const MEASURE: JsonObject = {
  resourceType: 'Measure',
  id: 'bench',
  status: 'active',
  group: [
    {
      population: [
        criterion('Patient'),
        criterion('Patient?gender=female'),
        criterion('Observation?code=http://loinc.org|7&date=ge{{%periodStart}}&date=le{{%periodEnd}}'),
        criterion('Observation?code=http://loinc.org|7&value-quantity=gt100'),
      ],
    },
  ],
}

function criterion(expression: string): JsonObject {
  return { criteria: { language: 'application/x-fhir-query', expression } }
}
