import { otherRelease, releaseElements } from 'fhir-ops/cross-version'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { describe, expect, test } from 'vitest'
import { crossVersion } from './index.js'

const context = createContext({ storage: memoryStorage(), ...r4(), crossVersion: crossVersion() })
const url = (release: string, path: string): string => `http://hl7.org/fhir/${release}/StructureDefinition/extension-${path}`

async function said(resource: object, ctx: OperationContext = context): Promise<readonly string[]> {
  const { findings } = await validate(ctx, { resource })
  const ours = findings.filter(({ kind }) => /^(extension-|too-|type-not|code-not-in|reference$|invariant$)/.test(kind))
  return ours.filter(({ text }) => !text.startsWith('dom-6')).map(({ severity, kind, expression }) => `${severity} ${kind} ${expression}`)
}

const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } }
const patient = { resourceType: 'Patient' }
const document = (extension: object): object => ({
  resourceType: 'DocumentReference',
  status: 'current',
  content: [{ attachment: { contentType: 'text/plain', url: 'http://x.test/a', extension: [extension] } }],
})
const request = {
  resourceType: 'MedicationRequest',
  status: 'active',
  intent: 'order',
  subject: { reference: 'Patient/1' },
  medicationCodeableConcept: { text: 'x' },
}
const trigger = (...extension: object[]): object => ({
  ...observation,
  extension: [{ url: url('5.0', 'Observation.triggeredBy'), extension }],
})
const about = { url: 'observation', valueReference: { reference: 'Observation/1' } }
const reflex = { url: 'type', valueCode: 'reflex' }
const animal = (...extension: object[]): object => ({ ...patient, modifierExtension: [{ url: url('3.0', 'Patient.animal'), extension }] })
const species = { url: 'species', valueCodeableConcept: { text: 'cat' } }
const structure = { url: url('5.0', 'Observation.bodyStructure'), valueReference: { reference: 'BodyStructure/1' } }
const at = (place: string): string => `Observation.extension[0]${place}`

