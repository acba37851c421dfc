import type { JsonObject } from 'fhir-ops/internal/json'
import type { Resource } from './ward.js'

/** The head of each library over FHIR. */
const HEAD = (name: string, version = '1'): string => `library ${name} version '${version}'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1' called FHIRHelpers
`

const CLINIC_TEXT = `${HEAD('Clinic')}include Terms version '1' called T
codesystem "Ward Codes": 'http://example.org/CodeSystem/ward'
valueset "Acute": 'http://example.org/ValueSet/acute'
code "Weight": 'weight' from "Ward Codes"
code "Pressure": 'pressure' from "Ward Codes"
code "Systolic": 'systolic' from "Ward Codes"
code "Diabetes": 'diabetes' from "Ward Codes"
concept "Any Pressure": { "Pressure", "Systolic" }
parameter "Measurement Period" Interval<DateTime>
parameter Least Integer default 1
parameter Limit System.Quantity default 80 'kg'
parameter Chosen List<String> default { 'finished' }
parameter Window Interval<Date> default Interval[@2024-01-01, @2024-06-30]
context Patient
define Everybody: true
define Adult: T.Adult
define Over60: AgeInYearsAt(start of "Measurement Period") >= 60
define Female: Patient.gender = 'female'
define Died: Patient.deceased as FHIR.dateTime during "Measurement Period"
define Visits: [Encounter] E where E.period during "Measurement Period"
define "Day Visits": [Encounter] E where E.period during day of "Measurement Period"
define "Started Visits": [Encounter] E where E.period starts during day of "Measurement Period"
define "Ended Visits": [Encounter] E where E.period ends during "Measurement Period"
define "Touching Visits": [Encounter] E where E.period overlaps "Measurement Period"
define "Visits Before": [Encounter] E where E.period ends before start of "Measurement Period"
define "Chosen Visits": Visits E where E.status in Chosen
define "Window Visits": [Encounter] E where date from start of E.period in Window
define "Acute Visits": [Encounter: "Acute"] E where E.period during "Measurement Period"
define "Long Visits": Visits E where duration in hours of E.period >= 1
define "Following Visits": Visits E with Visits F such that F.period starts 30 days or less after end of E.period
define "Lone Visits": Visits E without Visits F such that F.period starts 30 days or less after end of E.period and F.id != E.id
define "Two Visits": Visits E union "Acute Visits"
define Visited: exists Visits
define Frequent: Count(Visits) > Least
define Problems: [Condition]
define Diabetic: exists [Condition: "Diabetes"]
define "Recent Problems": [Condition] C where (C.onset as FHIR.dateTime) during "Measurement Period" or (C.onset as FHIR.Period) overlaps "Measurement Period"
define "Ageing Problems": [Condition] C where (C.onset as FHIR.Age) >= 30 'a'
define "Active Problems": [Condition] C where C.clinicalStatus ~ Code { system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }
define Weights: [Observation: "Weight"] O where O.effective as FHIR.dateTime during "Measurement Period"
define "Heavy Weights": Weights O where (O.value as FHIR.Quantity) > Limit
define "Last Weight": (Last(Weights O sort by (effective as FHIR.dateTime).value)).value as FHIR.Quantity
define Heavy: "Last Weight" > Limit
define "Weight Changed": Max(Weights W return (W.value as FHIR.Quantity)) > Min(Weights W return (W.value as FHIR.Quantity))
define Pressures: [Observation: "Pressure"] O where O.effective as FHIR.Period overlaps "Measurement Period" or O.effective as FHIR.dateTime during "Measurement Period"
define Systolics: flatten (Pressures O return O.component C where C.code ~ "Systolic" return (C.value as FHIR.Quantity))
define "High Pressure": exists Systolics S where S > 140 'mm[Hg]'
define "Procedure Days": distinct ([Procedure] P return date from start of T.ToPeriod(P.performed))
define Procedures: [Procedure] P where T.ToPeriod(P.performed) during day of "Measurement Period"
define "Procedures At Visits": Procedures P with Visits E such that T.ToPeriod(P.performed) during E.period
define Prescribed: exists ([MedicationRequest] M where M.authoredOn during "Measurement Period")
define Prescriptions: [MedicationRequest] M where M.authoredOn during "Measurement Period"
define "Prescribed Days": Sum(Prescriptions M return M.dispenseRequest.expectedSupplyDuration.value.value)
define "Visit Periods": Visits E where E.status != 'planned' return Interval[start of FHIRHelpers.ToInterval(E.period), end of FHIRHelpers.ToInterval(E.period)]
define "Total Hours": Sum("Visit Periods" I return duration in hours of I)
define "Visit Starts": Visits E return start of E.period
define "Visit Months": distinct ("Visit Starts" D return month from D)
define "Visit Tuples": Visits E where E.status != 'planned' return Tuple { id: E.id.value, stay: duration in hours of E.period }
define "Longest Hours": First("Visit Tuples" V sort by stay desc).stay
define Gender: Patient.gender
define "Age Group": case when AgeInYearsAt(start of "Measurement Period") < 18 then 'child' when AgeInYearsAt(start of "Measurement Period") < 65 then 'adult' else 'old' end
define "Years": AgeInYearsAt(start of "Measurement Period")
define "Birth Year": year from Patient.birthDate
define "Marital": Patient.maritalStatus
define "Practices": Patient.generalPractitioner G return G.reference.value
define "Maybe": if Patient.gender = 'female' then true else null as Boolean
define "Visit Aggregate": Visits V where V.status != 'planned' aggregate R starting 0: R + (duration in minutes of V.period)
define "Busy": "Visit Aggregate" > 60
define function Minutes(E FHIR.Encounter): if E.status = 'planned' then 0 else duration in minutes of E.period
define function Hours(E FHIR.Encounter): if E.status = 'planned' then null else System.Quantity { value: (difference in minutes between start of E.period and end of E.period) / 60.0, unit: 'h' }
define function "Weight Value"(O FHIR.Observation): (O.value as FHIR.Quantity).value.value
define function "Weight Amount"(O FHIR.Observation): O.value as FHIR.Quantity
define function "Visit Class"(E FHIR.Encounter): E.class.code.value
define function "Visit Status"(E FHIR.Encounter): E.status
define function "Visit Type"(E FHIR.Encounter): First(E.type)
define function "Problem Code"(C FHIR.Condition): C.code
define function "Procedure Minutes"(P FHIR.Procedure): duration in minutes of T.ToPeriod(P.performed)
define function "Visits Of"(): Count(Visits)
define function "Weight Of"(): "Last Weight"
define function Kind(value Integer): 'integer'
define function Kind(value Decimal): 'decimal'
define function Kind(value String): 'text'
define "Kind Of Count": Kind(Count(Visits))
define "Kind Of Text": Kind(Patient.gender.value)
define "Kind Of Decimal": Kind(1.5)
`

