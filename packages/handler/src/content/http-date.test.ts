import fc from 'fast-check'
import { expect, test } from 'vitest'
import { httpDateOf } from './read.js'

test('an instant is written as the date of HTTP that the platform writes', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }), (date) => {
      expect(httpDateOf(date.toISOString())).toBe(date.toUTCString())
    }),
  )
})

test.each(['2026-11-22T18:49:53+02:00', '2026-11-22T18:49:53Z', '2024-02-29T00:00:00.000000Z'])('%s, too', (instant) => {
  expect(httpDateOf(instant)).toBe(new Date(instant).toUTCString())
})
