import { expect, test } from 'vitest'
import { createContext, forRequest } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate, type ValidateInput } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const ctx = createContext({ storage: memoryStorage(), ...r4() })
const KINDS = /^(publication|work-group|uri-fragment|terminology-status|code-not-in-value-set)$/

async function said(resource: JsonObject, input: Partial<ValidateInput> = {}, definitions: readonly JsonObject[] = []): Promise<unknown> {
  const { findings } = await validate(forRequest(ctx, { resources: definitions }), { ...input, resource: JSON.stringify(resource) })
  return findings
    .filter(({ kind }) => KINDS.test(kind))
    .map(({ severity, code, kind, expression }) => `${severity}|${code} ${kind} ${expression}`)
}
const PUBLISH = { forPublication: true }

const definition = (resourceType: string, members: JsonObject = {}): JsonObject => ({
  resourceType,
  url: `http://a.test/${resourceType}/a`,
  version: '1',
  name: 'A',
  title: 'A',
  status: 'active',
  experimental: false,
  description: 'a',
  publisher: 'A',
  ...members,
})
const system = (members: JsonObject = {}): JsonObject =>
  definition('CodeSystem', { caseSensitive: true, content: 'complete', concept: [{ code: 'a' }], ...members })
const TERMS = { url: 'http://terminology.hl7.org/CodeSystem/a' }

const MEMBERS = ['url', 'version', 'title', 'experimental', 'description']
test.each<readonly [string, readonly string[], readonly string[]]>([
  ['CodeSystem', [...MEMBERS, 'caseSensitive'], ['name']],
  ['ValueSet', MEMBERS, ['name']],
  ['ConceptMap', MEMBERS, ['name']],
  ['Measure', [...MEMBERS.filter((name) => name !== 'title'), 'publisher', 'name'], ['title']],
])(
  'a %s for publication states what one that is shared does: CODESYSTEM_SHAREABLE_MISSING_HL7, VALUESET_SHAREABLE_MISSING_HL7, CONCEPTMAP_SHAREABLE_MISSING_HL7, MEASURE_SHAREABLE_MISSING_HL7',
  async (type, needed, advised) => {
    const made = (members: JsonObject): JsonObject => (type === 'CodeSystem' ? system(members) : definition(type, members))
    expect(await said(made({}), PUBLISH)).toEqual([])
    for (const name of [...needed, ...advised]) {
      expect(await said(made({ [name]: undefined }))).toEqual([])
      expect(await said(made({ [name]: undefined }), PUBLISH)).toEqual([`warning|required publication ${type}`])
      const severity = needed.includes(name) && name !== 'url' ? 'error' : 'warning'
      const ofHl7 = made({ url: `http://terminology.hl7.org/${type}/a`, [name]: undefined })
      expect(await said(ofHl7, PUBLISH)).toEqual([`${severity}|required publication ${type}`])
    }
  },
)

test.each<readonly [title: string, resource: JsonObject, expected: readonly string[]]>([
  ['of nobody, without name: CODESYSTEM_SHAREABLE_EXTRA_MISSING', system({ name: undefined }), ['warning|required publication CodeSystem']],
  ['that supplements', system({ content: 'supplement', caseSensitive: undefined }), []],
  [
    'of HL7, without work group: VALIDATION_HL7_WG_NEEDED, CODESYSTEM_THO_CHECK',
    system({ url: 'http://hl7.org/fhir/a' }),
    ['information|business-rule publication CodeSystem', 'error|business-rule work-group CodeSystem'],
  ],
  [
    'of identifiers: CODESYSTEM_THO_CHECK',
    system({ url: 'http://hl7.org/fhir/sid/a' }),
    ['information|business-rule publication CodeSystem'],
  ],
  ['of CDA', system({ url: 'http://hl7.org/cda/stds/core/a' }), []],
  ['with a version that is absent for a reason', system({ ...TERMS, version: undefined, _version: { id: 'a' } }), []],
])('a code system for publication %s', async (_, resource, expected) => {
  expect(await said(resource, PUBLISH)).toEqual(expected)
  expect(await said(resource)).toEqual([])
})

