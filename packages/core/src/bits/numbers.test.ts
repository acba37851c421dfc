import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextNumbers, textHash } from './numbers.js'

test('texts are numbered in the order in which they were added, each once', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 400 }), fc.string({ maxLength: 3 }), (added, other) => {
      const numbers = createTextNumbers()
      const different = [...new Set(added)]
      const numberOf = new Map(different.map((text, number) => [text, number]))
      expect(added.map((text) => numbers.add(text))).toEqual(added.map((text) => numberOf.get(text)))
      expect(numbers.texts).toEqual(different)
      const asked = [...added, other]
      expect(asked.map((text) => numbers.find(text))).toEqual(asked.map((text) => numberOf.get(text)))
    }),
  )
})

test('many texts are found, whatever the table was enlarged to', () => {
  const numbers = createTextNumbers()
  const codes = Array.from({ length: 50_000 }, (_, n) => `c${n}`)
  expect(codes.map((code) => numbers.add(code)).every((number, n) => number === n)).toBe(true)
  expect(codes.every((code, n) => numbers.find(code) === n)).toBe(true)
  expect(numbers.find('c50000')).toBeUndefined()
  expect(numbers.find('')).toBeUndefined()
})

test('texts that were chosen to collide for one seed do not for another', () => {
  const placeOf = (text: string, seed: number): number => textHash(text, seed) & 0x3ff
  const chosen: string[] = []
  for (let n = 0; chosen.length < 500; n++) if (placeOf(`x${n}`, 1) === 7) chosen.push(`x${n}`)
  for (const seed of [2, 3, 0x80000001, 123_456_789]) expect(new Set(chosen.map((text) => placeOf(text, seed))).size).toBeGreaterThan(300)
})
