// Resources for testing the sentences of R4's search page.

import type { Resource } from './naive/values.js'

const subject = { reference: 'Patient/ann' }
const quantity = (value: number, code: string, unit = code): object => ({
  valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code },
})
const weight = { coding: [{ system: 'http://loinc.org', code: '29463-7', display: 'Body weight' }] }
const observation = (id: string, more: object): Resource => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: weight,
  subject,
  ...more,
})

const narrative = (content: string): object => ({ status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>` })

/** The stored resources. */
export const RESOURCES: readonly Resource[] = [
  {
    resourceType: 'Organization',
    id: 'clinic',
    name: 'Clinic, North | East $ West \\ Wing',
    identifier: [{ system: 'http://acme.org', value: 'c,1|2$3' }],
  },
  { resourceType: 'Practitioner', id: 'who', name: [{ family: 'Joe' }] },
  {
    resourceType: 'Patient',
    id: 'ann',
    meta: {
      tag: [{ system: 'http://acme.org/codes', code: 'needs-review' }],
      security: [{ code: 'R' }],
      profile: ['http://acme.org/p|1.0'],
    },
    active: true,
    name: [{ given: ['Ève Marie', 'Ann'], family: 'Chalmers-Windsor' }, { text: 'Eve  Long' }],
    gender: 'female',
    birthDate: '1974-12-25',
    identifier: [
      {
        system: 'http://acme.org/patient',
        value: '2345',
        type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] },
      },
      { value: 'bare' },
    ],
    telecom: [
      { system: 'phone', value: '555', use: 'home' },
      { system: 'email', value: 'a@b.org' },
    ],
    address: [{ line: ['1 Main'], city: 'Zürich', postalCode: '8000' }],
    managingOrganization: { reference: 'Organization/clinic' },
    generalPractitioner: [{ reference: 'Practitioner/who' }],
  },
  {
    resourceType: 'Patient',
    id: 'bob',
    name: [{ given: ['Steven'], family: 'Eve' }],
    address: [{ line: ['Hauptstraße 1'] }],
    gender: 'male',
    birthDate: '1974',
    deceasedDateTime: '2015-02-07T13:28:17Z',
    managingOrganization: { display: 'somewhere' },
    generalPractitioner: [{ reference: 'http://elsewhere.org/fhir/Practitioner/who' }],
  },
  observation('w100', { ...quantity(100, 'kg'), effectiveDateTime: '2013-01-14T10:00:00Z' }),
  observation('w99.6', { ...quantity(99.6, 'kg'), effectivePeriod: { start: '2013-01-10', end: '2013-01-20' } }),
  observation('w5.4mg', { ...quantity(5.4, 'mg'), effectivePeriod: { start: '2013-03-14' } }),
  observation('w5.45mg', { ...quantity(5.45, 'mg'), status: 'amended', effectiveDateTime: '2013-03-14' }),
  observation('w5.40003g', { ...quantity(0.00540003, 'g'), effectiveDateTime: '2013' }),
  observation('none', { subject: { identifier: { system: 'http://acme.org/fhir/identifier/mrn', value: '123' } }, status: 'registered' }),
  observation('pressure', {
    code: { text: 'Headache of some kind' },
    component: [
      { code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] }, ...quantity(107, 'mm[Hg]') },
      { code: { coding: [{ system: 'http://loinc.org', code: '8462-4' }] }, ...quantity(60, 'mm[Hg]') },
    ],
    derivedFrom: [{ reference: 'Observation/w100' }],
    encounter: { reference: 'Encounter/visit' },
  }),
  {
    resourceType: 'Encounter',
    id: 'visit',
    status: 'finished',
    text: narrative('<p>Metastases</p><p>in the <b>liver</b></p>'),
    class: { code: 'AMB' },
    subject,
    partOf: { reference: 'Encounter/stay' },
  },
  {
    resourceType: 'Encounter',
    id: 'stay',
    status: 'finished',
    text: narrative('a broken bone'),
    class: { code: 'IMP' },
    subject: { reference: 'Patient/bob' },
  },
  { resourceType: 'RiskAssessment', id: 'r0.8', status: 'final', subject, prediction: [{ probabilityDecimal: 0.8 }] },
  { resourceType: 'RiskAssessment', id: 'r0.75', status: 'final', subject, prediction: [{ probabilityDecimal: 0.75 }] },
  { resourceType: 'RiskAssessment', id: 'r100', status: 'final', subject, prediction: [{ probabilityDecimal: 100 }] },
  { resourceType: 'RiskAssessment', id: 'r99', status: 'final', subject, prediction: [{ probabilityDecimal: 99 }] },
  {
    resourceType: 'RiskAssessment',
    id: 'range',
    status: 'final',
    subject,
    prediction: [{ probabilityRange: { low: { value: 0.7 }, high: { value: 0.9 } } }],
  },
  { resourceType: 'ValueSet', id: 'fire', status: 'active', url: 'http://acme.org/fhir/ValueSet/123', version: '1.2' },
  { resourceType: 'ValueSet', id: 'oid', status: 'active', url: 'urn:oid:1.2.3.4.5' },
  { resourceType: 'Questionnaire', id: 'q', status: 'active', url: 'http://acme.org/fhir/Questionnaire/q', version: '2.0' },
  { resourceType: 'QuestionnaireResponse', id: 'qr', status: 'completed', questionnaire: 'http://acme.org/fhir/Questionnaire/q|2.0' },
  { resourceType: 'List', id: '42', status: 'current', mode: 'working', entry: [{ item: { reference: 'Patient/bob' } }] },
  {
    resourceType: 'Group',
    id: 'herd',
    type: 'person',
    actual: true,
    characteristic: [
      { code: { coding: [{ code: 'gender' }] }, valueCodeableConcept: { coding: [{ code: 'mixed' }] }, exclude: false },
      { code: { coding: [{ code: 'age' }] }, valueCodeableConcept: { coding: [{ code: 'old' }] }, exclude: false },
    ],
    member: [{ entity: { reference: 'Patient/ann' } }],
  },
  {
    resourceType: 'DiagnosticReport',
    id: 'dr',
    status: 'final',
    code: weight,
    subject,
    result: [{ reference: 'Observation/w100' }, { reference: 'Observation/pressure' }],
  },
  {
    resourceType: 'MedicationRequest',
    id: 'custom',
    contained: [
      { resourceType: 'Organization', id: 'maker', name: 'Meds' },
      {
        resourceType: 'Medication',
        id: 'mix',
        manufacturer: { reference: '#maker' },
        ingredient: [{ itemCodeableConcept: { coding: [{ system: 'http://example.org/medications', code: 'abc' }] } }],
      },
    ],
    status: 'active',
    intent: 'order',
    medicationReference: { reference: '#mix' },
    subject,
  },
  {
    resourceType: 'Bundle',
    id: 'document',
    type: 'document',
    entry: [{ resource: { resourceType: 'Composition', id: 'summary' } }],
  },
  { resourceType: 'Bundle', id: 'found', type: 'collection', entry: [{ resource: { resourceType: 'Patient', id: 'ann' } }] },
  { resourceType: 'Task', id: 'ordered', status: 'requested', intent: 'order' },
  { resourceType: 'Task', id: 'unknown', status: 'requested', intent: 'unknown' },
  {
    resourceType: 'Provenance',
    id: 'prov',
    recorded: '2013-01-14T10:00:00Z',
    target: [{ reference: 'Observation/w100' }],
    agent: [{ who: { reference: 'Practitioner/who' } }],
  },
]
