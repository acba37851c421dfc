import type { CodeSystem, Condition, ConceptMap, Encounter, Narrative, Observation, Patient, Practitioner, ValueSet } from 'fhir/r4.js'

// Each fixture is valid, refers to the others by id, and has the typical content of its type.

/** A resource with its id, so that it can be updated. */
export type Fixture<T> = T & { readonly id: string }

/** Members that replace those of a fixture. */
export type Changes<T> = Partial<Omit<T, 'id'>> & { readonly id?: string }

/** A definition with its canonical. */
export type DefinitionFixture<T> = Fixture<T> & { readonly url: string }

/** As `Changes`, for a definition. */
export type DefinitionChanges<T> = Partial<Omit<T, 'id' | 'url'>> & { readonly id?: string; readonly url?: string }

/** A patient with identifier, name, contacts, address and language. */
export function patient(changes: Changes<Patient> = {}): Fixture<Patient> {
  return {
    resourceType: 'Patient',
    id: 'lovell',
    text: narrative('Ada Lovell, born 10 December 1980'),
    identifier: [
      {
        use: 'usual',
        type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR', display: 'Medical record number' }] },
        system: 'http://example.org/mrn',
        value: '000123',
      },
    ],
    active: true,
    name: [{ use: 'official', family: 'Lovell', given: ['Ada', 'Marie'] }],
    telecom: [
      { system: 'phone', value: '+1 555 0100', use: 'mobile' },
      { system: 'email', value: 'ada.lovell@example.org', use: 'home' },
    ],
    gender: 'female',
    birthDate: '1980-12-10',
    address: [{ use: 'home', line: ['12 Main Street'], city: 'Springfield', postalCode: '12345', country: 'US' }],
    communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'en', display: 'English' }] }, preferred: true }],
    generalPractitioner: [{ reference: 'Practitioner/keller', display: 'Dr. Ida Keller' }],
    ...changes,
  }
}

/** A practitioner with identifier, name and qualification. */
export function practitioner(changes: Changes<Practitioner> = {}): Fixture<Practitioner> {
  return {
    resourceType: 'Practitioner',
    id: 'keller',
    text: narrative('Dr. Ida Keller'),
    identifier: [{ system: 'http://example.org/staff', value: 'P-77' }],
    active: true,
    name: [{ use: 'official', family: 'Keller', given: ['Ida'], prefix: ['Dr.'] }],
    qualification: [{ code: { text: 'Doctor of Medicine' }, period: { start: '2005' } }],
    ...changes,
  }
}

/** A finished visit of the patient. */
export function encounter(changes: Changes<Encounter> = {}): Fixture<Encounter> {
  return {
    resourceType: 'Encounter',
    id: 'visit',
    text: narrative('Visit on 5 January 2026'),
    status: 'finished',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB', display: 'ambulatory' },
    subject: { reference: 'Patient/lovell' },
    participant: [{ individual: { reference: 'Practitioner/keller' } }],
    period: { start: '2026-01-05T09:00:00Z', end: '2026-01-05T09:20:00Z' },
    ...changes,
  }
}

/** A problem of the patient. */
export function condition(changes: Changes<Condition> = {}): Fixture<Condition> {
  return {
    resourceType: 'Condition',
    id: 'hypertension',
    text: narrative('High blood pressure'),
    clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] },
    verificationStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-ver-status', code: 'confirmed' }] },
    category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-category', code: 'problem-list-item' }] }],
    code: { text: 'High blood pressure' },
    subject: { reference: 'Patient/lovell' },
    encounter: { reference: 'Encounter/visit' },
    recordedDate: '2026-01-05',
    ...changes,
  }
}

