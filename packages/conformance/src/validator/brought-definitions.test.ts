import { createContext, forRequest, type OperationContext } from 'fhir-ops/context'
import { objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { expect, test } from 'vitest'
import { r4 } from '@fhir-ops/r4'
import { profileOn } from './rules/profile-on.js'

const BASE = 'http://hl7.org/fhir/StructureDefinition'
const GENDERS = { resourceType: 'ValueSet', url: 'http://hl7.org/fhir/ValueSet/administrative-gender', version: '4.0.1', status: 'active' }
const GENDER = { resourceType: 'CodeSystem', url: 'http://hl7.org/fhir/administrative-gender', version: '4.0.1', status: 'active' }
const EYES = 'http://example.org/ValueSet/eyes'
const COLOURS = 'http://example.org/ValueSet/colours'
const HAIR = 'http://example.org/ValueSet/hair'
const MISSING = 'http://example.org/ValueSet/missing'
const PROFILE = 'http://example.org/StructureDefinition/patient'

/** What the storage has; a value set that imports one that is missing, too. */
const stored = [
  { id: 'colour', ...colours(['blue', 'green']) },
  { id: 'patient', ...profileOn('Patient', PROFILE, [{ id: 'Patient.name', path: 'Patient.name', min: 1 }]) },
  { resourceType: 'ValueSet', id: 'eyes', url: EYES, status: 'active', compose: { include: [{ valueSet: [COLOURS] }] } },
  { resourceType: 'ValueSet', id: 'hair', url: HAIR, status: 'active', compose: { include: [{ valueSet: [MISSING] }] } },
  { id: 'colours', ...valueSet(COLOURS, 'blue') },
  {
    ...profileOn('Patient', 'http://example.org/StructureDefinition/eyes', [
      { id: 'Patient.maritalStatus', path: 'Patient.maritalStatus', binding: { strength: 'required', valueSet: EYES } },
      { id: 'Patient.contact.relationship', path: 'Patient.contact.relationship', binding: { strength: 'required', valueSet: HAIR } },
    ]),
    id: 'eye-profile',
  },
]

const BLUE = { coding: [{ system: 'http://example.org/colours', code: 'blue' }] }
const patient = {
  resourceType: 'Patient',
  meta: { profile: [PROFILE, 'http://example.org/StructureDefinition/eyes'] },
  name: [{ text: 'A' }],
  gender: 'female',
  maritalStatus: BLUE,
  contact: [{ name: { text: 'B' }, relationship: [BLUE] }],
  extension: [{ url: `${BASE}/patient-birthPlace`, valueAddress: { text: 'there' } }],
}
const response = {
  resourceType: 'QuestionnaireResponse',
  questionnaire: 'http://example.org/q',
  status: 'completed',
  item: [{ linkId: '1' }],
}

const r4Definitions = createContext({ storage: memoryStorage(), ...r4() }).content
const published = async (type: string): Promise<JsonObject> =>
  structuredClone((await r4Definitions.resolve('StructureDefinition', `${BASE}/${type}`))?.resource ?? {})

/** FHIR's own definition, but for a cardinality. */
async function demanding(type: string, path: string): Promise<JsonObject> {
  const definition = await published(type)
  const changed = objectsAt(objectAt(definition, 'snapshot'), 'element').map((one) => (one['path'] === path ? { ...one, min: 1 } : one))
  return { ...definition, snapshot: { element: changed }, differential: undefined }
}

const cases: readonly (readonly [string, JsonObject, JsonObject, string])[] = [
  ['a type of resource', patient, await demanding('Patient', 'Patient.birthDate'), 'too-few Patient'],
  ['a data type', patient, await demanding('HumanName', 'HumanName.family'), 'too-few Patient.name[0]'],
  ['an extension', patient, await demanding('patient-birthPlace', 'Extension.id'), 'too-few Patient.extension[0]'],
  ['a profile', patient, profileOn('Patient', PROFILE, [{ id: 'Patient.photo', path: 'Patient.photo', min: 1 }]), 'too-few Patient'],
  [
    'another profile of that url',
    patient,
    profileOn('Patient', PROFILE, [{ id: 'Patient.gender', path: 'Patient.gender', max: '0' }]),
    'too-many Patient',
  ],
  [
    "a value set of FHIR's own",
    patient,
    { ...GENDERS, compose: { include: [{ system: GENDER.url, concept: [{ code: 'male' }] }] } },
    'code-not-in-value-set Patient.gender',
  ],
  [
    "a code system of FHIR's own",
    patient,
    { ...GENDER, content: 'complete', caseSensitive: true, concept: [{ code: 'male' }] },
    'code-not-in-value-set Patient.gender',
  ],
  ['an imported value set', patient, valueSet(COLOURS, 'green'), 'code-not-in-value-set Patient.maritalStatus'],
  ['an import that was missing', patient, valueSet(MISSING, 'green'), 'code-not-in-value-set Patient.contact[0].relationship[0]'],
  [
    'a code system that is its own value set',
    patient,
    { ...colours(['green'], 'http://example.org/more'), valueSet: MISSING },
    'code-not-in-value-set Patient.contact[0].relationship[0]',
  ],
  ['a code system', patient, colours(['green']), 'code-unknown Patient.maritalStatus.coding[0].code'],
  [
    'a guide with a profile for all',
    patient,
    {
      resourceType: 'ImplementationGuide',
      url: 'http://example.org/guide',
      status: 'active',
      global: [{ type: 'Patient', profile: `${BASE}/Group` }],
    },
    'profile-type Patient',
  ],
  [
    'a questionnaire',
    response,
    { resourceType: 'Questionnaire', url: 'http://example.org/q', status: 'active', item: [{ linkId: '2', type: 'display' }] },
    'link-id-unknown QuestionnaireResponse',
  ],
]

const shared = contextOf()

test.each(cases)('%s that a request brings is used for that request', async (_, resource, brought, finding) => {
  const without = await told(shared, resource, [])
  expect(without).not.toContain(finding)
  const withIt = await told(shared, resource, [brought])
  expect(withIt).toContain(finding)
  expect(withIt).toEqual(await told(contextOf(), resource, [brought]))
  expect(await told(shared, resource, [])).toEqual(without)
})

test('requests at the same time see none of what others bring', async () => {
  const alone: (readonly string[])[] = []
  for (const [, resource, brought] of cases) alone.push(await told(shared, resource, [brought]))
  const together = contextOf()
  expect(await Promise.all(cases.map(([, resource, brought]) => told(together, resource, [brought])))).toEqual(alone)
})

function contextOf(): OperationContext {
  const base = r4()
  return createContext({ ...base, storage: memoryStorage(stored, { indexer: base.indexer }), now: () => new Date('2026-01-01T00:00:00Z') })
}

async function told(ctx: OperationContext, resource: JsonObject, resources: readonly JsonObject[]): Promise<readonly string[]> {
  const { findings } = await validate(forRequest(ctx, { resources, limits: { operationTimeoutMs: 600_000 } }), {
    resource: JSON.stringify(resource),
  })
  return findings.map(({ kind, expression }) => `${kind} ${expression}`)
}

function colours(codes: readonly string[], url = 'http://example.org/colours'): JsonObject {
  const concept = codes.map((code) => ({ code }))
  return { resourceType: 'CodeSystem', url, status: 'active', content: 'complete', caseSensitive: true, concept }
}

function valueSet(url: string, code: string): JsonObject {
  const include = [{ system: 'http://example.org/colours', concept: [{ code }] }]
  return { resourceType: 'ValueSet', url, status: 'active', compose: { include } }
}
