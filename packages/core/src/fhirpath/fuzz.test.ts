import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ANY_CHARACTER, rounds } from '../../../../test/effort.js'
import { r4Model } from '../../test/fhirpath/r4.js'
import { OperationError } from '../errors/index.js'
import { comparableMs, processorTimeOf } from '../../../../test/processor-time.js'
import { compileFhirPath, rootNode } from './index.js'

const focus = rootNode(r4Model, {
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 's', code: 'c' }] },
  valueQuantity: { value: 1.5, unit: 'g' },
  effectiveDateTime: '2020-01',
  component: [{ code: { text: 'x' }, valueString: 'y' }],
})

const words = [
  [
    'status',
    'code',
    'coding',
    'value',
    'effective',
    'component',
    'text',
    'Observation',
    '$this',
    '$index',
    '$total',
    '%resource',
    '%x',
    '{}',
    '(',
    ')',
    '[',
    ']',
    '.',
    ',',
  ],
  [
    '+',
    '-',
    '*',
    '/',
    'div',
    'mod',
    '&',
    '|',
    '=',
    '!=',
    '~',
    '!~',
    '<',
    '>=',
    'and',
    'or',
    'xor',
    'implies',
    'in',
    'contains',
    'is',
    'as',
  ],
  [
    '0',
    '1',
    '2.50',
    '2147483647',
    "'a'",
    "'.*'",
    'true',
    '@2020',
    '@2020-02-29',
    '@2020-01-01T10:00Z',
    '@T10',
    "3 'mg'",
    '2 months',
    'Quantity',
    'System.String',
  ],
  [
    'where',
    'select',
    'repeat',
    'exists',
    'all',
    'ofType',
    'iif',
    'aggregate',
    'children',
    'descendants',
    'distinct',
    'count',
    'toString',
    'toQuantity',
  ],
  [
    'matches',
    'replaceMatches',
    'substring',
    'split',
    'join',
    'combine',
    'power',
    'round',
    'lowBoundary',
    'highBoundary',
    'precision',
    'now',
    'resolve',
  ],
].flat()

test('random texts evaluate, or end with an error of ours', () => {
  fc.assert(fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 60 }), endsWell), { numRuns: rounds({ quick: 500, all: 3_000 }) })
})

test('random words evaluate, or end with an error of ours', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 25 }), (tokens) => endsWell(tokens.join(' '))),
    { numRuns: rounds({ quick: 500, all: 20_000 }) },
  )
})

const expression = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(
      ...words.filter((word) => /^[a-z$%{'\d@]/.test(word) && !/^(?:div|mod|and|or|xor|implies|in|contains|is|as)$/.test(word)),
    ),
    fc
      .tuple(tie('node'), fc.constantFrom('+', '-', '*', '/', '&', '|', '=', '~', '<', 'and', 'implies', 'in'), tie('node'))
      .map((parts) => `(${parts.join(' ')})`),
    fc
      .tuple(
        tie('node'),
        fc.constantFrom('where', 'select', 'repeat', 'all', 'exists', 'combine', 'split', 'matches', 'lowBoundary', 'power'),
        tie('node'),
      )
      .map(([a, f, b]) => `${a}.${f}(${b})`),
    fc
      .tuple(
        tie('node'),
        fc.constantFrom(
          'children',
          'descendants',
          'count',
          'toString',
          'toQuantity',
          'toDate',
          'distinct',
          'first',
          'not',
          'sum',
          'highBoundary',
        ),
      )
      .map(([a, f]) => `${a}.${f}()`),
    fc.tuple(tie('node'), fc.constantFrom('code', 'value', 'text')).map((parts) => parts.join('.')),
  ),
})).node

test('random expressions evaluate, or end with an error of ours', () => {
  fc.assert(fc.property(expression, endsWell), { numRuns: rounds({ quick: 300, all: 10_000 }) })
})

const MAX_MS = 3_000

function endsWell(source: string): void {
  const ms = processorTimeOf(() => evaluated(source))
  expect(comparableMs(ms, MAX_MS)).toBeLessThan(MAX_MS)
}

function evaluated(source: string): void {
  try {
    compileFhirPath(source, { model: r4Model }).evaluate({ now: () => new Date(0), host: { resolve: () => undefined } }, focus)
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    expect(['fhirpath-invalid', 'fhirpath-budget', 'regex-unsupported', 'too-costly']).toContain(error.code)
  }
}
