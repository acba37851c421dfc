import type { JsonObject } from 'fhir-ops/internal/json'

/** Canonical of the library whose definitions the probes name. */
export const LIBRARY_URL = 'http://example.org/Library/Ward'

const LIBRARY_TEXT = `library Ward version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1' called FHIRHelpers
parameter "Measurement Period" Interval<DateTime>
parameter Least Integer default 2
context Patient
define Everybody: true
define Nobody: false
define Unknown: null as Boolean
define Woman: Patient.gender = 'female'
define Man: Patient.gender = 'male'
define Active: Patient.active = true
define Deceased: Patient.deceased is not null
define Visited: exists During
define Frequent: Count([Encounter]) >= Least
define Seen: exists Finished
define Visits: [Encounter]
define Finished: [Encounter] E where E.status = 'finished'
define Planned: [Encounter] E where E.status = 'planned'
define During: [Encounter] E where E.period during "Measurement Period"
define "Day During": [Encounter] E where E.period during day of "Measurement Period"
define Starting: [Encounter] E where E.period starts during "Measurement Period"
define NoVisits: [Encounter] E where false
define UnknownVisits: null as List<Encounter>
define "Visits With Null": [Encounter] union { null as Encounter }
define Gender: Patient.gender
define "Gender Text": Patient.gender.value
define Age: AgeInYearsAt(start of "Measurement Period")
define "No Value": null as String
define Marital: Patient.maritalStatus
define Races: Patient.name N return N.family.value
define Birthday: Patient.birthDate
define "Visit Count": Count([Encounter])
define "Two Values": { 'x', 'y' }
define "Maybe Value": if Patient.active = true then 'active' else null
define function Minutes(visit FHIR.Encounter): duration in minutes of visit.period
define function "Maybe Minutes"(visit FHIR.Encounter): if visit.status = 'planned' then null else duration in minutes of visit.period
define function Length(visit FHIR.Encounter): if visit.status = 'finished' then System.Quantity { value: 1.5, unit: 'h' } else System.Quantity { value: 30.0, unit: 'min' }
define function One(visit FHIR.Encounter): 1
define function Nothing(visit FHIR.Encounter): null as Integer
define function Status(visit FHIR.Encounter): visit.status.value
define function "Patient Age"(): AgeInYearsAt(start of "Measurement Period")
define function "Patient Visits"(): Count([Encounter])
`

/** A resource of a probe. */
export type Resource = JsonObject & { readonly resourceType: string; readonly id: string }

/** The Library whose definitions the probes name. */
export const LIBRARY: Resource = {
  resourceType: 'Library',
  id: 'ward',
  url: LIBRARY_URL,
  name: 'Ward',
  version: '1',
  status: 'active',
  type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/library-type', code: 'logic-library' }] },
  content: [{ contentType: 'text/cql', data: btoa(LIBRARY_TEXT) }],
}

const patient = (id: string, more: JsonObject = {}): Resource => ({ resourceType: 'Patient', id, ...more })
const visit = (id: string, of: string, status: string, period: JsonObject): Resource => ({
  resourceType: 'Encounter',
  id,
  status,
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  subject: { reference: `Patient/${of}` },
  period,
})
const marital = (code: string): JsonObject => ({
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code }],
})

const WARD: readonly (readonly Resource[])[] = [
  [
    patient('a', { gender: 'female', birthDate: '1980-06-02', active: true, maritalStatus: marital('M'), name: [{ family: 'Amber' }] }),
    visit('a1', 'a', 'finished', { start: '2024-01-01T00:00:00Z', end: '2024-01-01T00:30:00Z' }),
    visit('a2', 'a', 'planned', { start: '2024-12-31T23:00:00Z', end: '2024-12-31T23:59:59Z' }),
    visit('a3', 'a', 'finished', { start: '2024-02-29T10:00:00Z', end: '2024-02-29T11:00:00Z' }),
  ],
  [
    patient('b', { gender: 'male', birthDate: '2000-02-29', active: false, maritalStatus: marital('S') }),
    visit('b1', 'b', 'finished', { start: '2023-12-31T23:30:00Z', end: '2024-01-01T00:10:00Z' }),
    visit('b2', 'b', 'finished', { start: '2024-03-01T00:00:00-05:00', end: '2024-03-01T02:00:00-05:00' }),
  ],
  [
    patient('c', { gender: 'female', birthDate: '2015-01-01', active: true }),
    visit('c1', 'c', 'cancelled', { start: '2024-07-01', end: '2024-07-03' }),
  ],
  [patient('d')],
  [
    patient('e', { gender: 'other', birthDate: '1999-12-31', deceasedBoolean: true, active: true, maritalStatus: marital('M') }),
    visit('e1', 'e', 'finished', { start: '2024-12-31T20:00:00-05:00', end: '2024-12-31T21:00:00-05:00' }),
    visit('e2', 'e', 'planned', { start: '2024-06-01T10:00:00+02:00' }),
  ],
  [
    patient('f', {
      gender: 'male',
      birthDate: '1950-05-05',
      generalPractitioner: [{ reference: 'Practitioner/house' }],
      name: [{ family: 'Fox' }, { family: 'Fawn' }],
    }),
    visit('f1', 'f', 'finished', { start: '2024-05-05T08:00:00Z', end: '2024-05-05T08:20:00Z' }),
    visit('f2', 'f', 'finished', { start: '2024-05-06T08:00:00Z', end: '2024-05-06T08:20:00Z' }),
    visit('f3', 'f', 'planned', { start: '2025-01-01T00:00:00Z', end: '2025-01-01T00:20:00Z' }),
  ],
]

const members = (...references: readonly string[]): readonly JsonObject[] => references.map((reference) => ({ entity: { reference } }))

/** Resources with which probes name subjects. */
const OTHERS: readonly Resource[] = [
  { resourceType: 'Practitioner', id: 'house' },
  { resourceType: 'Group', id: 'some', type: 'person', actual: true, member: members('Patient/a', 'Patient/b', 'Patient/d') },
  { resourceType: 'Group', id: 'empty', type: 'person', actual: true },
]

/** All resources over which probes are evaluated, besides their Measures and the library. */
export const RECORDS: readonly Resource[] = [...WARD.flat(), ...OTHERS]
