import { describe, expect, it } from 'vitest'
import { codeSystem, LIVING } from '../../../test/terminology-content.js'
import type { JsonObject } from '../../json/index.js'
import { members } from '../../bits/index.js'
import type { CodeSystemProvider } from '../../code-system/index.js'
import { compileRegex } from '../../regex/index.js'
import { makeProvider } from '../code-system/resource-provider.js'
import { finished } from '../../work/index.js'
import { addedBy, supplemented } from '../code-system/system-family.js'
import { conceptsFor } from './operators.js'

function providerOf(resource: JsonObject): CodeSystemProvider {
  return finished(makeProvider(resource))
}

const living = providerOf(LIVING)
const folded = providerOf(codeSystem('folded', [{ code: 'Ab' }, { code: 'cd' }], { caseSensitive: false }))

const measured = providerOf(
  codeSystem(
    'measured',
    [
      {
        code: 'a',
        property: [
          { code: 'weight', valueDecimal: 4.5 },
          { code: 'born', valueDateTime: '2020-01-01' },
          { code: 'legs', valueInteger: 4 },
        ],
      },
      {
        code: 'b',
        property: [
          { code: 'weight', valueDecimal: 4.5 },
          { code: 'born', valueDateTime: '2020' },
        ],
      },
      {
        code: 'c',
        property: [
          { code: 'tame', valueBoolean: true },
          { code: 'size', valueString: '4.5' },
        ],
      },
    ],
    {
      property: [
        { code: 'weight', type: 'decimal' },
        { code: 'born', type: 'dateTime' },
        { code: 'legs', type: 'integer' },
        { code: 'tame', type: 'boolean' },
        { code: 'size', type: 'string' },
      ],
    },
  ),
)

function codes(provider: CodeSystemProvider, filter: { property: string; op: string; value: string }): string {
  const set = finished(conceptsFor(provider, { ...filter, compile: compileRegex }, 'vs'))
  const listed = [...members(finished(set.all()))]
  const tested = [...members(provider.index!.all())].filter((concept) => set.has(concept))
  expect(listed).toEqual(tested)
  return listed.map((concept) => provider.code(concept)).join(' ')
}

it('by parent or child goes by nesting, also where these are declared, under whatever code', () => {
  const property = [
    { code: 'parent', type: 'code' },
    { code: 'sub', uri: 'http://hl7.org/fhir/concept-properties#child', type: 'code' },
  ]
  const kin = [
    { code: 'a', concept: [{ code: 'b' }] },
    { code: 'c', property: [{ code: 'parent', valueCode: 'a' }] },
  ]
  const declared = providerOf(codeSystem('declared', kin, { property }))
  expect(codes(declared, { property: 'parent', op: '=', value: 'a' })).toBe('b c')
  expect(codes(declared, { property: 'sub', op: 'in', value: 'b' })).toBe('a')
})

it('by parent or child names a code, which is compared by the rule of the code system', () => {
  const kin = [{ code: 'Ab', concept: [{ code: 'Cd' }, { code: 'ef' }] }]
  const cased = providerOf(codeSystem('cased', kin))
  const caseless = providerOf(codeSystem('caseless', kin, { caseSensitive: false }))
  for (const op of ['=', 'in']) {
    expect(codes(caseless, { property: 'parent', op, value: 'aB' })).toBe('Cd ef')
    expect(codes(caseless, { property: 'child', op, value: 'cD' })).toBe('Ab')
    expect(codes(cased, { property: 'parent', op, value: 'aB' })).toBe('')
  }
  expect(codes(caseless, { property: 'parent', op: 'not-in', value: 'AB,zz' })).toBe('Ab')
})

it.each([
  ['inactive = true', 'lion'],
  ['inactive = false', 'animal cat dog duck plant'],
  ['inactive exists true', 'animal cat lion dog duck plant'],
  ['status = retired', 'lion'],
  ['notSelectable = true', 'animal'],
  ['deprecationDate exists true', ''],
  ['deprecationDate exists false', 'animal cat lion dog duck plant'],
  ['itemWeight = 1', ''],
])('%s: properties that are defined for every system need not be declared, or stated by any concept', (text, expected) => {
  const [property = '', op = '', value = ''] = text.split(' ')
  expect(codes(living, { property, op, value })).toBe(expected)
})

