import { describe, expect, it } from 'vitest'
import { dateInterval, escaped, splitUnescaped, unescaped } from './written-values.js'
import { writtenNumber } from './kinds/number.js'
import { fold } from '../text/index.js'

const DATES: readonly (readonly [text: string, first: string, last: string])[] = [
  ['2012', '2012-01-01T00:00:00.000Z', '2012-12-31T23:59:59.999Z'],
  ['2012-02', '2012-02-01T00:00:00.000Z', '2012-02-29T23:59:59.999Z'],
  ['2012-12', '2012-12-01T00:00:00.000Z', '2012-12-31T23:59:59.999Z'],
  ['2012-02-29', '2012-02-29T00:00:00.000Z', '2012-02-29T23:59:59.999Z'],
  ['2012-02-29T10:30', '2012-02-29T10:30:00.000Z', '2012-02-29T10:30:59.999Z'],
  ['2012-02-29T10:30:15Z', '2012-02-29T10:30:15.000Z', '2012-02-29T10:30:15.999Z'],
  ['2012-02-29T10:30:15.25Z', '2012-02-29T10:30:15.250Z', '2012-02-29T10:30:15.259Z'],
  ['2012-02-29T10:30:15.123456Z', '2012-02-29T10:30:15.123Z', '2012-02-29T10:30:15.123Z'],
  ['2012-01-01T00:30:00+05:30', '2011-12-31T19:00:00.000Z', '2011-12-31T19:00:00.999Z'],
  ['2012-12-31T23:00:00-02:00', '2013-01-01T01:00:00.000Z', '2013-01-01T01:00:00.999Z'],
  ['0050', '0050-01-01T00:00:00.000Z', '0050-12-31T23:59:59.999Z'],
]

const NO_DATES = [
  '',
  '201',
  '20120',
  '2012-13',
  '2012-00',
  '2011-02-29',
  '2012-1-1',
  '2012-01-01T',
  '2012-01-01T10',
  '2012-01-01T24:00:00Z',
  '2012-01-01T10:60:00Z',
  '2012-01-01T10:00:60Z',
  '2012-01-01T10:00:00+15:00',
  '2012-01-01T10:00:00 02:00',
  '2012-01-01Z',
  'today',
  '２０１２',
]

describe('dateInterval', () => {
  it.each(DATES)('reads %s', (text, first, last) => {
    expect(dateInterval(text)).toEqual({ low: Date.parse(first), high: Date.parse(last) })
  })

  it.each(NO_DATES)('refuses %j', (text) => {
    expect(dateInterval(text)).toBeUndefined()
  })
})

describe('writtenNumber', () => {
  it.each([
    ['100', 100, 99.5, 100.5],
    ['100.00', 100, 99.995, 100.005],
    ['5.4', 5.4, 5.35, 5.45],
    ['-5.4', -5.4, -5.45, -5.35],
    ['+1', 1, 0.5, 1.5],
    ['0', 0, -0.5, 0.5],
    ['1e2', 100, 50, 150],
    ['5.40e-3', 0.0054, 0.005395, 0.005405],
  ])('reads %s', (text, value, low, high) => {
    expect(writtenNumber(text)).toEqual({ value, rounded: { low, high } })
  })

  it.each(['', '.5', '5.', '1e', 'x', '1 ', '0x1', 'Infinity', '1e400', '1,5', '1'.repeat(41)])('refuses %j', (text) => {
    expect(writtenNumber(text)).toBeUndefined()
  })
})

describe('escapes', () => {
  it('keep separators from separating', () => {
    expect(splitUnescaped('a\\,b,c\\\\,d', ',')).toEqual(['a\\,b', 'c\\\\', 'd'])
    expect(splitUnescaped('', ',')).toEqual([''])
    expect(splitUnescaped('a|b|', '|')).toEqual(['a', 'b', ''])
  })

  it('are undone and made', () => {
    expect(unescaped('a\\,b\\|c\\$d\\\\e\\f\\')).toBe('a,b|c$d\\e\\f\\')
    for (const text of ['a,b|c$d\\e', '\\,', '']) expect(unescaped(escaped(text))).toBe(text)
  })
})

describe('fold', () => {
  it.each([
    ['Élan', 'elan'],
    ['ÅNGSTRÖM', 'angstrom'],
    ['  a \t b ', 'a b'],
    ['Straße', 'strasse'],
    ['東京', '東京'],
    ['', ''],
  ])('folds %j', (text, folded) => {
    expect(fold(text)).toBe(folded)
  })
})