const ext = (name: string): JsonObject => ({ url: `http://hl7.org/fhir/StructureDefinition/structuredefinition-${name}` })
test.each<readonly [title: string, url: string, extension: readonly JsonObject[], expected: readonly string[]]>([
  ['of HL7: IG_HL7_STANDARDS_STATUS_REQUIRED', 'http://hl7.org/fhir/a', [ext('wg'), ext('fmm')], ['error']],
  ['of HL7: IG_HL7_WG_REQUIRED', 'http://hl7.org/fhir/a', [ext('standards-status'), ext('fmm')], ['error']],
  ['of HL7: IG_HL7_FMM_SHOULD', 'http://hl7.org/fhir/a', [ext('standards-status'), ext('wg')], ['warning']],
  ['of HL7 without any', 'http://hl7.org/fhir/a', [], ['error', 'error', 'warning']],
  ['of others', 'http://a.test/a', [], []],
])('a guide %s states its status, work group and maturity', async (_, url, extension, severities) => {
  const guide = definition('ImplementationGuide', { url, extension, packageId: 'a.b.c', fhirVersion: ['4.0.1'] })
  expect(await said(guide)).toEqual(severities.map((severity) => `${severity}|business-rule publication ImplementationGuide`))
})

const list = { resourceType: 'List', status: 'current', mode: 'working', title: 'a' }
const ordered = { ...list, orderedBy: { coding: [{ system: 'http://hl7.org/fhir/administrative-gender', code: 'male' }] } }
const profile = (binding: JsonObject): JsonObject =>
  definition('StructureDefinition', {
    kind: 'resource',
    abstract: false,
    type: 'List',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/List',
    derivation: 'constraint',
    differential: { element: [{ path: 'List' }, { path: 'List.orderedBy', ...binding }] },
  })
const HL7 = 'http://hl7.org/fhir/ValueSet/'
const OUT = ['information|code-invalid code-not-in-value-set List.orderedBy']
test.each<readonly [title: string, binding: JsonObject, expected: readonly string[]]>([
  ['no other', { min: 1 }, []],
  ['the same', { binding: { strength: 'preferred', valueSet: `${HL7}list-order` } }, []],
  ['the same in a version', { binding: { strength: 'preferred', valueSet: `${HL7}list-order|4.0.1` } }, []],
  ['another', { binding: { strength: 'preferred', valueSet: `${HL7}observation-status` } }, OUT],
])('a code beyond what FHIR prefers, where a profile has %s: Terminology_TX_NoValid_3_CC', async (_, binding, expected) => {
  const own = profile(binding)
  expect(await said(ordered)).toEqual([])
  expect(await said(ordered, PUBLISH)).toEqual(OUT)
  expect(await said(ordered, { profiles: [String(own['url'])] }, [own])).toEqual(expected)
})

test('a fragment that leads nowhere and an experiment weigh more in what is to be published: TYPE_SPECIFIC_CHECKS_DT_URL_INTERNAL', async () => {
  const source = { resourceType: 'Patient', active: true, meta: { source: '#a' }, identifier: [{ system: '#b', value: 'x' }] }
  const [first, second] = ['invalid uri-fragment Patient.meta.source', 'invalid uri-fragment Patient.identifier[0].system']
  expect(await said(source)).toEqual([`information|${first}`, `warning|${second}`])
  expect(await said(source, PUBLISH)).toEqual([`warning|${first}`, `error|${second}`])
  const basic = { resourceType: 'Basic', code: { coding: [{ system: 'http://a.test/CodeSystem/a', code: 'a' }] } }
  expect(await said(basic, {}, [system({ experimental: true })])).toEqual([])
  expect(await said(basic, PUBLISH, [system({ experimental: true })])).toEqual(['information|business-rule terminology-status Basic.code'])
})
