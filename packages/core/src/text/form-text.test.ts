import { expect, test } from 'vitest'
import { withBlanks } from './index.js'

test.each([
  ['Ada+Lovell', 'Ada Lovell'],
  ['ge2026-01-31T10:00:00+01:00', 'ge2026-01-31T10:00:00%2B01:00'],
  ['2026-01-31T10:00+01:00,2026-01-31T10%3A00%3A00.125+01%3A00', '2026-01-31T10:00%2B01:00,2026-01-31T10%3A00%3A00.125%2B01%3A00'],
  ['2026-01-31T10:00:00%2B01:00', '2026-01-31T10:00:00%2B01:00'],
  ['at+T10:00:00+sharp', 'at T10:00:00 sharp'],
  ['10:00+01:00', '10:00 01:00'],
])('%s is %s', (part, expected) => {
  expect(withBlanks(part)).toBe(expected)
})