const TERMS_TEXT = `${HEAD('Terms')}parameter "Measurement Period" Interval<DateTime>
context Patient
define Adult: AgeInYearsAt(start of "Measurement Period") >= 18
define function ToPeriod(moment Choice<FHIR.dateTime, FHIR.Period>):
  case
    when moment is FHIR.dateTime then Interval[FHIRHelpers.ToDateTime(moment as FHIR.dateTime), FHIRHelpers.ToDateTime(moment as FHIR.dateTime)]
    when moment is FHIR.Period then FHIRHelpers.ToInterval(moment as FHIR.Period)
    else null as Interval<DateTime>
  end
`

const STAFF_TEXT = `${HEAD('Staff')}parameter "Measurement Period" Interval<DateTime>
context Practitioner
define Everybody: true
define Female: Practitioner.gender = 'female'
define Visits: [Encounter] E where E.period during "Measurement Period"
define Visited: exists Visits
define Count: Count(Visits)
`

const SITES_TEXT = `${HEAD('Sites')}parameter "Measurement Period" Interval<DateTime>
context Organization
define Everybody: true
define Named: Organization.name = 'North'
define Visits: [Encounter] E where E.period during "Measurement Period"
define Visited: exists Visits
`

const FAILING_TEXT = `${HEAD('Failing')}parameter "Measurement Period" Interval<DateTime>
context Patient
define "Failing If Old": if AgeInYearsAt(start of "Measurement Period") > 70 then (singleton from { 1, 2 }) = 1 else true
`

const WHOLE_TEXT = `${HEAD('Whole')}parameter "Measurement Period" Interval<DateTime>
context Unfiltered
define "All Visits": [Encounter] E where E.period during "Measurement Period"
define "All Patients": Count([Patient])
define "Any Acute": exists ([Encounter] E where E.class.code = 'EMER')
context Patient
define "Many Patients": "All Patients" > 3
define "Above Average": Count([Encounter]) * "All Patients" > Count("All Visits")
`

const library = (name: string, text: string): Resource => ({
  resourceType: 'Library',
  id: name.toLowerCase(),
  url: `http://example.org/Library/${name}`,
  name,
  version: '1',
  status: 'active',
  type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/library-type', code: 'logic-library' }] },
  content: [{ contentType: 'text/cql', data: btoa(text) }],
})

