import { createContext, forRequest, type OperationContext } from 'fhir-ops/context'
import { packLayer, packOf } from 'fhir-ops/content'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { expect, test } from 'vitest'
import { r4 } from '@fhir-ops/r4'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const PROFILE = 'http://example.org/StructureDefinition/born'
const born = profileOn('Patient', PROFILE, [{ id: 'Patient.birthDate', path: 'Patient.birthDate', min: 1 }])
const guide = (version: string, global: readonly JsonObject[]): JsonObject => ({
  resourceType: 'ImplementationGuide',
  id: `guide-${version}`,
  url: 'http://example.org/ImplementationGuide/guide',
  version,
  name: 'Guide',
  status: 'active',
  packageId: 'example.guide',
  fhirVersion: ['4.0.1'],
  global,
})
const forPatients = [{ type: 'Patient', profile: PROFILE }]
const patient = { resourceType: 'Patient', active: true }

test.each<[string, readonly JsonObject[], readonly string[]]>([
  ['a guide with a profile for Patients', [born, guide('1', forPatients)], ['error too-few Patient']],
  ['a newer version of the guide that has none', [born, guide('1', forPatients), guide('2', [])], []],
  ['a guide with a profile for others', [born, guide('1', [{ type: 'Group', profile: PROFILE }])], []],
  ['a guide with a profile that is not known', [guide('1', forPatients)], ['warning profile-unknown Patient']],
])('with %s', async (_, definitions, expected) => {
  expect(await findingsOf(patient, definitions, /^(?:too-few|profile)/)).toEqual(expected)
})

const pack = packLayer(packOf([born, guide('1', forPatients)].map((resource) => JSON.stringify(resource))), 'guide#1')
const base = r4()

test.each<[string, OperationContext]>([
  [
    'storage',
    createContext({ ...base, storage: memoryStorage([{ id: 'born', ...born }, guide('1', forPatients)], { indexer: base.indexer }) }),
  ],
  ['a package', createContext({ ...base, storage: memoryStorage(), definitions: [pack, ...base.definitions] })],
])('of a guide in %s, for every resource of the type wherever it is', async (_, ctx) => {
  const entry = [{ fullUrl: 'http://example.org/Patient/1', resource: { ...patient, id: '1' } }]
  const bundle = JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry })
  for (let turn = 0; turn < 2; turn++) {
    const { findings } = await validate(forRequest(ctx, {}), { resource: bundle })
    expect(findings.map(({ severity, expression }) => `${severity} ${expression}`)).toContain('error Bundle.entry[0].resource')
  }
})
