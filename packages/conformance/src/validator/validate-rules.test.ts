import { describe, expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { putResource } from 'fhir-ops/storage'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const { definitions, types, indexer } = r4()
const ctx = createContext({ storage: memoryStorage(), definitions, types, now: () => new Date('2026-01-01T00:00:00Z') })

async function findingsOf(resource: string | object): Promise<readonly string[]> {
  const text = typeof resource === 'string' ? resource : JSON.stringify(resource)
  const { findings } = await validate(ctx, { resource: text })
  return findings.filter(({ severity }) => severity === 'error').map(({ kind, expression }) => `${kind} ${expression}`)
}

const patient = (members: string): string => `{"resourceType":"Patient",${members}}`
const observation = (members: string): string => `{"resourceType":"Observation","status":"final","code":{"text":"x"},${members}}`

describe('what an object of a program has and JSON has not', () => {
  test.each<[string, object, string]>([
    ['a number that is none', { valueQuantity: { value: NaN } }, 'primitive-type Observation.value.ofType(Quantity).value'],
    ['infinity', { valueQuantity: { value: -Infinity } }, 'primitive-type Observation.value.ofType(Quantity).value'],
    ['undefined in a list of objects', { category: [{ text: 'x' }, undefined] }, 'null-not-allowed Observation.category[1]'],
    ['a hole in a list', { category: Array.from({ length: 2 }) }, 'null-not-allowed Observation.category[0]'],
    [
      'undefined in a list of primitives',
      { meta: { profile: ['http://hl7.org/fhir/StructureDefinition/Observation', undefined] } },
      'null-not-allowed Observation.meta.profile',
    ],
  ])('%s is what it becomes as JSON', async (_, members, expected) => {
    const resource = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, ...members }
    for (const checks of ['all', 'structure'] as const) {
      const { findings } = await validate(ctx, { resource, checks })
      expect(findings.map(({ kind, expression }) => `${kind} ${expression}`)).toContain(expected)
    }
  })

  test.each([
    ['a primitive', { effectiveDateTime: () => '2020' }, 'primitive-type Observation.effective.ofType(dateTime)'],
    ['an element', { method: () => ({ text: 'x' }) }, 'object-expected Observation.method'],
    ['a list', { category: () => [] }, 'array-expected Observation.category'],
    ['an item', { category: [() => ({})] }, 'object-expected Observation.category[0]'],
    ['what is required', { status: () => 'final' }, 'primitive-type Observation.status'],
    ['what is inside', { valueQuantity: { unit: () => 'kg' } }, 'primitive-type Observation.value.ofType(Quantity).unit'],
    ['an id', { id: () => 'x' }, 'primitive-type Observation.id'],
  ])('a function instead of %s is an error', async (_, members, expected) => {
    const resource = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, ...members }
    for (const checks of ['all', 'structure'] as const) {
      const { findings } = await validate(ctx, { resource, checks })
      expect(findings.map(({ kind, expression }) => `${kind} ${expression}`)).toContain(expected)
    }
  })

  test('undefined as a member is no member, and a number that is too large for a program is one', async () => {
    const resource = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, valueQuantity: { value: 1, unit: undefined } }
    expect((await validate(ctx, { resource })).valid).toBe(true)
    expect((await validate(ctx, { resource: JSON.stringify(resource).replace('"value":1', '"value":1e999') })).valid).toBe(true)
  })
})

