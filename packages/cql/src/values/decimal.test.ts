import { property, assert, integer, oneof, constantFrom, double, tuple, bigInt } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import {
  bigOf,
  decimalOfNumber,
  decimalOfText,
  decimalOfUnits,
  divideDecimals,
  multiplyDecimals,
  placesOf,
  remainder,
  roundDecimal,
  roundedQuotient,
  scaledUnits,
  truncateDecimal,
  truncatedQuotient,
  wholePart,
  type Decimal,
} from './decimal.js'

const SCALE = 100_000_000n
const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Steps of 10^-8: few and many digits, whole numbers, and those around the largest that is exact as a number. */
const units = oneof(
  integer({ min: -2_000, max: 2_000 }).map(BigInt),
  integer({ min: -100_000, max: 100_000 }).map((whole) => BigInt(whole) * SCALE),
  integer({ min: -1_000_000, max: 1_000_000 }).map((tenths) => BigInt(tenths) * 5_000_000n),
  bigInt({ min: -SAFE, max: SAFE }),
  bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
  constantFrom(SAFE, SAFE - 1n, SAFE + 1n, -SAFE, 0n, 1n, -1n, SCALE, SCALE - 1n),
  bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
)
const RUNS = { numRuns: rounds({ quick: 1_000, all: 20_000 }), seed: SEED }

function made(steps: bigint): Decimal {
  const value = decimalOfUnits(steps, 8)
  if (value === undefined) throw new Error('The value is too large.')
  return value
}

function same(value: Decimal | undefined, steps: bigint): void {
  expect(value?.units).toBe(decimalOfUnits(steps, 8)?.units)
  expect(Object.is(value?.units, -0)).toBe(false)
}

describe('decimals computed as numbers are those computed as bigints', () => {
  it('products, quotients and remainders', () => {
    assert(
      property(tuple(units, units), ([first, second]) => {
        const [a, b] = [made(first), made(second)]
        same(multiplyDecimals(a, b), roundedQuotient(first * second, SCALE))
        if (second === 0n) return
        same(divideDecimals(a, b), roundedQuotient(first * SCALE, second))
        same(truncatedQuotient(a, b), (first / second) * SCALE)
        same(remainder(a, b), first % second)
        if (second < 0n || typeof a.units === 'bigint') return
        const scaled = scaledUnits(a.units, 1_000, Number(second))
        if (scaled !== undefined) same(made(BigInt(scaled)), roundedQuotient(first * 1_000n, second))
      }),
      RUNS,
    )
  })

  it('rounding and parts', () => {
    assert(
      property(tuple(units, integer({ min: -9, max: 9 })), ([first, places]) => {
        const dropped = 10n ** BigInt(8 - Math.min(places, 8))
        same(roundDecimal(made(first), places), roundedQuotient(first, dropped) * dropped)
        same(truncateDecimal(made(first), places), (first / dropped) * dropped)
        const { whole, rest } = wholePart(made(first))
        expect([BigInt(whole), rest]).toEqual([first / SCALE, Math.sign(Number(first % SCALE)) + 0])
        const digits = String(first % SCALE)
          .replace('-', '')
          .padStart(8, '0')
        expect(placesOf(bigOf(made(first).units))).toBe(digits.replace(/0+$/, '').length)
        expect(placesOf(made(first).units)).toBe(digits.replace(/0+$/, '').length)
      }),
      RUNS,
    )
  })

  it('JavaScript numbers are rounded as their texts are', () => {
    const numbers = oneof(
      double({ min: -1e12, max: 1e12, noNaN: true }),
      double({ min: -9, max: 9, noNaN: true }),
      units.map((steps) => Number(steps) / 1e9),
    )
    assert(
      property(numbers, (value) => {
        const text = String(value)
        if (text.includes('e')) return
        const expected = decimalOfText(text, true)
        const found = decimalOfNumber(value)
        expect([bigOf(found?.units ?? 0), found?.places]).toEqual([bigOf(expected?.units ?? 0), expected?.places])
      }),
      RUNS,
    )
  })
})
