import { bigOf, decimalOfUnits, placesOf, roundedQuotient, significantLength, type Decimal } from './decimal.js'

/** A factor between units, as a quotient of integers. */
interface Fraction {
  readonly above: bigint
  readonly below: bigint
}

/** Maximum number of factors that are kept as fractions. A library names few units. */
const MAX_KEPT = 1_000
const kept = new Map<number, Fraction>()

/** Multiplies a decimal by a factor between units, rounded to 8 places; `undefined` if the result is too large, or the factor is 0 or not finite. */
export function scaledDecimal({ units, places }: Decimal, factor: number): Decimal | undefined {
  if (!Number.isFinite(factor) || !Number.isFinite(1 / factor)) return undefined
  const { above, below } = fractionOf(factor)
  const scaled = roundedQuotient(bigOf(units) * above, below)
  return decimalOfUnits(scaled, Math.max(places, placesOf(scaled)))
}

/** The factor as an exact fraction. If decimal digits cannot express it (an hour is 1/24 of a day), those of its reciprocal often can. */
function fractionOf(factor: number): Fraction {
  const known = kept.get(factor)
  if (known !== undefined) return known
  const [direct, inverse] = [scientific(factor), scientific(1 / factor)]
  const fraction = inverse.digits.length < direct.digits.length ? reciprocal(quotientOf(inverse)) : quotientOf(direct)
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(factor, fraction)
  return fraction
}

/** Number of digits of a factor that are exact in spite of rounding. */
const DIGITS = 14

interface Scientific {
  /** Without trailing zeros. */
  readonly digits: string
  /** The power of ten by which the digits are multiplied. */
  readonly exponent: number
}

function scientific(value: number): Scientific {
  const [mantissa = '', exponent = '0'] = value.toExponential(DIGITS - 1).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const places = significantLength(fraction)
  return { digits: whole + fraction.slice(0, places), exponent: Number(exponent) - places }
}

function quotientOf({ digits, exponent }: Scientific): Fraction {
  const whole = BigInt(digits)
  return exponent >= 0 ? { above: whole * 10n ** BigInt(exponent), below: 1n } : { above: whole, below: 10n ** BigInt(-exponent) }
}

function reciprocal({ above, below }: Fraction): Fraction {
  return { above: below, below: above }
}