describe('validate', () => {
  test.each([
    // Structure
    [patient('"foo":1'), 'unknown-property Patient.foo'],
    [patient('"constructor":1'), 'unknown-property Patient.constructor'],
    [patient('"__proto__":{"a":1}'), 'unknown-property Patient.__proto__'],
    [patient('"_name":[]'), 'unknown-property Patient._name'],
    [patient('"name":{"family":"x"}'), 'array-expected Patient.name'],
    [patient('"gender":["male"]'), 'array-not-allowed Patient.gender'],
    [patient('"name":["x"]'), 'object-expected Patient.name[0]'],
    [patient('"name":[]'), 'empty-array Patient.name'],
    [patient('"name":[{}]'), 'empty-object Patient.name[0]'],
    [patient('"name":[{"id":"a"}]'), 'empty-object Patient.name[0]'],
    [patient('"_birthDate":{"id":"a"}'), 'empty-object Patient.birthDate'],
    [patient('"birthDate":"2000","_birthDate":{}'), 'empty-object Patient.birthDate'],
    [patient('"name":[{"given":["a","b"],"_given":[{},null]}]'), 'empty-object Patient.name[0].given[0]'],
    [patient('"birthDate":"2000","_birthDate":"x"'), 'object-expected Patient.birthDate'],
    [patient('"name":[{"given":["a"],"_given":["x"]}]'), 'object-expected Patient.name[0].given'],
    [patient('"gender":null'), 'null-not-allowed Patient.gender'],
    [patient('"name":[{"given":["a",null]}]'), 'null-not-allowed Patient.name[0].given'],
    [patient('"name":[{"given":["a",null],"_given":[null,null]}]'), 'null-not-allowed Patient.name[0].given'],
    [patient('"address":[{"line":["a"],"_line":[{"id":"x"},null]}]'), 'null-not-allowed Patient.address[0].line'],
    [patient('"name":[null]'), 'null-not-allowed Patient.name[0]'],
    [patient('"deceasedBoolean":true,"deceasedDateTime":"2020"'), 'several-choices Patient.deceased.ofType(dateTime)'],
    [patient('"deceasedString":"x"'), 'unknown-property Patient.deceasedString'],
    ['{"resourceType":"Observation","code":{"text":"x"}}', 'too-few Observation'],
    [observation('"referenceRange":[{"foo":1}]'), 'unknown-property Observation.referenceRange[0].foo'],
    ['{"resourceType":"Bot"}', 'unknown-resource-type Bot'],
    ['{"resourceType":"toString"}', 'unknown-resource-type toString'],
    [
      '{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"urn:x:1","resource":{"resourceType":"Patient","foo":1}}]}',
      'unknown-property Bundle.entry[0].resource.foo',
    ],
    [
      '{"resourceType":"Parameters","parameter":[{"name":"a","part":[{"name":"b","foo":1}]}]}',
      'unknown-property Parameters.parameter[0].part[0].foo',
    ],
    [
      '{"resourceType":"Questionnaire","status":"draft","item":[{"linkId":"1","type":"group","item":[{"linkId":"2","type":"string","foo":1}]}]}',
      'unknown-property Questionnaire.item[0].item[0].foo',
    ],
    // Primitive values
    [patient('"active":"true"'), 'primitive-type Patient.active'],
    [patient('"birthDate":"2024-02-30"'), 'primitive-form Patient.birthDate'],
    [patient('"birthDate":""'), 'primitive-empty Patient.birthDate'],
    [patient('"id":"a b"'), 'id-form Patient.id'],
    [patient('"multipleBirthInteger":1.0'), 'primitive-form Patient.multipleBirth.ofType(integer)'],
    // Codes
    [patient('"gender":"m"'), 'code-not-in-value-set Patient.gender'],
    [patient('"_id":{"id":"x"}'), 'id-extension Patient.id'],
    [patient('"extension":[{"valueString":"x"}]'), 'extension-url-missing Patient.extension[0]'],
    [patient('"contact":[{"name":{"text":"x"},"gender":"m"}]'), 'code-not-in-value-set Patient.contact[0].gender'],
    [
      patient('"maritalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-MaritalStatus","code":"XX"}]}'),
      'code-unknown Patient.maritalStatus.coding[0].code',
    ],
    [
      patient(
        '"maritalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-MaritalStatus","code":"M","display":"Wed"}]}',
      ),
      'display-wrong Patient.maritalStatus.coding[0].display',
    ],
    // Invariants, references, contained resources
    [patient('"contact":[{"gender":"male"}]'), 'invariant Patient.contact[0]'],
    [patient('"name":[{"text":"x","period":{"start":"2020","end":"2019"}}]'), 'invariant Patient.name[0].period'],
    [patient('"generalPractitioner":[{"reference":"#x"}]'), 'reference Patient.generalPractitioner[0]'],
    [patient('"managingOrganization":{"reference":"Device/1"}'), 'reference Patient.managingOrganization'],
    [patient('"contained":[{"resourceType":"Organization","id":"o","name":"x"}]'), 'contained Patient.contained[0]'],
    [patient('"contained":[{"resourceType":"Organization","name":"x"}]'), 'contained Patient.contained[0]'],
    // Extensions
    [patient('"extension":[{"url":"http://unknown.net/x","valueString":"x"}]'), 'extension-unknown Patient.extension[0]'],
    [
      patient('"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-birthPlace","valueString":"x"}]'),
      'type-not-allowed Patient.extension[0]',
    ],
    [
      patient('"modifierExtension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-birthPlace","valueAddress":{"city":"x"}}]'),
      'extension-modifier Patient.modifierExtension[0]',
    ],
    [
      '{"resourceType":"Basic","code":{"text":"x"},"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-birthPlace","valueAddress":{"city":"x"}}]}',
      'extension-context Basic',
    ],
    [patient('"text":{"status":"generated","div":"<div>x</div>"}'), 'narrative Patient.text.div'],
    // JSON
    ['{"resourceType":"Patient" "active":true}', 'json-comma Patient'],
    ['{"resourceType":"Patient","name":[{family:"x"}]}', 'json-quotes Patient.name[0]'],
    ['{"resourceType":"Patient","multipleBirthInteger":01}', 'json-number Patient.multipleBirth.ofType(integer)'],
  ])('%s: %s', async (text, finding) => {
    expect(await findingsOf(text)).toContain(finding)
  })

  test.each([
    patient('"name":[{"given":["a",null],"_given":[null,{"extension":[{"url":"http://example.org/x","valueString":"x"}]}]}]'),
    patient(
      '"_birthDate":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-birthTime","valueDateTime":"2020-01-01T10:00:00Z"}]}',
    ),
    patient('"contained":[{"resourceType":"Organization","id":"o","name":"x"}],"managingOrganization":{"reference":"#o"}'),
    observation('"valueQuantity":{"value":1.50,"unit":"x"}'),
  ])('%s is valid', async (text) => {
    expect(await findingsOf(text)).toEqual([])
  })

  test('tells line and column on request', async () => {
    const text = '{\n "resourceType": "Patient",\n "name": [\n  {"family": "x"},\n  {"foo": 1}\n ],\n "active": "x"\n}'
    const { findings } = await validate(ctx, { resource: text, places: true })
    expect(findings.map(({ expression, line, column }) => `${expression} ${line}:${column}`)).toEqual([
      'Patient.name[1].foo 5:11',
      'Patient.active 7:12',
    ])
  })

  test('takes findings in document order', async () => {
    const found = await findingsOf(patient('"name":[{"foo":1}],"bar":2,"gender":"x","contact":[{"foo":3}]'))
    expect(found.map((text) => text.split(' ')[1])).toEqual([
      'Patient.name[0].foo',
      'Patient.bar',
      'Patient.gender',
      'Patient.gender',
      'Patient.contact[0]',
      'Patient.contact[0].foo',
    ])
  })

  test.each([
    [patient('"foo":1,"name":[],"gender":["male"],"birthDate":"x","deceasedBoolean":true,"deceasedDateTime":"2020"'), 5],
    [patient('"deceasedBoolean":true,"deceasedDateTime":"2020"'), 1],
    [patient('"foo":1'), 1],
    [patient('"multipleBirthInteger":1.0'), 1],
    ['{"resourceType":"Observation","subject":{"reference":1}}', 3],
    [
      patient(
        '"gender":"m","contact":[{"gender":"male"}],"text":{"status":"generated","div":"<script/>"},"meta":{"profile":["http://x.org/y"]}',
      ),
      0,
    ],
  ])('of the structure alone, %s has %i findings', async (resource, count) => {
    expect((await validate(ctx, { resource, checks: 'structure' })).findings).toHaveLength(count)
  })
})

