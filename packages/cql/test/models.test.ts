import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { beforeAll, describe, expect, it } from 'vitest'
import { cqlChecker, evaluateCql, literalText } from '../src/index.js'
import { createTranslator, type CqlTranslator } from '../src/translator/index.js'
import { libraryWith } from './library.fixture.js'

const { types, indexer, ...release } = r4()
let translator: CqlTranslator
beforeAll(async () => {
  translator = await createTranslator({ model: types })
})

const XML = 'xmlns="urn:hl7-org:elm-modelinfo:r1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
const PROFILE = 'http://x/StructureDefinition/lowered'
const NAMED = 'xsi:type="NamedTypeSpecifier" namespace="System"'

const readings = (more = ''): string => `<?xml version="1.0" encoding="UTF-8"?>
<modelInfo name="Clinic" version="1.0.0" url="http://x/clinic" targetUrl="http://hl7.org/fhir" targetQualifier="clinic" patientClassName="Patient" patientBirthDatePropertyName="birthDate" ${XML}>
  <requiredModelInfo name="System" version="1.0.0"/>${more}
  <typeInfo xsi:type="ClassInfo" namespace="Clinic" name="Patient" identifier="http://hl7.org/fhir/StructureDefinition/Patient" label="Patient" retrievable="true" baseType="System.Any">
    <element name="birthDate" elementType="System.Date" target="%value.value"/>
  </typeInfo>
  <typeInfo xsi:type="ClassInfo" namespace="Clinic" name="LoweredReading" identifier="${PROFILE}" label="Lowered reading" target="Observation" retrievable="true" primaryCodePath="code" baseType="System.Any">
    <element name="id" elementType="System.String" target="%value.value"/>
    <element name="code" elementType="System.Concept" target="FHIRHelpers.ToConcept(%value)"/>
    <element name="effective" target="FHIRHelpers.ToValue(%value)">
      <elementTypeSpecifier xsi:type="ChoiceTypeSpecifier">
        <choice ${NAMED} name="DateTime"/>
        <choice xsi:type="IntervalTypeSpecifier"><pointTypeSpecifier ${NAMED} name="DateTime"/></choice>
      </elementTypeSpecifier>
    </element>
    <element name="value" target="FHIRHelpers.ToValue(%value)">
      <elementTypeSpecifier xsi:type="ChoiceTypeSpecifier"><choice ${NAMED} name="Quantity"/><choice ${NAMED} name="String"/></elementTypeSpecifier>
    </element>
  </typeInfo>
  <contextInfo name="Patient" keyElement="id" birthDateElement="birthDate"><contextType namespace="Clinic" name="Patient"/></contextInfo>
</modelInfo>`

type Json = { readonly resourceType: string; readonly [member: string]: unknown }

const modelOf = (text = readings(), more: object = {}): Json =>
  libraryWith('Clinic-ModelInfo', text, { version: '1.0.0', ...more }, 'application/xml')
const HEAD = `library Main version '1'
using Clinic version '1.0.0'
include FHIRHelpers version '4.4.000'
context Patient
`
const main = (text: string, more: object = {}): Json => libraryWith('Main', text, more)

const subject = { reference: 'Patient/p' }
const observation = (id: string, more: object): Json => ({ resourceType: 'Observation', id, status: 'final', subject, ...more })
const DATA: readonly Json[] = [
  { resourceType: 'Patient', id: 'p', birthDate: '1980-06-02' },
  observation('a', { effectiveDateTime: '2020-05-01', valueQuantity: { value: 5, code: 'mg' } }),
  observation('b', { effectivePeriod: { start: '2020-05-01', end: '2020-05-02' }, valueString: 'high', meta: { profile: [PROFILE] } }),
]
const context = (...resources: readonly Json[]): OperationContext =>
  createContext({
    ...release,
    types,
    storage: memoryStorage([...DATA, ...resources], { indexer }),
    checkLibrary: cqlChecker({ translator }),
  })

async function valueOf(expression: string, ctx = context(modelOf()), head = HEAD, more: object = {}): Promise<string> {
  const input = { library: main(`${head}define X: ${expression}`, more), definitions: ['X'], subject: 'Patient/p' }
  const { values, failures } = await evaluateCql(ctx, input, { translator, profiles: 'declared' })
  expect([...failures]).toEqual([])
  return literalText(values.get('X') ?? null)
}