const WARD_CODES = 'http://example.org/CodeSystem/ward'
const coded = (...codes: readonly string[]): JsonObject => ({ coding: codes.map((code) => ({ system: WARD_CODES, code })) })
const kg = (value: number): JsonObject => ({ value, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' })
const of = (type: string, id: string, patient: string, more: JsonObject): Resource => ({
  resourceType: type,
  id,
  subject: { reference: `Patient/${patient}` },
  ...more,
})
const visit = (id: string, patient: string, [start, end]: readonly [string, string?], more: JsonObject = {}): Resource =>
  of('Encounter', id, patient, {
    status: 'finished',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
    period: { start, ...(end !== undefined && { end }) },
    ...more,
  })
const seenBy = (practitioner: string, organization?: string): JsonObject => ({
  participant: [{ individual: { reference: `Practitioner/${practitioner}` } }],
  ...(organization !== undefined && { serviceProvider: { reference: `Organization/${organization}` } }),
})
const emergency = { class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'EMER' }, type: [coded('acute')] }
const status = (code: string): JsonObject => ({
  clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code }] },
})
const weight = (id: string, patient: string, at: string, valueQuantity: JsonObject): Resource =>
  of('Observation', id, patient, { status: 'final', code: coded('weight'), effectiveDateTime: at, valueQuantity })
const pressure = (id: string, patient: string, effective: JsonObject, systolic: number): Resource =>
  of('Observation', id, patient, {
    status: 'final',
    code: coded('pressure'),
    ...effective,
    component: [
      { code: coded('systolic'), valueQuantity: { value: systolic, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' } },
    ],
  })
const patient = (id: string, more: JsonObject = {}): Resource => ({ resourceType: 'Patient', id, ...more })
const cares = (practitioner: string, organization?: string): JsonObject => ({
  generalPractitioner: [{ reference: `Practitioner/${practitioner}` }],
  ...(organization !== undefined && { managingOrganization: { reference: `Organization/${organization}` } }),
})
const marital = (code: string, display: string): JsonObject => ({
  maritalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code, display }] },
})

