import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'
import { profileOn } from './profile-on.js'

const add = messageTests('a code', /^code-system-not-inferred$/)

const greek = (name: string): JsonObject => ({
  resourceType: 'CodeSystem',
  url: `http://a.org/CodeSystem/${name}`,
  status: 'active',
  content: 'complete',
  concept: [{ code: 'a' }, { code: name }],
})
const list = {
  resourceType: 'ValueSet',
  url: 'http://a.org/ValueSet/v',
  status: 'active',
  compose: { include: [{ system: 'http://a.org/CodeSystem/one' }, { system: 'http://a.org/CodeSystem/two' }] },
}
const URL = 'http://a.org/StructureDefinition/letter'
const coded = {
  ...profileOn('Extension', URL, [
    { id: 'Extension.url', path: 'Extension.url', fixedUri: URL },
    {
      id: 'Extension.value[x]',
      path: 'Extension.value[x]',
      type: [{ code: 'code' }],
      binding: { strength: 'required', valueSet: list.url },
    },
  ]),
  kind: 'complex-type',
}
const withCode = (valueCode: string): JsonObject => ({ resourceType: 'Patient', extension: [{ url: URL, valueCode }] })
add('that one system of its value set has', [], withCode('one'), [greek('one'), greek('two'), list, coded])
add(
  'that both systems of its value set have: Unable_to_resolve_system__value_set_has_multiple_matches',
  ['error|not-found code-system-not-inferred Patient.extension[0].value.ofType(code)'],
  withCode('a'),
  [greek('one'), greek('two'), list, coded],
)
