import { describe, expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate, type Finding } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { applyPatch } from './apply-patch.js'

const { definitions, types } = r4()
const ctx = createContext({ storage: memoryStorage(), definitions, types, now: () => new Date('2026-01-01T00:00:00Z') })
const UUID = 'c757873d-ec9a-4326-a141-556f43239520'
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category'
const MARITAL = 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus'

const patient = (members: string): string => `{"resourceType":"Patient",${members}}`
const observation = (members: string): string => `{"resourceType":"Observation","status":"final","code":{"text":"x"},${members}}`
const questionnaire = (members: string): string => `{"resourceType":"Questionnaire","status":"draft",${members}}`

async function findingsOf(resource: string): Promise<readonly Finding[]> {
  return (await validate(ctx, { resource })).findings
}

describe('a fix mends what was found and nothing else', () => {
  test.each([
    // Nothing where something is expected
    ['empty-array', patient('"name":[]'), '{"resourceType":"Patient"}'],
    ['empty-object', patient('"name":[{}],"active":true'), patient('"active":true')],
    ['empty-object', patient('"name":[{"text":"x"},{}]'), patient('"name":[{"text":"x"}]')],
    ['empty-object', patient('"maritalStatus":{}'), '{"resourceType":"Patient"}'],
    ['empty-object', patient('"_birthDate":{}'), '{"resourceType":"Patient"}'],
    ['null-not-allowed', patient('"gender":null'), '{"resourceType":"Patient"}'],
    ['null-not-allowed', patient('"name":[{"given":["a",null]}]'), patient('"name":[{"given":["a"]}]')],
    [
      'null-not-allowed',
      patient('"name":[{"given":["a",null],"_given":[{"id":"g"},null]}]'),
      patient('"name":[{"given":["a"],"_given":[{"id":"g"}]}]'),
    ],
    ['null-not-allowed', patient('"name":[{"text":"x","given":[null]}]'), patient('"name":[{"text":"x"}]')],
    ['primitive-empty', patient('"birthDate":""'), '{"resourceType":"Patient"}'],
    ['primitive-empty', patient('"name":[{"given":["a",""],"text":"x"}]'), patient('"name":[{"given":["a"],"text":"x"}]')],
    // Lists
    ['array-expected', patient('"name":{"text":"x"}'), patient('"name":[{"text":"x"}]')],
    ['array-expected', patient('"name":[{"given":"x"}]'), patient('"name":[{"given":["x"]}]')],
    ['array-not-allowed', patient('"gender":["male"]'), patient('"gender":"male"')],
    ['array-not-allowed', patient('"maritalStatus":[{"text":"x"}]'), patient('"maritalStatus":{"text":"x"}')],
    // Names
    ['unknown-property', patient('"birthdate":"2024"'), patient('"birthDate":"2024"')],
    ['unknown-property', patient('"contact":[{"Name":{"text":"x"}}]'), patient('"contact":[{"name":{"text":"x"}}]')],
    [
      'unknown-property',
      patient('"contained":[{"resourceType":"Organization","id":"o","NAME":"x"}],"managingOrganization":{"reference":"#o"}'),
      undefined,
    ],
    ['unknown-resource-type', '{"resourceType":"patient","active":true}', patient('"active":true')],
    // Values
    ['primitive-type', patient('"active":"true"'), patient('"active":true')],
    ['primitive-type', patient('"multipleBirthInteger":"2"'), patient('"multipleBirthInteger":2')],
    ['primitive-type', observation('"valueQuantity":{"value":"1.5"}'), observation('"valueQuantity":{"value":1.5}')],
    ['primitive-type', observation('"valueString":1.50'), observation('"valueString":"1.50"')],
    ['primitive-type', patient('"birthDate":2020'), patient('"birthDate":"2020"')],
    ['primitive-form', patient('"multipleBirthInteger":2.0'), patient('"multipleBirthInteger":2')],
    ['primitive-form', patient('"birthDate":" 2020-01-01"'), patient('"birthDate":"2020-01-01"')],
    ['primitive-form', patient('"gender":"male "'), patient('"gender":"male"')],
    ['primitive-space', patient('"name":[{"family":"X "}]'), patient('"name":[{"family":"X"}]')],
    [
      'primitive-space',
      patient('"photo":[{"contentType":"image/png","data":"AA AA"}]'),
      patient('"photo":[{"contentType":"image/png","data":"AAAA"}]'),
    ],
    [
      'uri-form',
      patient('"identifier":[{"system":"oid:1.2.3","value":"x"}]'),
      patient('"identifier":[{"system":"urn:oid:1.2.3","value":"x"}]'),
    ],
    ['uri-form', patient(`"identifier":[{"system":"urn:uuid:${UUID.toUpperCase()}","value":"x"}]`), undefined],
    ['uri-form', patient(`"identifier":[{"system":"uuid:${UUID.toUpperCase()}","value":"x"}]`), undefined],
    // Codes
    ['code-not-in-value-set', patient('"gender":"Male"'), patient('"gender":"male"')],
    [
      'code-unknown',
      patient(`"maritalStatus":{"coding":[{"system":"${MARITAL}","code":"m"}]}`),
      patient(`"maritalStatus":{"coding":[{"system":"${MARITAL}","code":"M"}]}`),
    ],
    // Places deep inside, and in what stands beside a primitive
    ['empty-array', questionnaire('"item":[{"linkId":"1","type":"group","item":[{"linkId":"2","type":"string","code":[]}]}]'), undefined],
    [
      'primitive-type',
      patient('"_birthDate":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-birthTime","valueDateTime":2020}]}'),
      undefined,
    ],
    [
      'empty-array',
      '{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"urn:uuid:' +
        UUID +
        '","resource":{"resourceType":"Patient","name":[]}}]}',
      undefined,
    ],
  ])('%s of %s', async (kind, resource, expected) => {
    const found = (await findingsOf(resource)).find((finding) => finding.kind === kind)
    if (found?.fix === undefined) throw new Error('There is no fix.')
    const mended = applyPatch(JSON.parse(resource), found.fix)
    if (expected !== undefined) expect(mended).toEqual(JSON.parse(expected))
    const left = await findingsOf(JSON.stringify(mended))
    expect(left.filter((finding) => finding.kind === kind && finding.expression === found.expression)).toEqual([])
  })
})