it.each([
  ['notSelectable', '=', 'true', 'b'],
  ['notSelectable', 'exists', 'false', 'a'],
  ['status', 'in', 'retired', 'b'],
  ['inactive', 'exists', 'true', 'a'],
])('by %s %s %s finds the property that a code system declares under another code', (property, op, value, expected) => {
  const declared = ['notSelectable', 'status', 'inactive'].map((name) => ({
    code: `own-${name}`,
    uri: `http://hl7.org/fhir/concept-properties#${name}`,
  }))
  const concept = [
    { code: 'a', property: [{ code: 'own-inactive', valueBoolean: false }] },
    {
      code: 'b',
      property: [
        { code: 'own-notSelectable', valueBoolean: true },
        { code: 'own-status', valueCode: 'retired' },
      ],
    },
  ]
  expect(codes(providerOf(codeSystem('renamed', concept, { property: declared })), { property, op, value })).toBe(expected)
})

it.each([
  ['=', 'p1', 'a b c'],
  ['=', 'http://x|p1', 'a'],
  ['=', '|p1', 'c'],
  ['in', 'http://y|p1, |p1', 'b c'],
  ['not-in', 'http://x|p1', 'b c d'],
  ['regex', 'http://.*\\|p1', 'a b'],
  ['exists', 'true', 'a b c'],
])('%s %s compares a Coding by its code, or by system and code', (op, value, expected) => {
  const part = (code: string, system?: string): JsonObject => ({
    code: 'part',
    valueCoding: { ...(system !== undefined && { system }), code },
  })
  const concept = [
    { code: 'a', property: [part('p1', 'http://x')] },
    { code: 'b', property: [part('p1', 'http://y')] },
    { code: 'c', property: [part('p1')] },
    { code: 'd' },
  ]
  const coded = providerOf(codeSystem('coded', concept, { property: [{ code: 'part', type: 'Coding' }] }))
  expect(codes(coded, { property: 'part', op, value })).toBe(expected)
})

it('by a defined property asks for what concepts state where the system declares it', () => {
  const concept = [{ code: 'a', property: [{ code: 'inactive', valueBoolean: false }] }, { code: 'b' }]
  const declared = providerOf(codeSystem('declared', concept, { property: [{ code: 'inactive', type: 'boolean' }] }))
  expect(codes(declared, { property: 'inactive', op: 'exists', value: 'true' })).toBe('a')
})

it.each([
  ['inactive', { code: 'inactive', type: 'boolean' }],
  ['inactive', { code: 'inactive', type: 'code', uri: 'http://hl7.org/fhir/concept-properties#inactive' }],
  ['gone', { code: 'gone', type: 'boolean', uri: 'http://hl7.org/fhir/concept-properties#inactive' }],
])('by %s, declared as %o, takes concepts that do not state it as active', (property, declared) => {
  const concept = [
    { code: 'a', property: [{ code: declared.code, valueBoolean: false }] },
    { code: 'b' },
    { code: 'c', property: [{ code: declared.code, valueBoolean: true }] },
    { code: 'd', property: [{ code: 'status', valueCode: 'retired' }] },
  ]
  const provider = providerOf(codeSystem('declared', concept, { property: [declared] }))
  expect(codes(provider, { property, op: '=', value: 'false' })).toBe('a b')
  expect(codes(provider, { property, op: '=', value: 'true' })).toBe('c d')
  expect(codes(provider, { property, op: 'not-in', value: 'true' })).toBe('a b')
  expect(codes(provider, { property, op: 'regex', value: 'f.*' })).toBe('a b')
  expect(codes(provider, { property, op: '=', value: 'FALSE' })).toBe('')
  expect(codes(provider, { property, op: 'exists', value: 'true' })).toBe('a c')
})

it('by inactive compares the texts of a property of this code that is not the boolean', () => {
  const concept = [{ code: 'a', property: [{ code: 'inactive', valueString: 'since 2020' }] }, { code: 'b' }]
  const own = providerOf(codeSystem('own', concept, { property: [{ code: 'inactive', type: 'string' }] }))
  expect(codes(own, { property: 'inactive', op: '=', value: 'since 2020' })).toBe('a')
  expect(codes(own, { property: 'inactive', op: '=', value: 'false' })).toBe('')
})

