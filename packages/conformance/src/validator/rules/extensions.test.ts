import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

const BASE = 'http://hl7.org/fhir/StructureDefinition/'
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
  baseDefinition: `${BASE}Extension`,
  derivation: 'constraint',
  differential: { element: [{ path: 'Extension' }, { path: 'Extension.url', fixedUri: URL }] },
})
const extension = [{ url: URL, valueString: 'x' }]
const valueSet = { resourceType: 'ValueSet', status: 'draft', extension }
const patient = { resourceType: 'Patient', extension }

const crossVersion = (release: string, path: string): string => `http://hl7.org/fhir/${release}/StructureDefinition/extension-${path}`
const UNKNOWN = 'error extension-unknown Patient.extension[0]'

test.each<readonly [what: string, extension: JsonObject, said: readonly string[]]>([
  ['a value of another type', { url: URL, valueString: 'x' }, ['error type-not-allowed Patient.extension[0]']],
  ['a value of its type', { url: URL, valueBoolean: true }, []],
  ['a relative url', { url: 'relative', valueString: 'x' }, ['error extension-url Patient.extension[0]']],
  ['the url of an element of another release', { url: crossVersion('5.0', 'Patient.foo'), valueString: 'x' }, []],
  ['the url of no release', { url: crossVersion('9.0', 'Patient.foo'), valueString: 'x' }, [UNKNOWN]],
  ['the url of no element', { url: crossVersion('5.0', 'Patient'), valueString: 'x' }, [UNKNOWN]],
])('an extension with %s', async (_, one, said) => {
  const typed = {
    ...definition('Patient'),
    differential: { element: [{ path: 'Extension.value[x]', type: [{ code: 'boolean' }] }] },
  }
  expect(await findingsOf({ resourceType: 'Patient', extension: [one] }, [typed], /^(extension-|type-)/)).toEqual(said)
})

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

test('a complex extension has only the parts that its definition names', async () => {
  const part = (name: string): JsonObject[] => [
    { path: 'Extension.extension', sliceName: name },
    { path: 'Extension.extension.url', fixedUri: name },
  ]
  const complex = { ...definition('Patient'), differential: { element: [{ path: 'Extension' }, ...part('a'), ...part('b')] } }
  const parts = ['a', 'c'].map((url) => ({ url, valueString: 'x' }))
  expect(await findingsOf({ resourceType: 'Patient', extension: [{ url: URL, extension: parts }] }, [complex], /^extension-/)).toEqual([
    'error extension-url Patient.extension[0].extension[1]',
  ])
})

test.each<readonly [what: string, stated: JsonObject]>([
  ['is retired', { status: 'retired' }],
  ['is deprecated', { extension: [{ url: `${BASE}structuredefinition-standards-status`, valueCode: 'deprecated' }] }],
])('an extension that %s is noted once', async (_, stated) => {
  const twice = { resourceType: 'Patient', extension: [...extension, ...extension] }
  expect(await findingsOf(twice, [{ ...definition('Patient'), ...stated }], /^extension-/)).toEqual([
    'information extension-outdated Patient.extension[0]',
  ])
})