describe('an extension with an element of another release', () => {
  test.each<readonly [what: string, resource: object, findings: readonly string[]]>([
    ['a simple one', { ...observation, extension: [structure] }, []],
    ['with a part for each element inside', trigger(about, reflex), []],
    ['without a part that is needed', trigger(about), [`error too-few ${at('')}`]],
    ['with a part twice that is there once', trigger(about, reflex, reflex), [`error too-many ${at('')}`]],
    [
      'with a part that the element has not',
      trigger(about, reflex, { url: 'other', valueCode: 'x' }),
      [`error extension-url ${at('.extension[2]')}`],
    ],
    [
      'with a code that the release has not',
      trigger(about, { url: 'type', valueCode: 'no' }),
      [`error code-not-in-value-set ${at('.extension[1].value.ofType(code)')}`],
    ],
    [
      'with a part of another type',
      trigger(about, { url: 'type', valueString: 'reflex' }),
      [`error type-not-allowed ${at('.extension[1].value.ofType(string)')}`],
    ],
    [
      'that refers to another type',
      trigger({ ...about, valueReference: { reference: 'Patient/1' } }, reflex),
      [`error reference ${at('.extension[0].value.ofType(Reference)')}`],
    ],
    [
      'with a value instead of its parts',
      { ...observation, extension: [{ url: url('5.0', 'Observation.triggeredBy'), valueString: 'x' }] },
      [`error too-few ${at('')}`, `error too-few ${at('')}`, `error too-many ${at('')}`],
    ],
    ['of an element within', { ...observation, extension: [{ url: url('5.0', 'Observation.triggeredBy.type'), valueCode: 'reflex' }] }, []],
    [
      'that the release has once, twice',
      { ...observation, extension: [structure, structure] },
      ['warning extension-release Observation.extension[1]'],
    ],
    ['on another element', { ...patient, extension: [structure] }, ['warning extension-context Patient']],
    [
      'that the release has not',
      { ...observation, extension: [{ url: url('5.0', 'Observation.nonsense'), valueString: 'x' }] },
      [`error extension-release ${at('')}`],
    ],
    [
      'of a type that the release has not',
      { ...observation, extension: [{ url: url('5.0', 'Media.content'), valueString: 'x' }] },
      [`error extension-release ${at('')}`],
    ],
    [
      'that R4 has too',
      { ...patient, extension: [{ url: url('5.0', 'Patient.birthDate'), valueDate: '2020-01-01' }] },
      ['warning extension-release Patient.extension[0]'],
    ],
    [
      'of an earlier release that R4 has too',
      { ...patient, extension: [{ url: url('3.0', 'Patient.birthDate'), valueDate: '2020-01-01' }] },
      ['error extension-release Patient.extension[0]'],
    ],
    [
      'with codes that R4 has not',
      {
        resourceType: 'Encounter',
        status: 'finished',
        class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
        modifierExtension: [{ url: url('5.0', 'Encounter.status'), valueCode: 'completed' }],
      },
      [],
    ],
    [
      'of another type of a choice',
      { ...observation, extension: [{ url: url('3.0', 'Observation.value'), valueAttachment: { title: 'x' } }] },
      [],
    ],
    [
      'of a type that the choice has not',
      { ...observation, extension: [{ url: url('3.0', 'Observation.value'), valueAddress: { city: 'x' } }] },
      [`error type-not-allowed ${at('')}`],
    ],
    ['that changes the meaning', animal(species), []],
    [
      'that changes the meaning, without what it needs',
      animal({ url: 'breed', valueCodeableConcept: { text: 'x' } }),
      ['error too-few Patient.modifierExtension[0]'],
    ],
    [
      'that changes the meaning, among those that do not',
      { ...patient, extension: [{ url: url('3.0', 'Patient.animal'), extension: [species] }] },
      ['error extension-modifier Patient.extension[0]'],
    ],
    [
      'that does not change the meaning, among those that do',
      { ...patient, modifierExtension: [{ url: url('3.0', 'Patient.animal.species'), valueCodeableConcept: { text: 'x' } }] },
      ['error extension-modifier Patient.modifierExtension[0]'],
    ],
    [
      'of a type that R4 has not, by its parts',
      {
        ...request,
        extension: [{ url: url('5.0', 'MedicationRequest.reason'), extension: [{ url: 'concept', valueCodeableConcept: { text: 'x' } }] }],
      },
      [],
    ],
    [
      'of a type that R4 has not, by a part of another type',
      { ...request, extension: [{ url: url('5.0', 'MedicationRequest.reason'), extension: [{ url: 'concept', valueString: 'x' }] }] },
      ['error type-not-allowed MedicationRequest.extension[0].extension[0].value.ofType(string)'],
    ],
    [
      'for a concept or a reference, as one of them',
      { ...request, extension: [{ url: url('5.0', 'MedicationRequest.reason'), valueCodeableConcept: { text: 'x' } }] },
      [],
    ],
    ...['value', 'value[x]'].map((name): [string, object, readonly string[]] => [
      `with a choice as a part that is called ${name}`,
      {
        resourceType: 'ValueSet',
        status: 'draft',
        expansion: {
          timestamp: '2020-01-01',
          contains: [
            {
              system: 'http://a.org',
              code: 'a',
              extension: [
                {
                  url: url('5.0', 'ValueSet.expansion.contains.property'),
                  extension: [
                    { url: 'code', valueCode: 'weight' },
                    { url: name, valueDecimal: 1 },
                  ],
                },
              ],
            },
          ],
        },
      },
      [],
    ]),
    ['with a number of 64 bits', document({ url: url('5.0', 'Attachment.size'), valueDecimal: 5_000_000_000 }), []],
    [
      'of R4B',
      { ...patient, extension: [{ url: url('4.3', 'NutritionProduct.nonsense'), valueCode: 'x' }] },
      ['error extension-release Patient.extension[0]'],
    ],
    ['of DSTU2', { ...patient, extension: [{ url: url('1.0', 'Patient.animal.species'), valueCodeableConcept: { text: 'x' } }] }, []],
    [
      'of DSTU2 with another type',
      { ...patient, extension: [{ url: url('1.0', 'Patient.animal.species'), valueString: 'x' }] },
      ['error type-not-allowed Patient.extension[0]'],
    ],
    [
      'with parts in parts of its own kind',
      {
        resourceType: 'Questionnaire',
        status: 'draft',
        extension: [
          {
            url: url('5.0', 'Questionnaire.item'),
            extension: [
              { url: 'linkId', valueString: '1' },
              { url: 'type', valueCode: 'group' },
              { url: 'item', extension: [{ url: 'linkId', valueString: '2' }] },
            ],
          },
        ],
      },
      [],
    ],
    ['of a release whose elements are not known', { ...patient, extension: [{ url: url('1.4', 'Patient.animal'), valueString: 'x' }] }, []],
  ])('%s', async (_, resource, findings) => {
    expect(await said(resource)).toEqual(findings)
  })

  test('is known by its name only without the releases, and only for those that were asked for', async () => {
    const none = createContext({ storage: memoryStorage(), ...r4() })
    const r5 = createContext({ storage: memoryStorage(), ...r4(), crossVersion: crossVersion({ releases: ['5.0'] }) })
    expect(await said(trigger(about), none)).toEqual([])
    expect(await said(trigger(about), r5)).toHaveLength(1)
    expect(await said(animal({ url: 'breed', valueCodeableConcept: { text: 'x' } }), r5)).toEqual([])
  })

  test('of a release of your own is made of its definitions', async () => {
    const type = {
      resourceType: 'StructureDefinition',
      kind: 'resource',
      type: 'Patient',
      snapshot: { element: [{ path: 'Patient' }, { path: 'Patient.shoe', max: '1', type: [{ code: 'positiveInt' }] }] },
    }
    const table = releaseElements([type], { release: '6.0', source: 'shoes#1' })
    const ctx = createContext({ storage: memoryStorage(), ...r4(), crossVersion: [otherRelease('6.0', () => table)] })
    expect(await said({ ...patient, extension: [{ url: url('6.0', 'Patient.shoe'), valuePositiveInt: 42 }] }, ctx)).toEqual([])
    expect(await said({ ...patient, extension: [{ url: url('6.0', 'Patient.shoe'), valueString: '42' }] }, ctx)).toHaveLength(1)
    expect(await said({ ...patient, extension: [{ url: url('6.0', 'Patient.hat'), valueString: '42' }] }, ctx)).toHaveLength(1)
  })

  test('has value sets of its own, and those of R4 stay as they are', async () => {
    const own = await context.content.resolve('ValueSet', 'http://hl7.org/fhir/5.0/ValueSet/encounter-status')
    expect(JSON.stringify(own?.resource)).toContain('http://hl7.org/fhir/5.0/CodeSystem/encounter-status')
    expect((await context.content.resolve('ValueSet', 'http://hl7.org/fhir/ValueSet/encounter-status'))?.version).toBe('4.0.1')
  })
})

test('every element of every release gives a definition that can be compiled', async () => {
  for (const other of crossVersion()) {
    for (const path of ['Patient', 'Observation', 'Encounter', 'Questionnaire', 'Claim'].flatMap((type) =>
      other.within(type).map((name) => `${type}.${name}`),
    )) {
      const found = await context.content.resolve('StructureDefinition', url(other.release, path))
      expect(found?.resource, path).toMatchObject({ type: 'Extension', derivation: 'constraint' })
    }
  }
})

test('wrong options are refused by name', () => {
  expect(() => crossVersion(JSON.parse('{"releases": ["5"]}'))).toThrow('releases')
  expect(() => crossVersion(JSON.parse('{"release": "5.0"}'))).toThrow('release')
  expect(() => createContext({ storage: memoryStorage(), crossVersion: crossVersion() })).toThrow('crossVersion needs types')
  const [wrong] = crossVersion({ releases: ['5.0'], tables: { '5.0': { format: 'x' } } })
  expect(() => wrong?.element('Patient.name')).toThrow(TypeError)
})