/** A blood pressure in the form of the profile for vital signs. */
export function bloodPressure(changes: Changes<Observation> = {}): Fixture<Observation> {
  return {
    resourceType: 'Observation',
    id: 'blood-pressure',
    text: narrative('Blood pressure 142/91 mmHg'),
    status: 'final',
    category: [
      {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs', display: 'Vital Signs' }],
      },
    ],
    code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }], text: 'Blood pressure' },
    subject: { reference: 'Patient/lovell' },
    encounter: { reference: 'Encounter/visit' },
    effectiveDateTime: '2026-01-05T09:10:00Z',
    performer: [{ reference: 'Practitioner/keller' }],
    component: [measured('8480-6', 'Systolic', 142), measured('8462-4', 'Diastolic', 91)],
    ...changes,
  }
}

function measured(code: string, text: string, value: number): NonNullable<Observation['component']>[number] {
  return {
    code: { coding: [{ system: 'http://loinc.org', code }], text },
    valueQuantity: { value, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
  }
}

const BASE = 'http://example.org/fhir'
const PRIORITY_SYSTEM = `${BASE}/CodeSystem/visit-priority`
const PRIORITY_VALUES = `${BASE}/ValueSet/visit-priority`

/** Three priorities of visits, two of them children of `unplanned`. */
export function codeSystem(changes: DefinitionChanges<CodeSystem> = {}): DefinitionFixture<CodeSystem> {
  return {
    resourceType: 'CodeSystem',
    id: 'visit-priority',
    text: narrative('Priorities of visits'),
    url: PRIORITY_SYSTEM,
    version: '1.0.0',
    name: 'VisitPriority',
    title: 'Visit priority',
    status: 'active',
    experimental: false,
    description: 'How soon somebody must be seen.',
    caseSensitive: true,
    valueSet: PRIORITY_VALUES,
    hierarchyMeaning: 'is-a',
    content: 'complete',
    count: 4,
    concept: [
      { code: 'planned', display: 'Planned', definition: 'The time was agreed before.' },
      {
        code: 'unplanned',
        display: 'Unplanned',
        definition: 'No time was agreed.',
        concept: [
          { code: 'urgent', display: 'Urgent', definition: 'Today.' },
          { code: 'emergency', display: 'Emergency', definition: 'At once.' },
        ],
      },
    ],
    ...changes,
  }
}

/** All codes of the code system. */
export function valueSet(changes: DefinitionChanges<ValueSet> = {}): DefinitionFixture<ValueSet> {
  return {
    resourceType: 'ValueSet',
    id: 'visit-priority',
    text: narrative('Priorities of visits'),
    url: PRIORITY_VALUES,
    version: '1.0.0',
    name: 'VisitPriorities',
    title: 'Visit priorities',
    status: 'active',
    experimental: false,
    description: 'Every priority of a visit.',
    compose: { include: [{ system: PRIORITY_SYSTEM }] },
    ...changes,
  }
}

/** Maps the code system to the priorities of HL7 Version 3. */
export function conceptMap(changes: DefinitionChanges<ConceptMap> = {}): DefinitionFixture<ConceptMap> {
  return {
    resourceType: 'ConceptMap',
    id: 'visit-priority',
    text: narrative('From priorities of visits to those of HL7 Version 3'),
    url: `${BASE}/ConceptMap/visit-priority`,
    version: '1.0.0',
    name: 'VisitPriorityToActPriority',
    title: 'Visit priority to act priority',
    status: 'active',
    experimental: false,
    description: 'The priority of HL7 Version 3 for each priority of a visit.',
    sourceCanonical: PRIORITY_VALUES,
    targetCanonical: 'http://terminology.hl7.org/ValueSet/v3-ActPriority',
    group: [
      {
        source: PRIORITY_SYSTEM,
        target: 'http://terminology.hl7.org/CodeSystem/v3-ActPriority',
        element: [
          { code: 'planned', target: [{ code: 'EL', display: 'elective', equivalence: 'equivalent' }] },
          { code: 'urgent', target: [{ code: 'UR', display: 'urgent', equivalence: 'equivalent' }] },
          { code: 'emergency', target: [{ code: 'EM', display: 'emergency', equivalence: 'equivalent' }] },
        ],
      },
    ],
    ...changes,
  }
}

/** Returns a generated narrative with one sentence. */
function narrative(sentence: string): Narrative {
  return { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${sentence}</div>` }
}
