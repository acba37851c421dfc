import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { evaluateMeasure, type CriteriaLanguage, type EvaluateMeasureInput, type EvaluateMeasureResult } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { putResource, type Storage } from 'fhir-ops/storage'
import { expect } from 'vitest'

const { types, indexer, ...release } = r4()

/** A resource. */
export type Json = Readonly<Record<string, unknown>> & { readonly resourceType: string; readonly id: string }
const to = (reference: string): object => ({ reference })
const resource = (resourceType: string, id: string, more: object = {}): Json => ({ resourceType, id, ...more })

/** Two practitioners, two wards of two hospitals, two monitors; of the second of each kind there is less. */
export const HOSPITAL: readonly Json[] = [
  resource('Practitioner', 'ada', { gender: 'female', birthDate: '1980-05-01' }),
  resource('Practitioner', 'bob', { gender: 'male', birthDate: '2001-05-01' }),
  resource('Practitioner', 'cleo', { gender: 'female' }),
  resource('Organization', 'north', { active: true }),
  resource('Organization', 'south', { active: true }),
  resource('Location', 'ward', { managingOrganization: to('Organization/north') }),
  resource('Location', 'attic', { managingOrganization: to('Organization/south') }),
  resource('Device', 'monitor', { patient: to('Patient/p') }),
  resource('Device', 'scale'),
  resource('Patient', 'p', {
    gender: 'female',
    generalPractitioner: [to('Practitioner/ada')],
    managingOrganization: to('Organization/north'),
  }),
  resource('Patient', 'q', { gender: 'male', generalPractitioner: [to('Practitioner/ada'), to('Practitioner/bob')] }),
  resource('Encounter', 'e1', {
    status: 'finished',
    class: { code: 'AMB' },
    subject: to('Patient/p'),
    participant: [{ individual: to('Practitioner/ada') }],
    period: { start: '2026-02-01', end: '2026-02-02' },
    location: [{ location: to('Location/ward') }],
    serviceProvider: to('Organization/north'),
  }),
  resource('Encounter', 'e2', {
    status: 'finished',
    class: { code: 'AMB' },
    subject: to('Patient/q'),
    participant: [{ individual: to('Practitioner/ada') }],
    period: { start: '2025-02-01', end: '2025-02-02' },
    location: [{ location: to('Location/ward') }],
    serviceProvider: to('Organization/north'),
  }),
  resource('Observation', 'o1', {
    status: 'final',
    code: { coding: [{ system: 'http://x/c', code: 'weight' }] },
    subject: to('Patient/p'),
    performer: [to('Practitioner/bob'), to('Practitioner/ada')],
    device: to('Device/monitor'),
    encounter: to('Encounter/e1'),
  }),
  resource('Observation', 'o2', {
    status: 'final',
    code: { coding: [{ system: 'http://x/c', code: 'self-test' }] },
    subject: to('Device/monitor'),
    device: to('Device/monitor'),
  }),
  resource('Group', 'doctors', {
    type: 'practitioner',
    actual: true,
    member: [{ entity: to('Practitioner/ada') }, { entity: to('Practitioner/bob') }],
  }),
  resource('Group', 'bobs', { type: 'practitioner', actual: true, member: [{ entity: to('Practitioner/bob') }] }),
]

/** How libraries begin. */
export const head = (context: string): string => `library Work version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
codesystem "C": 'http://x/c'
code "Weight": 'weight' from "C"
parameter "Measurement Period" Interval<DateTime>
context ${context}
`

/** Definitions in a context that are true, or list something. */
const LIBRARIES: Readonly<Record<string, string>> = {
  Practitioner: `${head('Practitioner')}define Everybody: true
define Women: Practitioner.gender = 'female'
define Grown: CalculateAgeInYearsAt(Practitioner.birthDate.value, date from start of "Measurement Period") >= 30
define Visits: [Encounter] E where E.period during "Measurement Period"
define Visited: exists Visits
define Weighed: exists [Observation: "Weight"]
define Busy: Count([Patient]) > 1
define Gender: Practitioner.gender
`,
  Organization: `${head('Organization')}define Everybody: true
define Visited: exists ([Encounter] E where E.period during "Measurement Period")
define HasPatients: exists [Patient]
define Wards: Count([Location])
`,
  Location: `${head('Location')}define Everybody: true
define Visited: exists ([Encounter] E where E.period during "Measurement Period")
`,
  Device: `${head('Device')}define Everybody: true
define Measured: exists [Observation: "Weight"]
define Tested: Count([Observation]) = 2
define OfWoman: (singleton from ([Patient])).gender = 'female'
`,
  Encounter: `${head('Encounter')}define Everybody: true
define Weighed: exists [Observation: "Weight"]
define OfWoman: exists ([Patient] P where P.gender = 'female')
`,
}

