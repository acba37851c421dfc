import type { JsonObject } from 'fhir-ops/internal/json'

/** Number of codes of the large code system, and of elements of the large map. */
export const LARGE = 100_000

const WORDS = [
  'acute',
  'chronic',
  'left',
  'right',
  'upper',
  'lower',
  'fracture',
  'infection',
  'pain',
  'swelling',
  'lesion',
  'burn',
  'injury',
]
const SYSTEM = 'http://example.org/bench/system'

/** A deterministic code system of short clinical-looking displays, with the value set of all its codes. */
export function largeCodeSystem(): readonly JsonObject[] {
  const concept = Array.from({ length: LARGE }, (_, i) => ({ code: `c${i}`, display: displayOf(i) }))
  return [
    { resourceType: 'CodeSystem', id: 'large', url: SYSTEM, status: 'active', content: 'complete', concept },
    {
      resourceType: 'ValueSet',
      id: 'large',
      url: 'http://example.org/bench/all',
      status: 'active',
      compose: { include: [{ system: SYSTEM }] },
    },
  ]
}

function displayOf(i: number): string {
  const word = (n: number): string => WORDS[n % WORDS.length] ?? ''
  return `${word(i)} ${word(Math.floor(i / 13))} ${word(Math.floor(i / 169))} ${i}`
}

/** A map from every code of the large system to another one. */
export function largeMap(): JsonObject {
  const element = Array.from({ length: LARGE }, (_, i) => ({ code: `c${i}`, target: [{ code: `t${i}`, equivalence: 'equivalent' }] }))
  return {
    resourceType: 'ConceptMap',
    id: 'large',
    url: 'http://example.org/bench/map',
    status: 'active',
    group: [{ source: SYSTEM, target: 'http://example.org/bench/target', element }],
  }
}

/** A typical patient of a request. */
export const PATIENT: JsonObject = {
  resourceType: 'Patient',
  id: 'p',
  active: true,
  name: [{ use: 'official', family: 'Lovell', given: ['Ada'] }],
  gender: 'female',
  birthDate: '1980-12-10',
}

/** A patient with a single element. */
export const MINIMAL_PATIENT: JsonObject = { resourceType: 'Patient', active: true }

/** A profile that requires a name. */
export const NAMED_PATIENT: JsonObject & { readonly url: string } = {
  resourceType: 'StructureDefinition',
  url: 'http://example.org/bench/named-patient',
  name: 'NamedPatient',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Patient',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
  derivation: 'constraint',
  differential: { element: [{ id: 'Patient.name', path: 'Patient.name', min: 1 }] },
}

/** An observation with a bound category and a quantity. */
export const OBSERVATION: JsonObject = {
  resourceType: 'Observation',
  id: 'o',
  status: 'final',
  category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] }],
  code: { coding: [{ system: 'http://example.org/measurement', code: 'heart-rate' }] },
  subject: { reference: 'Patient/p' },
  effectiveDateTime: '2026-02-03T09:30:00Z',
  valueQuantity: { value: 72, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
}

/** An observation that FHIR requires to conform to its heart rate profile. */
export const HEART_RATE: JsonObject = {
  ...OBSERVATION,
  category: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs', display: 'Vital Signs' }] },
  ],
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4', display: 'Heart rate' }] },
}

/** A bot that returns its input with one additional element. */
export const BOT: JsonObject = {
  resourceType: 'Bot',
  id: 'echo',
  runtime: 'sandbox',
  code: 'export function handler(event) { return { ...event.input, seen: true } }',
}

const LIBRARY = Array.from(
  { length: 900 },
  (_, n) => `function part${n}(a, b) {
  const table = { x${n}: a + b, list: [a, b, ${n}] }
  return table.list.map((value) => value * ${n}).filter((value) => value > 10).join(',')
}
`,
).join('')

/** The same bot, bundled with a library of 160 kB. */
export const LARGE_BOT: JsonObject & { readonly id: string } = { ...BOT, id: 'large', code: `${LIBRARY}${String(BOT['code'])}` }

export { SYSTEM as LARGE_SYSTEM }