describe('definitions that are written between two validations', () => {
  const storage = memoryStorage([], { indexer })
  const live = createContext({ storage, definitions, types })
  const url = 'http://example.org/StructureDefinition/named'
  const write = (type: string, id: string, source: object): Promise<unknown> =>
    storage.write([putResource({ type, id, source: { ...source, id } }, indexer)])
  const count = async (resource: string): Promise<number> => (await validate(live, { resource })).findings.length

  test('count at once: profiles', async () => {
    const claim = patient(`"meta":{"profile":["${url}"]},"active":true`)
    const profile = (min: number): object => ({
      resourceType: 'StructureDefinition',
      url,
      type: 'Patient',
      derivation: 'constraint',
      baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
      differential: { element: [{ id: 'Patient.birthDate', path: 'Patient.birthDate', min }] },
    })
    expect(await count(claim)).toBe(1)
    await write('StructureDefinition', 'p', profile(0))
    expect(await count(claim)).toBe(0)
    await write('StructureDefinition', 'p', profile(1))
    expect([await count(claim), await count(claim)]).toEqual([1, 1])
  })

  test('count at once: code systems', async () => {
    const coded = patient('"maritalStatus":{"coding":[{"system":"http://example.org/codes","code":"b"}]}')
    const kinds = async (): Promise<readonly string[]> => (await validate(live, { resource: coded })).findings.map(({ kind }) => kind)
    const system = (...codes: readonly string[]): object => ({
      resourceType: 'CodeSystem',
      url: 'http://example.org/codes',
      status: 'active',
      content: 'complete',
      concept: codes.map((code) => ({ code })),
    })
    expect(await kinds()).toContain('code-system-unknown')
    await write('CodeSystem', 'c', system('a'))
    expect(await kinds()).toContain('code-unknown')
    await write('CodeSystem', 'c', system('a', 'b'))
    expect(await kinds()).not.toContain('code-unknown')
  })
})