const population = (kind: string, expression: string): object => ({
  code: { coding: [{ code: kind }] },
  criteria: { language: 'text/cql-identifier', expression },
})
const boolean = {
  extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: 'boolean' }],
}

/** A Measure of subjects of a type, with a population for each of some definitions, and its library. */
export function measureOf(type: string, names: readonly string[], more: object = {}): readonly Json[] {
  const library = resource('Library', 'work', {
    url: 'http://x/Library/Work',
    name: 'Work',
    version: '1',
    status: 'active',
    type: { text: 'logic' },
    content: [{ contentType: 'text/cql', data: btoa(LIBRARIES[type] ?? '') }],
  })
  const measure = resource('Measure', 'm', {
    status: 'active',
    library: ['http://x/Library/Work'],
    subjectCodeableConcept: { coding: [{ system: 'http://hl7.org/fhir/resource-types', code: type }] },
    group: [{ population: names.map((name) => population(name, name)), ...more }],
    ...boolean,
  })
  return [library, measure]
}

/** A context over a storage in memory with the hospital and other resources. */
export const hospitalContext = (resources: readonly Json[]): OperationContext =>
  createContext({ storage: memoryStorage([...HOSPITAL, ...resources], { indexer }), types, ...release })

/** A context over a storage, into which the hospital and other resources are written. */
export async function hospitalOver(storage: Storage, resources: readonly Json[]): Promise<OperationContext> {
  await storage.write(
    [...HOSPITAL, ...resources].map((source) => putResource({ type: source.resourceType, id: source.id, source }, indexer)),
  )
  return createContext({ storage, types, ...release })
}

/** The counts of all populations. */
export const countsIn = ({ groups }: EvaluateMeasureResult): readonly number[] =>
  groups.flatMap(({ populations }) => populations.map(({ count }) => count))

/** A call for the Measure. */
export const INPUT: EvaluateMeasureInput = { measure: 'm', periodStart: '2026', periodEnd: '2026' }

/** Evaluates each subject by itself, and all together. */
export async function expectSubjects(
  ctx: OperationContext,
  { type, who }: { readonly type: string; readonly who: Who },
  languages: readonly CriteriaLanguage[],
): Promise<void> {
  const names = Object.keys(who)
  const { groups } = await evaluateMeasure(ctx, { ...INPUT, reportType: 'subject-list' }, { languages })
  expect(groups[0]?.populations.map(({ members }) => members)).toEqual(names.map((name) => who[name]?.map((id) => `${type}/${id}`)))
  expect(countsIn(await evaluateMeasure(ctx, INPUT, { languages }))).toEqual(names.map((name) => who[name]?.length))
  for (const id of who['Everybody'] ?? []) {
    const own = await evaluateMeasure(ctx, { ...INPUT, subject: `${type}/${id}` }, { languages })
    expect([own.type, countsIn(own)]).toEqual(['individual', names.map((name) => (who[name]?.includes(id) === true ? 1 : 0))])
  }
}

/** For each definition, the subjects for whom it is true. */
export type Who = Readonly<Record<string, readonly string[]>>

/** Of each type: definitions, how many subjects have them, and who. */
export const CASES: readonly (readonly [type: string, who: Who])[] = [
  [
    'Practitioner',
    {
      Everybody: ['ada', 'bob', 'cleo'],
      Women: ['ada', 'cleo'],
      Grown: ['ada'],
      Visited: ['ada'],
      Weighed: ['ada', 'bob'],
      Busy: ['ada'],
    },
  ],
  ['Organization', { Everybody: ['north', 'south'], Visited: ['north'], HasPatients: ['north'] }],
  ['Location', { Everybody: ['attic', 'ward'], Visited: ['ward'] }],
  ['Device', { Everybody: ['monitor', 'scale'], Measured: ['monitor'], Tested: ['monitor'], OfWoman: ['monitor'] }],
  ['Encounter', { Everybody: ['e1', 'e2'], Weighed: ['e1'], OfWoman: ['e1'] }],
]