const PATIENTS: readonly Resource[] = [
  patient('ann', { gender: 'female', birthDate: '1960-01-01', ...cares('house', 'north'), ...marital('M', 'Married') }),
  visit('ann-1', 'ann', ['2024-01-01T00:00:00Z', '2024-01-01T01:00:00Z'], seenBy('house', 'north')),
  visit('ann-2', 'ann', ['2024-01-20T09:00:00+01:00', '2024-01-20T09:45:00+01:00'], { ...seenBy('grey', 'north'), ...emergency }),
  visit('ann-3', 'ann', ['2024-12-31T23:30:00Z', '2025-01-01T00:30:00Z'], seenBy('house', 'north')),
  of('Condition', 'ann-c', 'ann', { code: coded('diabetes'), ...status('active'), onsetDateTime: '2024-02' }),
  weight('ann-w1', 'ann', '2024-01-01T00:30:00Z', kg(81.5)),
  weight('ann-w2', 'ann', '2024-06-01', { value: 150, unit: 'lb', system: 'http://unitsofmeasure.org', code: '[lb_av]' }),
  pressure('ann-p1', 'ann', { effectiveDateTime: '2024-01-01T00:20:00Z' }, 150),
  of('Procedure', 'ann-x', 'ann', { status: 'completed', code: coded('surgery'), performedDateTime: '2024-01-20T08:30:00Z' }),
  patient('bob', { gender: 'male', birthDate: '1990-07-15', ...cares('house', 'south'), ...marital('S', 'Never Married') }),
  visit('bob-1', 'bob', ['2023-12-31T23:59:59.999Z', '2024-01-01T00:00:00Z'], seenBy('house', 'south')),
  visit('bob-2', 'bob', ['2024-03-31T00:30:00+01:00', '2024-03-31T04:30:00+02:00'], { ...seenBy('grey', 'south'), status: 'in-progress' }),
  visit('bob-3', 'bob', ['2024-04-30T10:00:00.500Z', '2024-04-30T11:00:00.400Z'], seenBy('grey')),
  of('Condition', 'bob-c', 'bob', {
    code: coded('fracture'),
    ...status('resolved'),
    onsetPeriod: { start: '2023-12-01', end: '2024-01-15' },
  }),
  weight('bob-w1', 'bob', '2024-03-31T02:00:00Z', kg(79.999)),
  pressure('bob-p1', 'bob', { effectivePeriod: { start: '2023-12-31', end: '2024-01-02' } }, 140),
  of('Procedure', 'bob-x', 'bob', {
    status: 'completed',
    code: coded('surgery'),
    performedPeriod: { start: '2024-03-31T00:00:00Z', end: '2024-03-31T01:00:00Z' },
  }),
  of('MedicationRequest', 'bob-m1', 'bob', {
    status: 'active',
    intent: 'order',
    medicationCodeableConcept: coded('statin'),
    authoredOn: '2024-04-30',
    dispenseRequest: { expectedSupplyDuration: { value: 30, unit: 'd', system: 'http://unitsofmeasure.org', code: 'd' } },
  }),
  patient('cat', { gender: 'female', birthDate: '2006-01-02', ...cares('grey', 'north'), ...marital('M', 'Wed') }),
  visit('cat-1', 'cat', ['2024-07-01T10:00:00Z', '2024-07-03T10:00:00Z'], { ...seenBy('grey', 'north'), ...emergency }),
  of('Condition', 'cat-c', 'cat', {
    code: coded('fracture', 'diabetes'),
    ...status('active'),
    onsetAge: { value: 12, unit: 'a', system: 'http://unitsofmeasure.org', code: 'a' },
  }),
  patient('dan', { gender: 'male', birthDate: '1940-12-31', deceasedDateTime: '2024-05-05T12:00:00Z', ...cares('house') }),
  visit('dan-1', 'dan', ['2024-02-29T12:00:00Z', '2024-02-29T12:30:00Z'], seenBy('house')),
  visit('dan-2', 'dan', ['2024-03-15T12:00:00Z', '2024-03-15T14:30:00Z'], { ...seenBy('house'), status: 'cancelled' }),
  weight('dan-w1', 'dan', '2024-02-29T12:10:00Z', kg(95)),
  weight('dan-w2', 'dan', '2024-03-15T12:10:00Z', kg(79)),
  pressure('dan-p1', 'dan', { effectiveDateTime: '2024-02-29T12:15:00Z' }, 141),
  of('Condition', 'dan-c', 'dan', {
    code: coded('diabetes'),
    ...status('active'),
    onsetAge: { value: 55, unit: 'a', system: 'http://unitsofmeasure.org', code: 'a' },
  }),
  patient('eve', { gender: 'other', birthDate: '1983-04' }),
  visit('eve-1', 'eve', ['2024-08-08T08:00:00Z'], seenBy('grey', 'south')),
  patient('fay'),
  patient('gus', { gender: 'male', birthDate: '2000' }),
  visit('gus-1', 'gus', ['2024-04-30', '2024-04-30'], { status: 'planned' }),
  visit('gus-2', 'gus', ['2024-12-31', '2025-01-01'], { status: 'planned' }),
]

const members = (type: string, ...ids: readonly string[]): readonly JsonObject[] =>
  ids.map((id) => ({ entity: { reference: `${type}/${id}` } }))
const group = (id: string, type: string, member: readonly JsonObject[]): Resource => ({
  resourceType: 'Group',
  id,
  type,
  actual: true,
  member,
})

/** The resources over which the written Measures are evaluated. */
export const CLINIC: readonly Resource[] = [
  library('Clinic', CLINIC_TEXT),
  library('Terms', TERMS_TEXT),
  library('Staff', STAFF_TEXT),
  library('Sites', SITES_TEXT),
  library('Whole', WHOLE_TEXT),
  library('Failing', FAILING_TEXT),
  {
    resourceType: 'ValueSet',
    id: 'acute',
    url: 'http://example.org/ValueSet/acute',
    status: 'active',
    compose: { include: [{ system: WARD_CODES, concept: [{ code: 'acute' }, { code: 'trauma' }] }] },
  },
  ...PATIENTS,
  { resourceType: 'Practitioner', id: 'house', gender: 'male' },
  { resourceType: 'Practitioner', id: 'grey', gender: 'female' },
  { resourceType: 'Practitioner', id: 'idle', gender: 'female' },
  { resourceType: 'Organization', id: 'north', name: 'North' },
  { resourceType: 'Organization', id: 'south', name: 'South' },
  group('three', 'person', members('Patient', 'ann', 'bob', 'fay')),
  group('twice', 'person', members('Patient', 'ann', 'ann', 'cat')),
  group('left', 'person', [...members('Patient', 'dan'), ...members('Patient', 'ann').map((one) => ({ ...one, inactive: true }))]),
  group('doctors', 'practitioner', members('Practitioner', 'house', 'idle')),
]
