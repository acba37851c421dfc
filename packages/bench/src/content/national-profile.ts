import type { JsonObject } from 'fhir-ops/internal/json'

const BASE = 'http://example.org/bench/StructureDefinition'

/** Canonical of the profile. */
export const NATIONAL_PROFILE: string = `${BASE}/national-patient`

const CODED = ['race', 'ethnicity', 'birthsex', 'gender-identity'] as const
const MUST_SUPPORT = [
  'name.family',
  'name.given',
  'telecom.system',
  'telecom.value',
  'telecom.use',
  'birthDate',
  'address.line',
  'address.city',
  'address.state',
  'address.postalCode',
  'address.period',
  'communication',
] as const

/** An invented profile on Patient, with extensions, of the size of US Core's and with the same features: slices, bindings, required parts, invariants. */
export function nationalDefinitions(): readonly JsonObject[] {
  const element: readonly JsonObject[] = [
    {
      id: 'Patient',
      path: 'Patient',
      constraint: [{ key: 'nat-1', severity: 'error', human: 'A birth date or a name', expression: 'birthDate.exists() or name.exists()' }],
    },
    ...extensionSlices(),
    { id: 'Patient.identifier', path: 'Patient.identifier', min: 1 },
    { id: 'Patient.identifier.system', path: 'Patient.identifier.system', min: 1 },
    { id: 'Patient.identifier.value', path: 'Patient.identifier.value', min: 1 },
    {
      id: 'Patient.name',
      path: 'Patient.name',
      min: 1,
      constraint: [
        { key: 'nat-2', severity: 'error', human: 'A family name or a given name', expression: 'family.exists() or given.exists()' },
      ],
    },
    {
      id: 'Patient.gender',
      path: 'Patient.gender',
      min: 1,
      binding: { strength: 'required', valueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' },
    },
    ...MUST_SUPPORT.map((path) => ({ id: `Patient.${path}`, path: `Patient.${path}`, mustSupport: true })),
    {
      id: 'Patient.communication.language',
      path: 'Patient.communication.language',
      min: 1,
      binding: { strength: 'extensible', valueSet: 'http://hl7.org/fhir/ValueSet/languages' },
    },
  ]
  return [profileOf('national-patient', 'Patient', element), ...CODED.map(codedExtension)]
}

function extensionSlices(): readonly JsonObject[] {
  const path = 'Patient.extension'
  return [
    { id: path, path, slicing: { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' } },
    ...CODED.map((name) => ({
      id: `${path}:${name}`,
      path,
      sliceName: name,
      min: 0,
      max: '1',
      type: [{ code: 'Extension', profile: [`${BASE}/${name}`] }],
    })),
  ]
}

function codedExtension(name: string): JsonObject {
  const binding = { strength: 'required', valueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }
  return {
    ...profileOf(name, 'Extension', [
      { id: 'Extension', path: 'Extension', max: '1' },
      { id: 'Extension.url', path: 'Extension.url', fixedUri: `${BASE}/${name}` },
      { id: 'Extension.value[x]', path: 'Extension.value[x]', min: 1, type: [{ code: 'code' }], binding },
    ]),
    context: [{ type: 'element', expression: 'Patient' }],
  }
}

function profileOf(name: string, type: string, element: readonly JsonObject[]): JsonObject {
  return {
    resourceType: 'StructureDefinition',
    url: `${BASE}/${name}`,
    version: '1.0.0',
    name,
    status: 'active',
    kind: type === 'Patient' ? 'resource' : 'complex-type',
    abstract: false,
    type,
    baseDefinition: `http://hl7.org/fhir/StructureDefinition/${type}`,
    derivation: 'constraint',
    differential: { element },
  }
}

/** A Patient that conforms to the profile. */
export const NATIONAL_PATIENT: JsonObject = {
  resourceType: 'Patient',
  extension: CODED.map((name) => ({ url: `${BASE}/${name}`, valueCode: 'female' })),
  identifier: [{ system: 'http://example.org/mrn', value: '1' }],
  name: [{ use: 'official', family: 'Lovell', given: ['Ada', 'M.'] }],
  telecom: [{ system: 'phone', value: '555 0100', use: 'home' }],
  gender: 'female',
  birthDate: '1980-12-10',
  address: [{ line: ['1 Main Street'], city: 'Springfield', state: 'XX', postalCode: '00000', period: { start: '2020-01-01' } }],
  communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'en' }] } }],
}
