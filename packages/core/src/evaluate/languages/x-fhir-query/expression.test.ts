import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OperationError } from '../../../errors/index.js'
import { parseExpression } from './criterion-query.js'

const variables = new Map([
  ['periodStart', '2020-01-01'],
  ['odd', 'a&b=c%20#?{{%periodStart}}'],
])

describe('a criteria expression', () => {
  test.each<[string, string, readonly (readonly [string, string])[]]>([
    ['Patient', 'Patient', []],
    ['Patient?', 'Patient', []],
    ['Patient?gender=female', 'Patient', [['gender', 'female']]],
    [
      'Observation?date=ge2012&date=lt2016&',
      'Observation',
      [
        ['date', 'ge2012'],
        ['date', 'lt2016'],
      ],
    ],
    ['Observation?code=http%3A%2F%2Floinc.org%7C8302-2', 'Observation', [['code', 'http://loinc.org|8302-2']]],
    ['Observation?code=http://loinc.org|8302-2', 'Observation', [['code', 'http://loinc.org|8302-2']]],
    ['Patient?name=van+der%20Berg', 'Patient', [['name', 'van der Berg']]],
    ['Patient?name=a%2526b', 'Patient', [['name', 'a%26b']]],
    ['Patient?name=a=b?c', 'Patient', [['name', 'a=b?c']]],
    ['Patient?name=', 'Patient', [['name', '']]],
    ['Encounter?date=ge{{%periodStart}}', 'Encounter', [['date', 'ge2020-01-01']]],
    ['Encounter?date=%periodStart', 'Encounter', []],
    [
      'Patient?name={{%odd}}&active=true',
      'Patient',
      [
        ['name', 'a&b=c%20#?{{%periodStart}}'],
        ['active', 'true'],
      ],
    ],
  ])('%s', (expression, type, parameters) => {
    if (expression.endsWith('=%periodStart')) expect(() => parseExpression(expression, variables)).toThrow('not percent-encoded')
    else expect(parseExpression(expression, variables)).toEqual({ type, parameters })
  })

  test.each([
    '',
    ' Patient',
    'patient',
    'NoSuchResource',
    '?gender=male',
    '/Patient',
    'Patient/1',
    'Patient/1/_history',
    'Patient/_history',
    'Patient/$everything',
    '$export',
    '_history',
    'https://elsewhere.example.org/fhir/Patient',
    '//elsewhere.example.org/Patient',
    '..\\Patient',
    'Patient#1',
    'Patient?gender=male#x',
    'Patient?gender=ma\u0000le',
    'Patient?gender=male\r\nHost: x',
    'Patient;drop',
    'constructor',
    '__proto__?x=1',
    'Patient?gender',
    'Patient?=male',
    'Patient?gender=%zz',
    'Patient?gender=%ff',
    'Patient?date={{%none}}',
    'Patient?date={{%toString}}',
    'Patient?date={{periodStart}}',
    'Patient?date={{%periodStart}',
    'Patient?date=}}',
    '{{%periodStart}}',
    'Session',
    'User?name=x',
  ])('%j is refused', (expression) => {
    expect(() => parseExpression(expression, variables)).toThrow(expect.objectContaining({ code: 'search-invalid' }))
  })

  test('a long run of opening braces is read in one pass', () => {
    expect(() => parseExpression(`Patient?x=${'{{%'.repeat(100_000)}`, variables)).toThrow(OperationError)
  })

  test('what a variable holds never becomes syntax', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const { parameters } = parseExpression('Patient?a={{%v}}&b=1', new Map([['v', value]]))
        expect(parameters).toEqual([
          ['a', value],
          ['b', '1'],
        ])
      }),
    )
  })

  test('any text is read or refused in our words', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `Patient?${text}`),
        ),
        (text) => {
          try {
            parseExpression(text, variables)
          } catch (error) {
            expect(error).toBeInstanceOf(OperationError)
          }
        },
      ),
    )
  })
})
