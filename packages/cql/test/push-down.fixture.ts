import { evaluateMeasure } from 'fhir-ops/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import type { Storage } from 'fhir-ops/storage'
import fc from 'fast-check'
import { expect } from 'vitest'
import { contextOver, languagesOf, library, putOf, valueSet, type Json } from './ward.fixture.js'

/** Criteria: some that the search for subjects tells, and some that only an evaluation does. */
const LEAVES = [
  'exists [Encounter]',
  'exists [Encounter: "Kinds"]',
  'exists "Finished"',
  "exists ([Encounter: \"Kinds\"] E where E.status in { 'finished', 'planned' })",
  'exists ([Encounter: "Kinds"] E where E.status = \'finished\' and E.period during "Measurement Period")',
  "exists ([Encounter] E where E.status = 'planned' return E.period)",
  'exists ([Encounter: "Kinds"] E where E.period during Interval[@2020-03-01, @2020-03-02])',
  'exists ([Encounter: "Kinds"] E where E.period starts during Interval(start of "Measurement Period" - 1 year, start of "Measurement Period"))',
  'exists ([Encounter] E where E.class ~ "Ambulatory")',
  'exists [Observation: "Weight"]',
  'exists ([Observation: "Weight"] O where (O.value as FHIR.Quantity).value > 50)',
  'exists [Observation: category in "Kinds"]',
  'exists [Observation: "Nothing"]',
  'exists ([Observation: "Weight"] O aggregate R starting ({ 1 }): R)',
  'exists [AllergyIntolerance: "Kinds"]',
  "Patient.gender = 'female'",
  "Patient.gender.value = 'male'",
  'AgeInYearsAt(start of "Measurement Period") >= 18',
  'AgeInYearsAt(end of "Measurement Period") > 18',
  'AgeInYearsAt(start of "Measurement Period") < 18',
  'AgeInYearsAt(end of "Measurement Period") <= 17',
  'AgeInYearsAt(start of "Since") >= 18',
  'AgeInYearsAt(end of "Since") < 18',
  'exists [Patient]',
  '(singleton from ([Observation: "Weight"])) is not null',
]
const leaf = fc.constantFrom(...LEAVES).map((one) => `(${one})`)
const { criterion } = fc.letrec<{ criterion: string }>((tie) => ({
  criterion: fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 2, arbitrary: fc.tuple(tie('criterion'), tie('criterion')).map(([one, other]) => `(${one} and ${other})`) },
    { weight: 2, arbitrary: fc.tuple(tie('criterion'), tie('criterion')).map(([one, other]) => `(${one} or ${other})`) },
    { weight: 1, arbitrary: tie('criterion').map((one) => `(not ${one})`) },
  ),
}))

const KINDS = ['a', 'b', 'c']
const coded = (code: string | undefined): object =>
  code === undefined
    ? { text: 'a' }
    : {
        coding: [
          { system: 'http://x/other', code: 'a' },
          { ...(code !== '' && { system: 'http://x/kind' }), code: code || 'a' },
        ],
      }
const patient = fc.nat(11).map((n) => ({ reference: `Patient/p${n}` }))
const code = fc.constantFrom(...KINDS, undefined, '').map(coded)
const resource = fc.oneof(
  fc.record({
    resourceType: fc.constant('Encounter'),
    status: fc.constantFrom('finished', 'planned', 'cancelled'),
    class: fc.constantFrom({ code: 'AMB' }, { system: 'http://x/class', code: 'AMB' }),
    type: fc.array(code, { maxLength: 2 }),
    subject: patient,
    period: fc.constantFrom({ start: '2020-03-01', end: '2020-03-02' }, { start: '2019' }, { start: '2018-01-01', end: '2018-01-01' }),
  }),
  fc.record({
    resourceType: fc.constant('Observation'),
    status: fc.constant('final'),
    code,
    category: fc.array(code, { maxLength: 2 }),
    component: code.map((one) => [{ code: one }]),
    subject: patient,
    valueQuantity: fc.constantFrom({ value: 40 }, { value: 60 }),
  }),
  fc.record({
    resourceType: fc.constant('AllergyIntolerance'),
    code,
    reaction: code.map((substance) => [{ substance, manifestation: [{ text: 'rash' }] }]),
    patient,
  }),
)
const person = fc.record({
  resourceType: fc.constant('Patient'),
  gender: fc.constantFrom('female', 'male', undefined),
  birthDate: fc.constantFrom(
    '1980-01-01',
    '1999',
    '2001-12-31',
    '2002-01-01',
    '2002-01-02',
    '2002',
    '2002-12',
    '2004',
    '2010-05-05',
    undefined,
  ),
})

