import { expect, test } from 'vitest'
import { checkedPeriod } from './period.js'

test.each([
  ['2020-01-01', '2030-01-01'],
  ['2020', '2020'],
  ['2020', '2020-01-01'],
  ['2020-12', '2020'],
  ['2020-02-29', '2020-02'],
  ['2000-02-29', '2000-02-29'],
  ['0001', '9999-12-31'],
  ['2020-01-01T00:00:00Z', '2020-12-31T23:59:59.999+01:00'],
  ['2020-06-01T12:00:00-05:00', '2020-06-01'],
  ['2024-01-01T00:00:00.000Z', '2024-01-01T01:00:00.000+01:00'],
])('%s to %s is kept as it is given', (start, end) => {
  expect(checkedPeriod(start, end)).toEqual({ start, end })
})

test.each([
  ['2020-01-02', '2020-01-01'],
  ['2021', '2020'],
  ['2020-03', '2020-02-29'],
  ['2020-02-29', '2020-01'],
  ['2020-01-01T00:00:01Z', '2020-01-01T01:00:00+01:00'],
])('%s to %s is refused: the start is after the end', (start, end) => {
  expect(() => checkedPeriod(start, end)).toThrow(
    expect.objectContaining({ code: 'parameter-invalid', expression: ['periodStart', 'periodEnd'] }),
  )
})

test.each([
  '',
  '20',
  '20200101',
  '2020-1-1',
  '2020-13',
  '2020-00',
  '2021-02-29',
  '2020-04-31',
  '2020-01-00',
  '0000',
  '2020-01-01T00:00:00',
  '2020-01-01T00:00Z',
  '2020-01-01T24:00:00Z',
  '2020-01-01T00:00:00+15:00',
  ' 2020',
  '2020\n',
  '-2020',
  '２０２０',
  'now',
])('%j is neither a calendar date nor a dateTime', (text) => {
  expect(() => checkedPeriod(text, '2030')).toThrow(expect.objectContaining({ code: 'parameter-value', expression: ['periodStart'] }))
  expect(() => checkedPeriod('2000', text)).toThrow(expect.objectContaining({ code: 'parameter-value', expression: ['periodEnd'] }))
})