describe('a filter', () => {
  it.each([
    ['concept is-a cat', 'cat lion'],
    ['code is-a animal', 'animal cat lion dog duck'],
    ['concept is-a nothing', ''],
    ['concept descendent-of animal', 'cat lion dog duck'],
    ['concept is-not-a animal', 'plant'],
    ['concept is-not-a nothing', 'animal cat lion dog duck plant'],
    ['concept generalizes lion', 'animal cat lion'],
    ['concept child-of animal', 'cat dog duck'],
    ['concept descendent-leaf animal', 'lion dog duck'],
    ['concept = dog', 'dog'],
    ['concept = constructor', ''],
    ['code in dog, cat,,x', 'cat dog'],
    ['code not-in dog,cat', 'animal lion duck plant'],
    ['code regex d.*', 'dog duck'],
    ['code regex o', ''],
    ['legs = 4', 'cat lion dog'],
    ['legs = 04', 'cat lion dog'],
    ['legs = 5', ''],
    ['legs in 2,3', 'duck'],
    ['legs not-in 4', 'animal duck plant'],
    ['legs exists true', 'cat lion dog duck'],
    ['legs exists false', 'animal plant'],
    ['legs regex [0-3]', 'duck'],
    ['display regex .*o.*', 'lion dog'],
    ['parent = animal', 'cat dog duck'],
    ['child exists true', 'animal cat'],
    ['designation = Katze', 'cat'],
    ['definition exists true', 'cat'],
    ['notSelectable = true', 'animal'],
    ['notSelectable = TRUE', ''],
  ])('%s selects %s', (text, expected) => {
    const [property = '', op = '', ...value] = text.split(' ')
    expect(codes(living, { property, op, value: value.join(' ') })).toBe(expected)
  })

  it('compares codes by the rule of the code system', () => {
    expect(codes(folded, { property: 'code', op: '=', value: 'AB' })).toBe('Ab')
    expect(codes(folded, { property: 'concept', op: 'in', value: 'ab,CD' })).toBe('Ab cd')
  })

  it.each([
    { property: 'concept', op: 'near', value: 'x' },
    { property: 'concept', op: 'toString', value: 'x' },
    { property: 'legs', op: 'is-a', value: 'x' },
    { property: 'wings', op: '=', value: '2' },
    { property: '__proto__', op: '=', value: '2' },
    { property: 'legs', op: 'exists', value: 'maybe' },
  ])('that is not understood is refused: $property $op $value', (filter) => {
    expect(() => finished(conceptsFor(living, filter, 'vs'))).toThrow(expect.objectContaining({ code: 'not-supported' }))
  })

  it.each([
    ['legs = four', "must be an integer, not 'four'"],
    ['legs in 2, two', "must be an integer, not 'two'"],
    ['legs not-in 4.0', "must be an integer, not '4.0'"],
    ['weight = heavy', "must be a decimal, not 'heavy'"],
    ['born in 2020-01-01,yesterday', "must be a date or dateTime, not 'yesterday'"],
  ])('by a value that is not of the type of the property is refused: %s', (text, problem) => {
    const [property = '', op = '', ...value] = text.split(' ')
    expect(() => codes(measured, { property, op, value: value.join(' ') })).toThrow(
      expect.objectContaining({ code: 'definition-invalid', message: `The value for a filter based on property '${property}' ${problem}` }),
    )
  })

  it.each([
    ['weight = 4.50', 'a b'],
    ['weight in 45e-1, 7', 'a b'],
    ['weight not-in 4.5', 'c'],
    ['weight regex 4\\..*', 'a b'],
    ['born = 2020', 'b'],
    ['tame = yes', ''],
    ['size = 4.50', ''],
    ['size = 4.5', 'c'],
  ])('compares numbers by their value, other values by their text: %s selects %s', (text, expected) => {
    const [property = '', op = '', ...value] = text.split(' ')
    expect(codes(measured, { property, op, value: value.join(' ') })).toBe(expected)
  })

  it('by a property of a supplement compares as the supplement declares it', () => {
    const concept = [{ code: 'cat', property: [{ code: 'lives', valueDecimal: 9 }] }]
    const resource = { property: [{ code: 'lives', type: 'decimal' }], concept }
    const supplement = { canonical: 'urn:s', resource }
    const nine = supplemented(living, [{ ...supplement, added: finished(addedBy(living, supplement)) }])
    expect(codes(nine, { property: 'lives', op: '=', value: '9.0' })).toBe('cat')
    expect(() => codes(nine, { property: 'lives', op: '=', value: 'many' })).toThrow('must be a decimal')
    expect(codes(nine, { property: 'legs', op: '=', value: '+2' })).toBe('duck')
  })

  it('by a pattern that is not a regular expression, or too long, is refused', () => {
    for (const value of ['(', '(?=a)', '\\1(a)', 'a'.repeat(1001)]) {
      expect(() => finished(conceptsFor(living, { property: 'code', op: 'regex', value, compile: compileRegex }, 'vs'))).toThrow(
        expect.objectContaining({ code: 'regex-unsupported' }),
      )
    }
  })

  it('by a pattern of nested repetition takes no time to speak of', () => {
    const long = providerOf(codeSystem('long', [{ code: 'a'.repeat(5_000) }, { code: `${'a'.repeat(5_000)}!` }]))
    const set = finished(conceptsFor(long, { property: 'code', op: 'regex', value: '((a+)+)+', compile: compileRegex }, 'vs'))
    expect([...members(finished(set.all()))]).toEqual([0])
  })
})
