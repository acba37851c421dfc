import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/json'
import { findingsOf } from './findings-of.js'

const URL = 'http://extensions.test/e'
const definition = (expression: string): JsonObject => ({
  resourceType: 'StructureDefinition',
  url: URL,
  name: 'E',
  status: 'active',
  kind: 'complex-type',
  abstract: false,
  type: 'Extension',
  context: [{ type: 'element', expression }],
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Extension',
  derivation: 'constraint',
  differential: { element: [{ path: 'Extension' }, { path: 'Extension.url', fixedUri: URL }] },
})
const extension = [{ url: URL, valueString: 'x' }]
const valueSet = { resourceType: 'ValueSet', status: 'draft', extension }
const patient = { resourceType: 'Patient', extension }

test.each<readonly [context: string, resource: JsonObject, said: readonly string[]]>([
  ['CanonicalResource', valueSet, []],
  ['MetadataResource', valueSet, []],
  ['CanonicalResource', { ...valueSet, resourceType: 'NamingSystem' }, []],
  ['CanonicalResource', patient, ['error extension-context Patient']],
  ['Patient', patient, []],
  ['DomainResource', patient, []],
  ['ValueSet', patient, ['error extension-context Patient']],
])('an extension for %s on %j', async (context, resource, said) => {
  expect(await findingsOf(resource, [definition(context)], /^extension-/)).toEqual(said)
})
