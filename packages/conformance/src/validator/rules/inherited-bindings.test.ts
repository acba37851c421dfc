import { createContext, forRequest } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { expect, test } from 'vitest'
import { r4 } from '@fhir-ops/r4'
import { messageTests } from './findings-of.js'
import { profileOn } from './profile-on.js'

const add = messageTests('a binding', /^(?:code-not-in-value-set|value-set-unknown|concept-outdated)$/)

const P = 'http://a.org/StructureDefinition/p'
const STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'
const DEPRECATED = 'http://hl7.org/fhir/StructureDefinition/valueset-deprecated'

const system = {
  resourceType: 'CodeSystem',
  url: 'http://a.org/CodeSystem/s',
  status: 'active',
  content: 'complete',
  concept: [{ code: 'a' }, { code: 'b' }, { code: 'c' }],
}
const listing = {
  resourceType: 'ValueSet',
  url: 'http://a.org/ValueSet/v',
  name: 'V',
  status: 'active',
  compose: {
    include: [
      {
        system: system.url,
        concept: [
          { code: 'a' },
          { code: 'b', extension: [{ url: DEPRECATED, valueBoolean: true }] },
          { code: 'c', extension: [{ url: STATUS, valueCode: 'withdrawn' }] },
        ],
      },
    ],
  },
}
const bound = (path: string, binding: JsonObject, url: string = P): JsonObject =>
  profileOn('Observation', url, [{ id: path, path, binding }])
const method = (code: string): JsonObject => ({ method: { coding: [{ system: system.url, code }] } })
const observation = (members: JsonObject): JsonObject => ({
  resourceType: 'Observation',
  meta: { profile: [P] },
  status: 'final',
  code: { text: 'x' },
  ...members,
})
const BASE = 'http://a.org/StructureDefinition/base'
const derived = { ...bound('Observation.method', { strength: 'required' }), baseDefinition: BASE }
const base = bound('Observation.method', { strength: 'example', valueSet: listing.url }, BASE)

add('made required in a profile, to the value set of the base', [], observation(method('a')), [system, listing, base, derived])
add(
  'made required, with a code outside of that value set',
  ['error|code-invalid code-not-in-value-set Observation.method'],
  observation(method('z')),
  [system, listing, base, derived],
)
add('made required, of a type of FHIR', ['error|code-invalid code-not-in-value-set Observation.method'], observation(method('a')), [
  system,
  bound('Observation.method', { strength: 'required' }),
])
add(
  'without a value set anywhere: Terminology_TX_Binding_NoSource',
  ['information|code-invalid value-set-unknown Observation.value.ofType(CodeableConcept)'],
  observation({ valueCodeableConcept: { coding: [{ system: system.url, code: 'a' }] } }),
  [system, bound('Observation.valueCodeableConcept', { strength: 'required' })],
)
add('of a string without a value set', [], observation({ valueString: 'a' }), [bound('Observation.valueString', { strength: 'required' })])

const toList = bound('Observation.method', { strength: 'required', valueSet: listing.url })
const OUTDATED = ['warning|business-rule concept-outdated Observation.method.coding[0].code']
add('to a list that says nothing of the code', [], observation(method('a')), [system, listing, toList])
add('to a list where the code is deprecated: CONCEPT_DEPRECATED_IN_VALUESET', OUTDATED, observation(method('b')), [system, listing, toList])
add('to a list where the code is withdrawn', OUTDATED, observation(method('c')), [system, listing, toList])

const ctx = createContext({ storage: memoryStorage(), ...r4() })
const OWN = 'http://a.org/ValueSet/own'
const REST = 'http://a.org/ValueSet/rest'
const listed = (url: string, ...codes: readonly string[]): JsonObject => ({
  ...listing,
  url,
  compose: { include: [{ system: system.url, concept: codes.map((code) => ({ code })) }] },
})
const own = [system, listed(OWN, 'a'), listed(REST, 'b', 'c')]

/** Severities of what is said of the category of a Condition in a profile that binds it with a strength. */
async function ofCategory(strength: string, code: string, profiles: readonly string[], base?: JsonObject): Promise<readonly string[]> {
  const bindsCategory = profileOn('Condition', P, [
    { id: 'Condition.category', path: 'Condition.category', binding: { strength, valueSet: OWN } },
  ])
  const profile = base === undefined ? bindsCategory : { ...bindsCategory, baseDefinition: BASE }
  const { findings } = await validate(forRequest(ctx, { resources: [...own, profile, ...(base === undefined ? [] : [base])] }), {
    resource: {
      resourceType: 'Condition',
      ...(profiles.length === 0 && { meta: { profile: [P] } }),
      subject: { display: 'x' },
      category: [{ coding: [{ system: system.url, code }] }],
    },
    ...(profiles.length > 0 && { profiles }),
  })
  return findings
    .filter(({ kind }) => kind === 'code-not-in-value-set')
    .map(({ severity, text }) => `${severity} ${/\((\S+?)[|)]/.exec(text)?.[1]}`)
}

const CATEGORIES = 'warning http://hl7.org/fhir/ValueSet/condition-category'

test.each([
  ['required', 'a', [], []],
  ['extensible', 'a', [], []],
  ['preferred', 'a', [], [CATEGORIES]],
  ['example', 'a', [], [CATEGORIES]],
  ['extensible', 'c', [], [CATEGORIES, `warning ${OWN}`]],
  ['extensible', 'a', [P], []],
  ['preferred', 'a', [P], []],
  ['example', 'a', [P], []],
  ['preferred', 'c', [P], [`information ${OWN}`]],
  ['required', 'c', [P], [`error ${OWN}`]],
])(
  'what a profile binds replaces a weaker binding of the type, if it is asked for or a concept conforms: %s %s %j',
  async (strength, code, profiles, said) => {
    expect(await ofCategory(strength, code, profiles)).toEqual(said)
  },
)

test.each([
  ['extensible', 'extensible', 'a', []],
  ['extensible', 'preferred', 'a', []],
  ['preferred', 'preferred', 'a', []],
  ['extensible', 'extensible', 'b', [`warning ${OWN}`]],
  ['required', 'extensible', 'a', [`error ${REST}`]],
])(
  'what a profile binds replaces a binding of the profile that it builds on, unless that is required: %s by %s, %s',
  async (before, strength, code, said) => {
    const on = profileOn('Condition', BASE, [
      { id: 'Condition.category', path: 'Condition.category', binding: { strength: before, valueSet: REST } },
    ])
    expect(await ofCategory(strength, code, [P], on)).toEqual(said)
  },
)

test('a binding that an unrelated profile repeats stays in force', async () => {
  const OTHER = 'http://a.org/StructureDefinition/other'
  const path = 'Condition.category'
  const binding = { strength: 'extensible', valueSet: REST }
  const profiles = [
    { ...profileOn('Condition', P, [{ id: path, path, binding: { strength: 'extensible', valueSet: OWN } }]), baseDefinition: BASE },
    profileOn('Condition', BASE, [{ id: path, path, binding }]),
    profileOn('Condition', OTHER, [{ id: path, path, binding }]),
  ]
  const { findings } = await validate(forRequest(ctx, { resources: [...own, ...profiles] }), {
    resource: { resourceType: 'Condition', subject: { display: 'x' }, category: [{ coding: [{ system: system.url, code: 'a' }] }] },
    profiles: [P, OTHER],
  })
  expect(findings.filter(({ kind }) => kind === 'code-not-in-value-set')).toMatchObject([
    { severity: 'warning', text: expect.stringContaining(REST) as string },
  ])
})
