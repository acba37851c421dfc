import { expect, test } from 'vitest'
import { joinAlternatives, type Comparison, type Condition } from './query.js'

function entry(param: string, ...all: readonly Comparison[]): Condition {
  return { kind: 'entry', param, all }
}

const value = (operand: string): Comparison => ({ field: 'value', op: 'eq', operand })
const oneOf = (...operands: readonly string[]): Comparison => ({ field: 'value', op: 'in', operands })
const LOINC: Comparison = { field: 'system', op: 'eq', operand: 'http://loinc.org' }
const ABOVE: Comparison = { field: 'low', op: 'gt', operand: 1 }

test.each<readonly [string, readonly Condition[], readonly Condition[]]>([
  ['codes become a list', [entry('code', value('a')), entry('code', value('b'))], [entry('code', oneOf('a', 'b'))]],
  [
    'codes of a system become a list of that system',
    [entry('code', LOINC, value('a')), entry('code', value('b'), LOINC), entry('code', value('c'))],
    [entry('code', LOINC, oneOf('a', 'b')), entry('code', value('c'))],
  ],
  ['one code stays as it is', [entry('code', value('a'))], [entry('code', value('a'))]],
  ['other parameters stay apart', [entry('p', value('a')), entry('q', value('a'))], [entry('p', value('a')), entry('q', value('a'))]],
  ['what wants no value stays apart', [entry('p', ABOVE), entry('p', ABOVE)], [entry('p', ABOVE), entry('p', ABOVE)]],
  ['two values of one entry stay together', [entry('p', value('a'), value('b'))], [entry('p', value('a'), value('b'))]],
  ['none are none', [], []],
])('of alternatives, %s', (_, conditions, expected) => {
  expect(joinAlternatives(conditions)).toEqual(expected)
})

test('fewer than asked for stay as they are', () => {
  const [a, b, c] = [entry('code', value('a')), entry('code', value('b')), entry('code', value('c'), LOINC)]
  expect(joinAlternatives([a, b, c], { from: 3 })).toEqual([a, b, c])
  expect(joinAlternatives([a, b, c], { from: 2 })).toEqual([entry('code', oneOf('a', 'b')), c])
})
