import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { describe, expect, test } from 'vitest'
import { jsonSchema, type JsonSchemaInput } from './index.js'

const SD = 'http://hl7.org/fhir/StructureDefinition/'
const OWN = 'http://example.org/fhir/StructureDefinition/'

function contextWith(...resources: readonly object[]): OperationContext {
  return createContext({ storage: memoryStorage(resources), ...r4(), limits: { operationTimeoutMs: 60_000 } })
}

async function checkOf(ctx: OperationContext, input: JsonSchemaInput): Promise<ValidateFunction> {
  const { schema } = await jsonSchema(ctx, input)
  return new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, code: { optimize: false } }).compile(schema)
}

const plain = contextWith()
const checked = new Map<string, Promise<ValidateFunction>>()

/** The schema of a type or profile of R4, made once. */
function plainCheck(url: string): Promise<ValidateFunction> {
  const check = checked.get(url) ?? checkOf(plain, { url })
  checked.set(url, check)
  return check
}

/** What the schema and the validator say; they must agree. */
async function verdicts(resource: JsonObject): Promise<boolean> {
  const ctx = plain
  const check = await plainCheck('Patient')
  const taken = check(resource)
  const { findings } = await validate(ctx, { resource })
  const valid = findings.every(({ severity }) => severity !== 'error' && severity !== 'fatal')
  expect(taken, `${JSON.stringify(check.errors)} ${JSON.stringify(findings)}`).toBe(valid)
  return taken
}

const DATA_ABSENT = { url: `${SD}data-absent-reason`, valueCode: 'unknown' }
const patient = { resourceType: 'Patient', id: 'a', birthDate: '1980-12-10', name: [{ family: 'Lovell', given: ['Ada'] }] }

describe('the schema of a type', () => {
  test.each<[string, object]>([
    ['a primitive with extensions and no value', { _birthDate: { extension: [DATA_ABSENT] }, birthDate: undefined }],
    ['null beside an extension', { name: [{ given: [null, 'B'], _given: [{ extension: [DATA_ABSENT] }, null] }] }],
    ['an id beside a value', { _birthDate: { id: 'x' } }],
    ['a choice', { deceasedBoolean: true }],
    ['the last day of a month', { birthDate: '2024-02-29' }],
    ['a part of a date', { birthDate: '1980-12' }],
    [
      'a contained resource',
      { contained: [{ resourceType: 'Organization', id: 'o', name: 'x' }], managingOrganization: { reference: '#o' } },
    ],
  ])('takes %s', async (_, change) => {
    expect(await verdicts(withoutUndefined({ ...patient, ...change }))).toBe(true)
  })

  test.each<[string, object]>([
    ['an unknown member', { nmae: [] }],
    ['a value instead of a list', { name: { family: 'x' } }],
    ['a list instead of a value', { birthDate: ['1980'] }],
    ['an empty list', { name: [] }],
    ['an empty object', { name: [{}] }],
    ['an object with an id only', { name: [{ id: 'x' }] }],
    ['null without extensions', { name: [{ given: [null, 'B'] }] }],
    ['null as a value', { birthDate: null }],
    ['two types of a choice', { deceasedBoolean: true, deceasedDateTime: '2020' }],
    ['two types of a choice, one by its extension', { deceasedBoolean: true, _deceasedDateTime: { extension: [DATA_ABSENT] } }],
    ['a day that does not exist', { birthDate: '2023-02-29' }],
    ['the year 0', { birthDate: '0000-01-01' }],
    ['a code that is not in the value set', { gender: 'f' }],
    ['a code with white space', { language: ' en' }],
    ['a text that is empty', { name: [{ family: '' }] }],
    ['a missing required primitive', { communication: [{ preferred: true }] }],
    ['a missing required member', { link: [{ type: 'seealso' }] }],
    ['an id that is too long', { id: 'x'.repeat(65) }],
    ['a number as a text', { multipleBirthInteger: '2' }],
    ['a number with a fraction', { multipleBirthInteger: 1.5 }],
    ['a resource of an unknown type inside', { contained: [{ resourceType: 'Bot', id: 'o' }] }],
    ['an OID without urn', { identifier: [{ system: 'oid:1.2.3', value: 'x' }] }],
  ])('refuses %s', async (_, change) => {
    expect(await verdicts({ ...patient, ...change })).toBe(false)
  })

  test.each<[string, unknown, boolean]>([
    ['instant', '2024-01-31T10:00:00Z', true],
    ['instant', '2024-01-31', false],
    ['dateTime', '2024-01-31T10:00Z', false],
    ['time', '23:59:60', true],
    ['base64Binary', 'AA==', true],
    ['base64Binary', 'AAA', false],
    ['canonical', 'Library/x', false],
    ['uuid', 'c757873d-ec9a-4326-a141-556f43239520', false],
    ['oid', 'urn:oid:2.16.840', true],
    ['positiveInt', 0, false],
    ['integer', 2_147_483_648, false],
    ['HumanName', { family: 'x' }, true],
    ['Patient.contact', { gender: 'male' }, true],
  ])('of a data type: %s, %j is %s', async (url, value, expected) => {
    if (url.includes('.')) return expect(jsonSchema(plain, { url })).rejects.toMatchObject({ code: 'profile-not-found' })
    expect((await plainCheck(url))(value)).toBe(expected)
  })

  test('lists what it does not say', async () => {
    const { unexpressed } = await jsonSchema(contextWith(), { url: 'Patient' })
    expect(unexpressed).toContainEqual({ element: 'Patient.contact', kind: 'invariant', text: expect.stringMatching(/^pat-1: /) })
    expect(unexpressed).toContainEqual({
      element: 'Attachment.contentType',
      kind: 'binding',
      text: 'http://hl7.org/fhir/ValueSet/mimetypes|4.0.1',
    })
  })

  test('has as many codes as are asked for', async () => {
    const { schema, unexpressed } = await jsonSchema(contextWith(), { url: 'Patient', maxCodes: 3 })
    expect(JSON.stringify(schema)).not.toContain('"unknown"')
    expect(unexpressed.map(({ text }) => text)).toContain('http://hl7.org/fhir/ValueSet/administrative-gender|4.0.1')
  })

  test('refers to nothing outside of itself', async () => {
    const { schema } = await jsonSchema(contextWith(), { url: 'Observation' })
    const refs = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref = '']) => ref)
    const { $defs } = schema
    expect(refs.length).toBeGreaterThan(100)
    for (const ref of refs) expect(isObject($defs) && Object.hasOwn($defs, ref.replace('#/$defs/', '')), ref).toBe(true)
  })
})

