import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const CODES = 'http://hl7.org/fhir/ValueSet/identifier-use'
const bySystem = { slicing: { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' } }
const element = (id: string, members: JsonObject = {}): JsonObject => {
  const sliceName = /:([^.]+)$/.exec(id)?.[1]
  return { id, path: id.replaceAll(/:[^.]+/g, ''), ...(sliceName !== undefined && { sliceName }), ...members }
}
const base = profileOn('Patient', 'http://a.org/base', [
  element('Patient.identifier', { ...bySystem, max: '5' }),
  element('Patient.identifier:a', { max: '2' }),
  element('Patient.identifier:a.use', { binding: { strength: 'required', valueSet: CODES } }),
  element('Patient.identifier:a.type', { mustSupport: true, patternCodeableConcept: { coding: [{ code: 'x' }] } }),
  element('Patient.identifier:a.system', { min: 1, fixedUri: 'http://a.org/a' }),
])

const DEFINITION = 'StructureDefinition'
const inherited = ['restriction', 'value', 'snapshot', 'binding'].join('|')
const problemsOf = (type: string, elements: readonly JsonObject[], members: JsonObject = {}): Promise<readonly string[]> =>
  findingsOf({ ...profileOn(type, 'http://a.org/derived', elements), ...members }, [base], new RegExp(`^definition-(?:${inherited})$`))

describe('a profile on a profile with slices', () => {
  test.each<[string, readonly JsonObject[], readonly string[]]>([
    [
      'adds a slice that is not like the others',
      [
        element('Patient.identifier:c', { max: '1' }),
        element('Patient.identifier:c.use', { min: 0, binding: { strength: 'preferred', valueSet: CODES } }),
        element('Patient.identifier:c.type', { mustSupport: false, patternCodeableConcept: { coding: [{ code: 'y' }] } }),
        element('Patient.identifier:c.system', { min: 0, fixedUri: 'http://a.org/c' }),
      ],
      // The binding of the type is required, too.
      [`error definition-restriction ${DEFINITION}`],
    ],
    ['says something about all that is sliced', [element('Patient.identifier.system', { fixedUri: 'http://a.org/c' })], []],
    [
      'keeps the value of a slice',
      [element('Patient.identifier:a.system', { fixedUri: 'http://a.org/c' })],
      ['error definition-value Patient.identifier.system'],
    ],
    [
      'keeps the value of a slice in a slice of that',
      [element('Patient.identifier:a/b', { max: '1' }), element('Patient.identifier:a/b.system', { fixedUri: 'http://a.org/c' })],
      ['error definition-value Patient.identifier.system'],
    ],
    ['allows no more of a slice', [element('Patient.identifier:a', { max: '3' })], [`error definition-restriction ${DEFINITION}`]],
    [
      'requires no more of a slice than it may have',
      [element('Patient.identifier:a', { min: 3 })],
      [`error definition-restriction ${DEFINITION}`],
    ],
    ['allows less of a slice', [element('Patient.identifier:a', { max: '1' })], []],
    [
      'allows no more of a new slice than of all',
      [element('Patient.identifier:c', { max: '6' })],
      [`error definition-restriction ${DEFINITION}`],
    ],
    [
      'allows no less of what a slice has',
      [element('Patient.identifier:a.system', { min: 0 })],
      [`error definition-restriction ${DEFINITION}`],
    ],
    [
      'allows no more of what a slice has',
      [element('Patient.identifier:a.type', { max: '2' })],
      [`error definition-restriction ${DEFINITION}`],
    ],
  ])('%s', async (_, elements, expected) => {
    expect(await problemsOf('Patient', elements, { baseDefinition: 'http://a.org/base' })).toEqual(expected)
  })
})

describe('a profile', () => {
  const type = (...codes: readonly string[]): JsonObject => ({ type: codes.map((code) => ({ code })) })
  const byType = { slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' } }
  const cannot = [`error definition-snapshot ${DEFINITION}`]
  test.each<[string, string, JsonObject, readonly string[]]>([
    ['chooses among the types of an element', 'Observation', element('Observation.value[x]', type('string', 'Quantity')), []],
    ['has no types that derive from those', 'Observation', element('Observation.value[x]', type('Age')), cannot],
    ['has no primitive types that derive from those', 'Patient', element('Patient.name.family', type('code')), cannot],
    ['names the type of a resource', 'Bundle', element('Bundle.entry.resource', type('Patient')), []],
  ])('%s', async (_, of, constrained, expected) => {
    expect(await problemsOf(of, [constrained])).toEqual(expected)
  })

  test('slices by types that there are', async () => {
    const slices = (name: string, code: string): readonly JsonObject[] => [
      element('Observation.value[x]', byType),
      element(`Observation.value[x]:${name}`, type(code)),
    ]
    expect(await problemsOf('Observation', slices('valueQuantity', 'Quantity'))).toEqual([])
    expect(await problemsOf('Observation', slices('valueAge', 'Age'))).toEqual(cannot)
  })

  test('requires one type of a choice, and no others beside it', async () => {
    const short = (name: string, members: JsonObject): JsonObject => element(`Observation.${name}`, members)
    expect(await problemsOf('Observation', [short('valueQuantity', { min: 0 }), short('valueString', { min: 0 })])).toEqual([])
    expect(await problemsOf('Observation', [short('valueQuantity', { min: 1 }), short('valueString', { max: '0' })])).toEqual([])
    expect(await problemsOf('Observation', [short('valueQuantity', { min: 1 }), short('valueString', { min: 0 })])).toEqual(cannot)
  })
})

describe('a resource of a profile on a profile with slices', () => {
  const slice = (name: string): readonly JsonObject[] => [
    element(`Patient.identifier:${name}`),
    element(`Patient.identifier:${name}.system`, { min: 1, fixedUri: `http://a.org/${name}` }),
  ]
  const general = profileOn('Patient', 'http://a.org/general', [element('Patient.identifier', bySystem), ...slice('a')])
  const problems = (elements: readonly JsonObject[], ...systems: readonly string[]): Promise<readonly string[]> => {
    const derived = { ...profileOn('Patient', 'http://a.org/special', elements), baseDefinition: 'http://a.org/general' }
    const identifier = systems.map((system) => ({ system: `http://a.org/${system}`, value: '1' }))
    const resource = { resourceType: 'Patient', meta: { profile: ['http://a.org/special'] }, identifier }
    return findingsOf(resource, [general, derived], /^slice-(?:closed|several)$/)
  }

  test('is in one of the slices where the profile closes the slicing', async () => {
    const closed = element('Patient.identifier', { slicing: { ...bySystem.slicing, rules: 'closed' } })
    expect(await problems([closed], 'a')).toEqual([])
    expect(await problems([closed], 'a', 'x')).toEqual(['error slice-closed Patient.identifier[1]'])
    expect(await problems([closed, ...slice('c')], 'a', 'c', 'x')).toEqual(['error slice-closed Patient.identifier[2]'])
  })

  test('is in one slice of both profiles, or in one and a slice of that', async () => {
    const use = element('Patient.identifier:c.use', { min: 0 })
    const same = [element('Patient.identifier:c'), use, element('Patient.identifier:c.system', { fixedUri: 'http://a.org/a' })]
    expect(await problems(same, 'a')).toEqual(['error slice-several Patient.identifier[0]'])
    expect(await problems([element('Patient.identifier:a', { max: '1' })], 'a')).toEqual([])
    expect(
      await problems([element('Patient.identifier:a/b', { max: '1' }), element('Patient.identifier:a/b.use', { min: 0 })], 'a'),
    ).toEqual([])
  })
})