describe('CQL text that uses a model of profiles', () => {
  it.each([
    ['Patient.birthDate', '@1980-06-02'],
    ['AgeInYearsAt(@2020-06-02)', '40'],
    ['[LoweredReading] R return R.id', "{ 'b' }"],
    ['[LoweredReading] R return R.value as String', "{ 'high' }"],
    ['[LoweredReading] R return R.effective as Interval<DateTime>', '{ Interval[@2020-05-01T, @2020-05-02T] }'],
    ["exists ([LoweredReading] R where R.value as Quantity > 1 'mg')", 'false'],
  ])('evaluates %s', async (expression, expected) => {
    expect(await valueOf(expression)).toBe(expected)
  })

  it('finds the model by what the library depends on, among published ones, and through a library that it includes', async () => {
    const url = 'http://elsewhere/Library/Clinic-ModelInfo'
    const relatedArtifact = [{ type: 'depends-on', resource: `${url}|1.0.0` }]
    expect(await valueOf('Patient.birthDate', context(modelOf(undefined, { url })), HEAD, { relatedArtifact })).toBe('@1980-06-02')
    const published = context(modelOf(undefined, { url: 'http://hl7.org/fhir/us/cql/Library/Clinic-ModelInfo' }))
    expect(await valueOf('Patient.birthDate', published)).toBe('@1980-06-02')
    const included = libraryWith('Part', `${HEAD.replace('Main', 'Part')}define Born: Patient.birthDate`)
    const head = "library Main version '1'\nusing FHIR version '4.0.1'\ninclude Part version '1'\ncontext Patient\n"
    expect(await valueOf('Part.Born', context(modelOf(), included), head)).toBe('@1980-06-02')
  })

  it('follows a model that is given another text', async () => {
    expect(await valueOf('Patient.birthDate')).toBe('@1980-06-02')
    const other = readings().replace('name="birthDate" elementType', 'name="born" elementType').replaceAll('"birthDate"', '"born"')
    await expect(valueOf('Patient.birthDate', context(modelOf(other)))).rejects.toMatchObject({ code: 'definition-invalid' })
  })

  it.each([
    ['the model is not there', [], 'definition-not-found', /The model 'Clinic' version '1\.0\.0' .*'Clinic-ModelInfo'.*ELM/],
    ['it is there in another version', [modelOf(undefined, { version: '2.0.0' })], 'definition-not-found', /Clinic/],
    [
      'a model that it needs is not there',
      [modelOf(readings('<requiredModelInfo name="Base" version="3"/>'))],
      'definition-not-found',
      /The model 'Base' version '3'/,
    ],
    ['its Library has no model information', [modelOf(undefined, { content: [] })], 'definition-required', /model information/],
    ['its information is none', [modelOf('<broken')], 'definition-invalid', /./],
  ] as const)('is refused by name where %s', async (_, resources, code, message) => {
    await expect(valueOf('1', context(...resources))).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it('is refused where libraries use a model in two versions', async () => {
    const included = libraryWith('Part', `${HEAD.replace('Main', 'Part').replace('1.0.0', '2.0.0')}define Born: 1`)
    const head = HEAD.replace('include', "include Part version '1'\ninclude")
    await expect(valueOf('Part.Born', context(modelOf(), included), head)).rejects.toMatchObject({ code: 'not-supported' })
  })

  it('needs no model that only a comment names', async () => {
    expect(await valueOf('1', context(), "library Main version '1'\n/*\nusing QDM version '5.6'\n*/\n")).toBe('1')
  })

  it('is checked by $validate', async () => {
    const resource = main(`${HEAD}define X: Patient.birthDate`)
    const problems = async (ctx: OperationContext): Promise<readonly string[]> =>
      (await validate(ctx, { resource })).findings.filter(({ kind }) => kind === 'cql-error').map(({ text }) => text)
    expect(await problems(context(modelOf()))).toEqual([])
    expect(await problems(context())).toEqual([expect.stringContaining("The model 'Clinic'")])
  })
})