describe('all fixes, applied from the last to the first, leave what was right', () => {
  const x = '{"extension":[{"url":"http://example.org/x","valueString":"x"}]}'
  test.each([
    ['"given":["",null,"a"]', '"given":["a"]'],
    ['"given":["","a","",null,"b",null]', '"given":["a","b"]'],
    ['"given":[null,"","a"]', '"given":["a"]'],
    [`"given":[null,"a"],"_given":[{},${x}]`, `"given":["a"],"_given":[${x}]`],
    [`"given":["",null,"a",null],"_given":[null,{},${x},null]`, `"given":["a"],"_given":[${x}]`],
  ])('%s', async (name, expected) => {
    const resource = patient(`"name":[{${name}}]`)
    const fixes = (await findingsOf(resource)).flatMap(({ fix }) => (fix === undefined ? [] : [fix]))
    expect(fixes.toReversed().reduce(applyPatch, JSON.parse(resource))).toEqual(JSON.parse(patient(`"name":[{${expected}}]`)))
  })
})

describe('there is no fix where there is a doubt', () => {
  test.each([
    ['a property that is only near', patient('"birthDat":"2020"')],
    ['a property whose right name is taken', patient('"birthDate":"2020","birthdate":"2021"')],
    ['a list of several where one is expected', patient('"gender":["male","female"]')],
    ['a number that JavaScript would write otherwise', observation('"valueQuantity":{"value":"1.50"}')],
    ['a date of another form', patient('"birthDate":"1.2.2020"')],
    ['an object with an id alone', patient('"name":[{"id":"a"}]')],
    [
      'an empty text beside an extension',
      patient('"birthDate":"","_birthDate":{"extension":[{"url":"http://example.org/x","valueCode":"y"}]}'),
    ],
    ['a code that is only near', patient('"gender":"mal"')],
  ])('%s', async (_, resource) => {
    const errors = (await findingsOf(resource)).filter(({ severity }) => severity === 'error')
    expect(errors.length).toBeGreaterThan(0)
    expect(errors.flatMap(({ fix }) => fix ?? [])).toEqual([])
  })
})

describe('a hint names what was perhaps meant', () => {
  test.each([
    [patient('"birthdate":"2020"'), "Did you mean 'birthDate'?"],
    [patient('"nam":[{"text":"x"}]'), "Did you mean 'name'?"],
    [patient('"deceasedBolean":true'), "Did you mean 'deceasedBoolean'?"],
    [patient('"gender":"femal"'), "Did you mean 'female'?"],
    [patient('"gender":"x"'), "Did you mean 'male' or 'female' or 'other' or 'unknown'?"],
    ['{"resourceType":"Pateint"}', "Did you mean 'Patient'?"],
    [observation(`"category":[{"coding":[{"system":"${CATEGORY}","code":"vital-sign"}]}]`), "Did you mean 'vital-signs'?"],
    [patient('"constructor":1'), undefined],
    [patient('"foo":1'), undefined],
  ])('%s', async (resource, hint) => {
    const errors = (await findingsOf(resource)).filter(({ severity }) => severity === 'error')
    expect(errors.map((finding) => finding.hint)).toContain(hint)
  })
})
