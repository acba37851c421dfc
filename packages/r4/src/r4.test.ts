import { describe, expect, test } from 'vitest'
import { contentView } from 'fhir-ops/internal/content'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { r4, r4Definitions, r4SearchParameters, r4TypeModel } from './index.js'

const BASE = 'http://hl7.org/fhir'
const content = contentView([r4Definitions()])
const model = r4TypeModel()

describe('r4Definitions', () => {
  test.each([
    ['StructureDefinition', `${BASE}/StructureDefinition/Patient`, '4.0.1'],
    ['StructureDefinition', `${BASE}/StructureDefinition/vitalsigns`, '4.0.1'],
    ['ValueSet', `${BASE}/ValueSet/administrative-gender`, '4.0.1'],
    ['CodeSystem', `${BASE}/administrative-gender`, '4.0.1'],
    ['CodeSystem', 'http://terminology.hl7.org/CodeSystem/v3-ActCode', '2018-08-12'],
    ['CodeSystem', 'http://terminology.hl7.org/CodeSystem/v2-0203', '2.9'],
    ['SearchParameter', `${BASE}/SearchParameter/individual-birthdate`, '4.0.1'],
    ['CompartmentDefinition', `${BASE}/CompartmentDefinition/patient`, '4.0.1'],
    ['OperationDefinition', `${BASE}/OperationDefinition/ValueSet-expand`, '4.0.1'],
  ])('holds %s %s', async (type, url, version) => {
    const definition = await content.resolve(type, url)
    expect(definition).toMatchObject({ type, url, version, resource: { resourceType: type, url, version } })
    expect(definition?.key).toBe(`r4:${url}|${version}`)
  })

  test('finds by the other keys of definitions too', async () => {
    const [byValueSet] = await content.find('CodeSystem', 'value-set', `${BASE}/ValueSet/administrative-gender`)
    const byType = await content.find('StructureDefinition', 'type', 'Observation')
    expect(byValueSet?.url).toBe(`${BASE}/administrative-gender`)
    expect(byType.map(({ url }) => url)).toContain(`${BASE}/StructureDefinition/bp`)
  })

  test('knows nothing of what R4 does not define', async () => {
    for (const url of ['', 'constructor', `${BASE}/StructureDefinition/Bot`]) {
      expect(await content.find('StructureDefinition', 'url', url)).toEqual([])
    }
  })

  test('keeps what rules need and leaves documentation out', async () => {
    const definition = await content.resolve('StructureDefinition', `${BASE}/StructureDefinition/Patient`)
    const text = JSON.stringify(definition?.resource)
    expect(text).toContain('"expression":"name.exists() or telecom.exists() or address.exists() or organization.exists()"')
    expect(text).not.toMatch(/"(text|mapping|xpath|comment|differential)":[^"]*["[{]/)
  })
})

describe('r4TypeModel', () => {
  test.each([
    ['Patient', 'deceasedBoolean', 'deceased', 'boolean'],
    ['Patient', 'id', 'id', 'id'],
    ['Patient.contact', 'id', 'id', 'string'],
    ['Patient.contact', 'name', 'name', 'HumanName'],
    ['Patient.contact', 'modifierExtension', 'modifierExtension', 'Extension'],
    ['Questionnaire.item', 'item', 'item', 'Questionnaire.item'],
    ['Bundle.entry', 'link', 'link', 'Bundle.link'],
    ['Age', 'value', 'value', 'decimal'],
    ['Extension', 'valueBase64Binary', 'value', 'base64Binary'],
    ['Timing.repeat', 'boundsPeriod', 'bounds', 'Period'],
    ['code', 'extension', 'extension', 'Extension'],
  ])('property %s.%s is element %s of type %s', (type, name, element, target) => {
    expect(model.type(type)?.members.get(name)).toMatchObject({ name: element, type: target })
  })

  test.each(['deceased', 'deceasedString', 'value', 'constructor', '__proto__', 'toString'])('Patient has no property %s', (name) => {
    expect(model.type('Patient')?.members.get(name)).toBeUndefined()
  })

  test.each(['constructor', '__proto__', 'Bot', ''])('%j is not a type', (name) => {
    expect(model.type(name)).toBeUndefined()
  })

  test.each([
    ['Age', 'Quantity', 'Quantity'],
    ['code', 'string', 'String'],
    ['positiveInt', 'integer', 'Integer'],
    ['instant', 'Element', 'DateTime'],
    ['Patient', 'DomainResource', undefined],
    ['Patient.contact', 'BackboneElement', undefined],
    ['Timing.repeat', 'Element', undefined],
  ])('%s is based on %s and converts to %s', (name, base, system) => {
    const type = model.type(name)
    expect([type?.base, type?.system]).toEqual([base, system])
  })

  test('lists each type of a choice', () => {
    expect(
      model
        .type('Patient')
        ?.elements.get('deceased')
        ?.map(({ jsonName }) => jsonName),
    ).toEqual(['deceasedBoolean', 'deceasedDateTime'])
  })
})

test('r4SearchParameters gives every parameter as published', () => {
  const parameters = r4SearchParameters()
  expect(parameters).toHaveLength(1400)
  expect(parameters.find(({ url }) => url.endsWith('/clinical-patient'))).toMatchObject({
    code: 'patient',
    type: 'reference',
    target: ['Patient', 'Group'],
  })
})

test.each([
  ['that was not called', r4, 'createContext: r4 was not called. Use { ...r4() }.'],
  ['that was not spread', { release: r4() }, 'Its members are options: spread it, { ...release }.'],
])('a release %s is refused by name', (_, options, message) => {
  const given = Object.assign({ storage: memoryStorage() }, options)
  expect(() => createContext(given)).toThrow(message)
})