describe('the schema of a profile', () => {
  const pressure = {
    resourceType: 'Observation',
    status: 'final',
    category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] }],
    code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] },
    subject: { reference: 'Patient/a' },
    effectiveDateTime: '2026-01-05',
    component: [component('8480-6', 142), component('8462-4', 91)],
  }

  function component(code: string, value: number): object {
    const valueQuantity = { value, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' }
    return { code: { coding: [{ system: 'http://loinc.org', code }] }, valueQuantity }
  }

  test.each<[string, object, boolean]>([
    ['what conforms', {}, true],
    ['a missing slice', { component: [component('8480-6', 142)] }, false],
    [
      'a slice with a wrong value',
      { component: [component('8480-6', 142), { ...component('8462-4', 91), valueQuantity: { value: 1, unit: 'x' } }] },
      false,
    ],
    ['a missing category', { category: [{ text: 'vital signs' }] }, false],
    ['another code', { code: { coding: [{ system: 'http://loinc.org', code: '1-8' }] } }, false],
    ['a missing subject', { subject: undefined }, false],
    ['a wrong member of the type', { foo: 1 }, false],
  ])('takes or refuses as the validator does: %s', async (_, change, expected) => {
    const ctx = plain
    const resource = withoutUndefined({ ...pressure, ...change })
    const check = await plainCheck(`${SD}bp`)
    const { valid, findings } = await validate(ctx, { resource, profiles: [`${SD}bp`] })
    expect(valid, JSON.stringify(findings)).toBe(expected)
    expect(check(resource), JSON.stringify(check.errors)).toBe(expected)
  })

  const nickname = {
    resourceType: 'StructureDefinition',
    id: 'nickname',
    url: `${OWN}nickname`,
    name: 'Nickname',
    status: 'active',
    kind: 'complex-type',
    abstract: false,
    context: [{ type: 'element', expression: 'Patient' }],
    type: 'Extension',
    baseDefinition: `${SD}Extension`,
    derivation: 'constraint',
    differential: {
      element: [
        { id: 'Extension', path: 'Extension', max: '1' },
        { id: 'Extension.url', path: 'Extension.url', fixedUri: `${OWN}nickname` },
        { id: 'Extension.value[x]', path: 'Extension.value[x]', min: 1, type: [{ code: 'string' }] },
      ],
    },
  }
  const own = {
    resourceType: 'StructureDefinition',
    id: 'own',
    url: `${OWN}own`,
    version: '1.0',
    name: 'Own',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: 'Patient',
    baseDefinition: `${SD}Patient`,
    derivation: 'constraint',
    differential: {
      element: [
        { id: 'Patient', path: 'Patient', constraint: [{ key: 'own-1', severity: 'error', human: 'A name', expression: 'name.exists()' }] },
        { id: 'Patient.extension', path: 'Patient.extension', slicing: { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' } },
        {
          id: 'Patient.extension:nickname',
          path: 'Patient.extension',
          sliceName: 'nickname',
          min: 1,
          max: '1',
          type: [{ code: 'Extension', profile: [`${OWN}nickname`] }],
        },
        { id: 'Patient.active', path: 'Patient.active', min: 1, fixedBoolean: true },
        { id: 'Patient.photo', path: 'Patient.photo', max: '0' },
        { id: 'Patient.name', path: 'Patient.name', min: 1, max: '2' },
        { id: 'Patient.name.family', path: 'Patient.name.family', maxLength: 10 },
        { id: 'Patient.deceased[x]', path: 'Patient.deceased[x]', type: [{ code: 'boolean' }] },
        { id: 'Patient.maritalStatus', path: 'Patient.maritalStatus', patternCodeableConcept: { coding: [{ code: 'M' }] } },
      ],
    },
  }
  const base = {
    resourceType: 'Patient',
    active: true,
    name: [{ family: 'Lovell' }],
    extension: [{ url: `${OWN}nickname`, valueString: 'Ada' }],
  }

  const ctx = contextWith(own, nickname)
  let ownCheck: Promise<ValidateFunction> | undefined

  test.each<[string, object, boolean]>([
    ['what conforms', {}, true],
    [
      'a pattern that is met',
      { maritalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M' }], text: 'x' } },
      true,
    ],
    ['a pattern that is not', { maritalStatus: { text: 'x' } }, false],
    ['a fixed value that differs', { active: false }, false],
    ['a required value that is missing', { active: undefined }, false],
    ['what may not be there', { photo: [{ url: 'http://x' }] }, false],
    ['too many', { name: [{ family: 'a' }, { family: 'b' }, { family: 'c' }] }, false],
    ['a text that is too long', { name: [{ family: 'x'.repeat(11) }] }, false],
    ['a type that the choice has lost', { deceasedDateTime: '2020' }, false],
    ['an extension that is missing', { extension: undefined }, false],
    ['an extension with a wrong value', { extension: [{ url: `${OWN}nickname`, valueCode: 'Ada' }] }, false],
    ['another extension beside', { extension: [...base.extension, { url: `${SD}patient-birthPlace`, valueAddress: { city: 'x' } }] }, true],
  ])('of a differential alone: %s', async (_, change, expected) => {
    const resource = withoutUndefined({ ...base, ...change })
    const check = await (ownCheck ??= checkOf(ctx, { url: `${OWN}own|1.0` }))
    const { valid, findings } = await validate(ctx, { resource, profiles: [`${OWN}own|1.0`] })
    expect(valid, JSON.stringify(findings)).toBe(expected)
    expect(check(resource), JSON.stringify(check.errors)).toBe(expected)
  })

  test('lists what it does not say, also profiles that are not there', async () => {
    const { unexpressed } = await jsonSchema(contextWith(own), { url: `${OWN}own` })
    expect(unexpressed).toContainEqual({ element: 'Patient', kind: 'invariant', text: 'own-1: A name' })
    expect(unexpressed).toContainEqual({ element: 'Patient.extension:nickname', kind: 'profile', text: `${OWN}nickname` })
  })

  test('has one definition for a content reference to what is around it', async () => {
    const check = await checkOf(contextWith(), { url: 'Questionnaire' })
    const item = (inner: object): object => ({ linkId: 'a', type: 'group', item: [inner] })
    const questionnaire = { resourceType: 'Questionnaire', status: 'draft', item: [item(item({ linkId: 'b', type: 'string' }))] }
    expect(check(questionnaire)).toBe(true)
    expect(check({ ...questionnaire, item: [item(item({ linkId: 'b', type: 'strin' }))] })).toBe(false)
  })
})

describe('misuse', () => {
  test.each<[string, object, string]>([
    ['no url', {}, 'parameter-required'],
    ['an unknown url', { url: 'http://example.org/none' }, 'profile-not-found'],
    ['a misspelt type', { url: 'Patiant' }, 'profile-not-found'],
    ['a member that does not exist', { url: 'Patient', resource: 'whole' }, 'parameter-unsupported'],
  ])('%s is refused by name', async (_, input, code) => {
    await expect(jsonSchema(contextWith(), input as JsonSchemaInput)).rejects.toMatchObject({ code })
  })

  test('a context without types is refused', async () => {
    const ctx = createContext({ storage: memoryStorage() })
    await expect(jsonSchema(ctx, { url: 'Patient' })).rejects.toMatchObject({ code: 'definition-required' })
  })
})

test('a schema is made in pieces, so that others run in between and a signal ends it', async () => {
  const signal = AbortSignal.abort()
  await expect(jsonSchema({ ...contextWith(), signal }, { url: 'Patient' })).rejects.toMatchObject({ code: 'aborted' })
})

function withoutUndefined(resource: object): JsonObject {
  return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined))
}
