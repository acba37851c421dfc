import { expect, test } from 'vitest'
import { otherRelease, releaseElements } from './index.js'

const TYPES = 'http://hl7.org/fhir/StructureDefinition/'
const definition = (type: string, element: readonly object[], more: object = {}): object => ({
  resourceType: 'StructureDefinition',
  url: TYPES + type,
  kind: 'resource',
  derivation: 'specialization',
  type,
  snapshot: { element: [{ path: type }, { path: `${type}.id`, type: [{ code: 'string' }] }, ...element] },
  ...more,
})
const coded = (valueSet: string): object => ({ strength: 'required', valueSet: `${valueSet}|9.0.0` })
const CODES = 'http://codes.test/CodeSystem/tree'
const vs = (name: string, compose: object): object => ({ resourceType: 'ValueSet', url: `http://codes.test/ValueSet/${name}`, compose })
const definitions = [
  definition('Boat', [
    { path: 'Boat.crew', min: 1, max: '*', type: [{ code: 'BackboneElement' }], isModifier: true },
    { path: 'Boat.crew.id', type: [{ code: 'string' }] },
    { path: 'Boat.crew.duty', min: 1, max: '1', type: [{ code: 'code' }], binding: coded('http://codes.test/ValueSet/all') },
    { path: 'Boat.crew.under', max: '*', contentReference: '#Boat.crew' },
    {
      path: 'Boat.owner[x]',
      max: '1',
      type: [{ code: 'Reference', targetProfile: [`${TYPES}Patient`, `${TYPES}Group`] }, { code: 'string' }],
    },
    { path: 'Boat.flag', type: [{ code: 'code' }], binding: coded('http://codes.test/ValueSet/filtered') },
    {
      path: 'Boat.rank',
      type: [{ code: 'code' }],
      binding: { strength: 'required', valueSetReference: { reference: 'http://codes.test/ValueSet/listed' } },
    },
    {
      path: 'Boat.line',
      type: [
        { code: 'Reference', targetProfile: `${TYPES}Patient` },
        { code: 'Reference', targetProfile: `${TYPES}Device` },
      ],
    },
  ]),
  definition('Boat', [{ path: 'Boat.profiled' }], { derivation: 'constraint' }),
  definition('Logical', [{ path: 'Logical.x' }], { kind: 'logical' }),
  vs('all', { include: [{ system: CODES }] }),
  vs('listed', { include: [{ system: CODES, concept: [{ code: 'b' }] }] }),
  vs('filtered', { include: [{ system: CODES, filter: [{ property: 'x', op: '=', value: 'y' }] }] }),
  { resourceType: 'CodeSystem', url: CODES, content: 'complete', concept: [{ code: 'a', concept: [{ code: 'b' }] }] },
]
const table = releaseElements(definitions, { release: '9.0', source: 'boats#9.0.0' })

test('a table has the elements of types: how often, of what types and codes, and what they refer to', () => {
  expect(table).toEqual({
    format: 'fhir-ops-release-elements 1',
    release: '9.0',
    source: 'boats#9.0.0',
    elements: {
      'Boat.crew': { min: 1, max: '*', modifier: true },
      'Boat.crew.duty': { min: 1, types: ['code'], codes: 'http://codes.test/ValueSet/all' },
      'Boat.crew.under': { max: '*', ref: 'Boat.crew' },
      'Boat.owner': { types: ['Reference(Patient|Group)', 'string'] },
      'Boat.flag': { types: ['code'] },
      'Boat.rank': { types: ['code'], codes: 'http://codes.test/ValueSet/listed' },
      'Boat.line': { types: ['Reference(Patient|Device)'] },
    },
    valueSets: { 'http://codes.test/ValueSet/all': ['a', 'b'], 'http://codes.test/ValueSet/listed': ['b'] },
  })
})

test('a release is read from its table, when it is asked for something', () => {
  let reads = 0
  const boats = otherRelease('9.0', () => {
    reads++
    return JSON.parse(JSON.stringify(table))
  })
  expect(reads).toBe(0)
  expect(boats.element('Boat.owner[x]')).toEqual({ types: ['Reference(Patient|Group)', 'string'] })
  expect(boats.element('constructor')).toBeUndefined()
  expect(boats.within('Boat.crew')).toEqual(['duty', 'under'])
  expect(boats.within('Boat.flag')).toEqual([])
  expect(boats.codes('http://codes.test/ValueSet/all')).toEqual(['a', 'b'])
  expect(reads).toBe(1)
})

test.each<[string, unknown, string]>([
  ['something else', { resourceType: 'Patient' }, 'not in the format "fhir-ops-release-elements 1"'],
  ['a later format', { ...table, format: 'fhir-ops-release-elements 2' }, 'not in the format'],
  ['nothing', undefined, 'not in the format'],
  ['another release', { ...table, release: '8.0' }, 'those of FHIR 8.0, not of 9.0'],
])('%s is refused', (_, read, message) => {
  expect(() => otherRelease('9.0', () => read).element('Boat.crew')).toThrow(message)
})

test('definitions without a type are refused', () => {
  expect(() => releaseElements([vs('all', {})], { release: '9.0', source: 'none' })).toThrow(TypeError)
})
