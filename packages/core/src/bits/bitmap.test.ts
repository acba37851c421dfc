import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { and, andNot, bitmapFrom, fewBitmap, fleetingAnd, gatheredBitmap, members, or, rangeBitmap, type Bitmap } from './bitmap.js'

const LIMIT = 200
const positions = fc.uniqueArray(fc.nat(LIMIT - 1))

describe('a bitmap', () => {
  const forms: readonly ((of: readonly number[]) => Bitmap)[] = [
    (of) => bitmapFrom(of, LIMIT),
    (of) => fewBitmap(Uint32Array.from(of).sort(), LIMIT),
  ]

  it('behaves as a set of numbers', () => {
    fc.assert(
      fc.property(positions, positions, fc.nat(LIMIT), fc.constantFrom(...forms), fc.constantFrom(...forms), (a, b, skip, one, other) => {
        const [x, y] = [new Set(a), new Set(b)]
        const [left, right] = [one(a), other(b)]
        const listed = (set: ReadonlySet<number>): readonly number[] => [...set].sort((m, n) => m - n)
        expect([...members(and(left, right))]).toEqual(listed(x.intersection(y)))
        expect([...members(fleetingAnd(left, right))]).toEqual(listed(x.intersection(y)))
        expect(fleetingAnd(left, right).count()).toBe(x.intersection(y).size)
        expect([...members(or(left, right))]).toEqual(listed(x.union(y)))
        expect([...members(andNot(left, right))]).toEqual(listed(x.difference(y)))
        expect([...members(left, skip)]).toEqual(listed(x).slice(skip))
        expect(left.count()).toBe(x.size)
        expect(b.every((position) => left.has(position) === x.has(position))).toBe(true)
      }),
    )
  })

  it('of the little that two large sets share holds just that', () => {
    const large = fc.uniqueArray(fc.nat(2 ** 16 - 1), { maxLength: 300 })
    fc.assert(
      fc.property(large, large, large, (a, b, shared) => {
        const [x, y] = [new Set([...a, ...shared]), new Set([...b, ...shared])]
        const both = fleetingAnd(bitmapFrom(x, 2 ** 16), bitmapFrom(y, 2 ** 16))
        const expected = [...x.intersection(y)].sort((m, n) => m - n)
        expect([both.count(), [...members(both)]]).toEqual([expected.length, expected])
        expect([...a, ...shared].every((position) => both.has(position) === y.has(position))).toBe(true)
      }),
    )
  })

  it('of a range holds its start and not its end', () => {
    fc.assert(
      fc.property(fc.nat(LIMIT), fc.nat(LIMIT), (start, end) => {
        const expected = Array.from({ length: Math.max(0, end - start) }, (_, i) => start + i)
        expect([...members(rangeBitmap(start, end, LIMIT))]).toEqual(expected)
      }),
    )
  })

  it.each([10, 5_000])('of %d numbers in any order holds each once', (length) => {
    const given = Uint32Array.from({ length }, (_, i) => (i * 7_919) % LIMIT)
    const expected = [...new Set(given)].sort((a, b) => a - b)
    const gathered = gatheredBitmap(given, LIMIT)
    expect([gathered.count(), [...members(gathered)]]).toEqual([expected.length, expected])
  })

  it('passes over numbers beyond its limit', () => {
    expect([...members(bitmapFrom([1, 5, 9], 6))]).toEqual([1, 5])
  })

  it('is left out up to any member of thousands, with gaps of whole blocks', () => {
    const limit = 20_000
    const of = Array.from({ length: limit }, (_, at) => at).filter((at) => at % 3 > 0 && (at < 4_000 || at > 9_000))
    const large = bitmapFrom(of, limit)
    for (const skip of [0, 1_023, 1_024, 2_665, 2_666, 2_667, 5_000, of.length - 1, of.length, of.length + 1, limit * 2])
      expect([...members(large, skip)]).toEqual(of.slice(skip))
  })
})
