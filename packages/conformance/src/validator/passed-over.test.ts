import { r4 } from '@fhir-ops/r4'
import { createContext, type RuleSettings } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { expect, test } from 'vitest'

const ctx = createContext({ storage: memoryStorage(), ...r4(), limits: { maxIssues: 1_000 } })

/** A rule that looks at every element and says nothing: with it nothing can be passed over without a visit. */
const VISITING: RuleSettings = { 'visits-all': { on: 'Element', severity: 'information', advice: 'None.', check: () => undefined } }

const RIGHT = {
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4', display: 'Heart rate' }] },
  subject: { reference: 'Patient/1' },
  effectiveDateTime: '2020-01-01',
}

const quantity = { value: 1, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' }

const BASE = 'http://hl7.org/fhir/StructureDefinition/'

/** Extensions that belong to observations, codes and any element, or to none of these, some of them wrong in themselves. */
const EXTENSIONS: readonly object[] = [
  { url: `${BASE}observation-bodyPosition`, valueCodeableConcept: { text: 'a' } },
  { url: `${BASE}observation-bodyPosition`, valueCodeableConcept: {} },
  { url: `${BASE}observation-bodyPosition`, valueCode: 'a' },
  { url: `${BASE}observation-bodyPosition` },
  { url: `${BASE}observation-bodyPosition|4.0.1`, valueCodeableConcept: { text: 'a' } },
  { url: `${BASE}ordinalValue`, valueDecimal: 1 },
  { url: `${BASE}ordinalValue`, valueDecimal: 1, valueString: 'a' },
  { url: `${BASE}ordinalValue`, valueDecimal: 1, extension: [{ url: 'a', valueString: 'a' }] },
  { url: `${BASE}data-absent-reason`, valueCode: 'unknown' },
  { url: `${BASE}data-absent-reason`, valueCode: 'no-such-code' },
  { url: `${BASE}patient-nationality`, extension: [{ url: 'code', valueCodeableConcept: { text: 'a' } }] },
  { url: `${BASE}patient-birthPlace`, valueAddress: { city: 'a' } },
  { url: `${BASE}Observation`, valueString: 'a' },
  { url: 'http://example.org/unknown', valueString: 'a' },
  { url: 'relative', valueString: 'a' },
  { valueString: 'a' },
]

/** Members of an Observation, each of them a value that is right, nearly right or wrong. */
const MEMBERS: readonly object[] = [
  { valueQuantity: quantity },
  ...Object.keys(quantity).map((left) => ({
    valueQuantity: Object.fromEntries(Object.entries(quantity).filter(([name]) => name !== left)),
  })),
  { valueQuantity: { ...quantity, code: 'kg{dry}' } },
  { valueQuantity: { ...quantity, system: 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor' } },
  { valueQuantity: { ...quantity, comparator: '~' } },
  { valuePeriod: { start: '2020-01-01', end: '2021' } },
  { valuePeriod: { start: '2020-01-02', end: '2020-01-01' } },
  { valuePeriod: { start: '2020-01-01T10:00:00+01:00', end: '2020-01-01T09:30:00Z' } },
  { valueRange: { low: { ...quantity, value: 2 }, high: quantity } },
  { valueRatio: { numerator: quantity } },
  { valueCodeableConcept: {} },
  { valueCodeableConcept: { id: 'a', text: 'a' } },
  { valueCodeableConcept: { text: 'a', coding: [] } },
  { valueCodeableConcept: { coding: [{ display: 'a' }] } },
  { valueCodeableConcept: { coding: [{ code: 'a' }] } },
  { valueCodeableConcept: { coding: [{ system: 'relative', code: 'a' }] } },
  { valueCodeableConcept: { coding: [{ system: 'http://hl7.org/fhir/ValueSet/administrative-gender', code: 'male' }] } },
  { valueCodeableConcept: { coding: [{ system: 'http://hl7.org/fhir/administrative-gender', code: 'male', display: 'Female' }] } },
  { valueCodeableConcept: { coding: [{ system: 'http://hl7.org/fhir/administrative-gender', code: 'MALE' }] } },
  {
    language: 'de',
    interpretation: [{ coding: [{ system: 'http://hl7.org/fhir/administrative-gender', code: 'male', display: 'Male' }] }],
  },
  { status: 'unknown-code' },
  { dataAbsentReason: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason', code: 'unknown' }] } },
  { dataAbsentReason: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason', code: 'none' }] } },
  ...['Observation/1', '#1', '#', 'Patient/1 2', 'Patient?identifier=a|b', 'http://example.org/Patient/1', 'Nothing/1'].map(
    (reference) => ({
      subject: { reference },
    }),
  ),
  { subject: { type: 'Patient', reference: 'Group/1' } },
  { subject: {} },
  { subject: { identifier: { value: '1' } } },
  { subject: { display: 'Ada' } },
  ...['http://example.org', 'relative', 'urn:ietf:rfc:3986', 'https://tools.ietf.org/html/rfc4122'].map((system) => ({
    identifier: [{ system, value: '1' }, { system }],
  })),
  { identifier: [{ use: 'none', value: ' 1' }] },
  { identifier: [{ value: '1', _value: { id: 'a' } }] },
  { component: [{ code: { text: 'a' } }, { valueString: 'a' }] },
  { component: [{ code: { text: 'a' }, valueString: 'a', valueInteger: 1 }] },
  { referenceRange: [{ text: 'a' }, {}, { low: quantity, high: { ...quantity, code: 'nothing' } }] },
  {
    referenceRange: [
      { low: { ...quantity, comparator: '<' }, high: quantity },
      { low: { value: 1 }, high: { value: 0 } },
    ],
  },
  { component: [{ code: { text: 'a' }, valueRange: { low: { ...quantity, comparator: '<' }, high: { ...quantity, code: 'g' } } }] },
  ...EXTENSIONS.flatMap((extension) => [
    { extension: [extension] },
    { modifierExtension: [extension] },
    { method: { text: 'a', extension: [extension] } },
    { method: { coding: [{ ...quantity, extension: [extension, extension] }] } },
    { referenceRange: [{ text: 'a', extension: [extension], modifierExtension: [extension] }] },
  ]),
  { note: [{ text: '<b>bold</b>' }, { authorString: 'a', authorReference: { reference: 'Patient/1' }, text: 'a' }] },
  { meta: { profile: ['relative', 'http://example.org/profile'], tag: [{ code: 'a' }], security: [{ code: 'a' }, { code: 'a' }] } },
  ...[
    '<p>a</p>',
    '',
    '<script/>',
    '<p id="a">a</p><p id="a">a</p>',
    '<a href="#b">a</a>',
    '<tr><p>a</p></tr>',
    '<p a=>',
    '<p>a',
    '<br',
    'a&b',
  ].map((inside) => ({ text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${inside}</div>` } })),
  { method: { constructor: 'a' } },
  { method: [{ text: 'a' }] },
  { method: 'a' },
  { method: null },
]

test.each(MEMBERS)('what is passed over without a visit has nothing to report: %j', async (member) => {
  const resource = { resourceType: 'Observation', ...RIGHT, ...member }
  const { findings } = await validate(ctx, { resource })
  expect(findings).toEqual((await validate(ctx, { resource, rules: VISITING })).findings)
})

test('the same in a Bundle, where references lead to entries, and with best practices', async () => {
  const entry = MEMBERS.map((member, index) => ({
    fullUrl: `http://example.org/Observation/${index}`,
    resource: { resourceType: 'Observation', id: `${index}`, ...RIGHT, hasMember: [{ reference: `Observation/${index + 1}` }], ...member },
  }))
  const input = { resource: { resourceType: 'Bundle', type: 'collection', entry }, bestPractice: 'warning' } as const
  const { findings } = await validate(ctx, input)
  expect(findings.length).toBeGreaterThan(MEMBERS.length)
  expect(findings).toEqual((await validate(ctx, { ...input, rules: VISITING })).findings)
})
