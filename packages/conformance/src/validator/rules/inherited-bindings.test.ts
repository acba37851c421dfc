import type { JsonObject } from 'fhir-ops/internal/json'
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