/** Random populations of a proportion, over random records. */
export const ward: fc.Arbitrary<Ward> = fc.record({
  criteria: fc.tuple(criterion, criterion, criterion),
  people: fc.array(person, { minLength: 12, maxLength: 12 }),
  resources: fc.array(resource, { maxLength: 40 }),
})

/** What is measured, and of whom. */
export interface Ward {
  readonly criteria: readonly string[]
  readonly people: readonly object[]
  readonly resources: readonly object[]
}

const text = (criteria: readonly string[]): string => `library Ward version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
codesystem "Kind": 'http://x/kind'
codesystem "Class": 'http://x/class'
valueset "Kinds": 'http://x/ValueSet/kinds'
code "Weight": 'b' from "Kind"
code "Nothing": '' from "Kind"
code "Ambulatory": 'AMB' from "Class"
parameter "Measurement Period" Interval<DateTime>
parameter "Since" Interval<DateTime>
context Patient
define "Finished": [Encounter: "Kinds"] E where E.status = 'finished'
${criteria.map((one, index) => `define "Criterion ${index}": ${one}`).join('\n')}`

const populationOf = (kind: string, index: number): object => ({
  code: { coding: [{ code: kind }] },
  criteria: { language: 'text/cql-identifier', expression: `Criterion ${index}` },
})
const measure: Json = {
  resourceType: 'Measure',
  id: 'm',
  status: 'active',
  library: ['http://x/Library/Ward'],
  scoring: { coding: [{ code: 'proportion' }] },
  group: [{ population: ['initial-population', 'denominator', 'numerator'].map(populationOf) }],
}

/** How many subjects were read by scans, and whether they could all be evaluated. */
export interface Seen {
  readonly read: number
  readonly isWhole: boolean
}

/** Expects that what is counted without reading is what evaluations give. */
export async function expectSameCounts(storage: Storage, { criteria, people, resources }: Ward): Promise<Seen> {
  const withIds = (all: readonly object[], prefix: string): readonly Json[] =>
    all.map((one, n) => ({ resourceType: '', ...one, id: `${prefix}${n}` }))
  await storage.write(
    [library(text(criteria)), valueSet(['a', 'b']), measure, ...withIds(people, 'p'), ...withIds(resources, 'r')].map(putOf),
  )
  let read = 0
  const scan: Storage['scan'] = async (query) => {
    const page = (await storage.scan?.(query)) ?? { items: [] }
    read += page.items.length
    return page
  }
  const reading = { ...storage, capabilities: { ...storage.capabilities, counts: false } }
  const counted = await counts(contextOver({ ...storage, scan }))
  expect(counted).toEqual(await counts(contextOver(reading)))
  return { read, isWhole: counted.failures.length === 0 }
}

async function counts(ctx: OperationContext): Promise<{ readonly groups: unknown; readonly failures: readonly object[] }> {
  const since = { name: 'Since', valuePeriod: { start: '2020', end: '2020-01-01' } }
  const parameters = { resourceType: 'Parameters', parameter: [since] }
  const input = { measure: 'Measure/m', periodStart: '2020', periodEnd: '2020', parameters }
  const { groups, failures = [] } = await evaluateMeasure(ctx, input, { languages: languagesOf() })
  return { groups, failures }
}
