/**
 * A System.Decimal: exact to 8 digits after the point, with at most 20 before it (CQL reference, Decimal).
 *
 * `units` counts steps of 10^-8: a number as long as that is exact, a bigint otherwise. `places` is the number of digits after the point with which it was
 * written or computed, which matters for `Precision`, boundaries and equivalence.
 */
export interface Decimal {
  readonly kind: 'decimal'
  readonly units: number | bigint
  readonly places: number
}

/** Maximum number of digits after the point. */
export const MAX_PLACES = 8
const SCALE = 100_000_000
const BIG_SCALE = 100_000_000n
const MAX_UNITS = 10n ** 28n - 1n

/** Creates a decimal from a number of steps of 10^-8; `undefined` if it is too large. */
export function decimalOfUnits(units: number | bigint, places: number): Decimal | undefined {
  const kept = typeof units === 'number' ? (Number.isSafeInteger(units) ? units : BigInt(units)) : isSafe(units) ? Number(units) : units
  if (typeof kept === 'bigint' && (kept > MAX_UNITS || kept < -MAX_UNITS)) return undefined
  return { kind: 'decimal', units: kept, places }
}

/** Converts an integer to a decimal; `undefined` if it is too large. */
export function decimalOfInteger(value: number | bigint): Decimal | undefined {
  const units = Number(value) * SCALE
  if (Number.isSafeInteger(units)) return { kind: 'decimal', units, places: 0 }
  return decimalOfUnits(BigInt(value) * BIG_SCALE, 0)
}

/** The decimal nearest to a JavaScript number, rounded to 8 places; `undefined` if it is too large or not finite. */
export function decimalOfNumber(value: number): Decimal | undefined {
  if (!Number.isFinite(value)) return undefined
  if (Math.abs(value) >= 1e20) return undefined
  if (Number.isInteger(value)) return decimalOfInteger(value === 0 ? 0 : value)
  return decimalOfFraction(value) ?? decimalOfText(plainText(value), true)
}

/** Below this, the product of a number and 10^8 differs from that of the number's text by less than `MARGIN`. */
const EXACT_ENOUGH = 2 ** 43
const MARGIN = 2 ** -8

/** The decimal nearest to a number, when more than 8 places are sure to be dropped, and to which side; `undefined` otherwise. */
function decimalOfFraction(value: number): Decimal | undefined {
  const scaled = value * SCALE
  const units = Math.round(scaled)
  const dropped = Math.abs(scaled - units)
  const isSure = Math.abs(scaled) < EXACT_ENOUGH && dropped > MARGIN && dropped < 0.5 - MARGIN
  return isSure ? { kind: 'decimal', units: units === 0 ? 0 : units, places: MAX_PLACES } : undefined
}

/** Parses `12`, `-0.50`, `+3.1`. `undefined` for other texts, values that are too large and, unless `rounded`, more than 8 places. */
export function decimalOfText(text: string, rounded = false): Decimal | undefined {
  const match = /^([+-]?)(\d{1,40})(?:\.(\d{1,40}))?$/.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '0', fraction = ''] = match
  if (fraction.length > MAX_PLACES && !rounded) return undefined
  const kept = BigInt(whole + fraction.slice(0, MAX_PLACES).padEnd(MAX_PLACES, '0'))
  const units = (fraction[MAX_PLACES] ?? '0') >= '5' ? kept + 1n : kept
  return decimalOfUnits(sign === '-' ? -units : units, Math.min(fraction.length, MAX_PLACES))
}

/** The decimal whose number of steps of 10^-8 is the quotient of two non-negative integers, rounded to the nearest. */
export function decimalOfQuotient(above: bigint, below: bigint): Decimal | undefined {
  const units = (above * 2n + below) / (below * 2n)
  return decimalOfUnits(units, placesOf(units))
}

/** The JavaScript number nearest to a decimal. */
export function numberOf({ units }: Decimal): number {
  return Number(units) / SCALE
}

/** Writes a decimal with all its places, at least one. */
export function decimalText({ units, places }: Decimal): string {
  const digits = bigOf(units < 0 ? -bigOf(units) : units)
    .toString()
    .padStart(MAX_PLACES + 1, '0')
  const fraction = digits.slice(-MAX_PLACES)
  const significant = significantLength(fraction)
  return `${units < 0 ? '-' : ''}${digits.slice(0, -MAX_PLACES)}.${fraction.slice(0, Math.max(places, significant, 1))}`
}

/** Writes a decimal without trailing zeros: `1.5`, `12`. */
export function shortDecimalText(value: Decimal): string {
  const text = decimalText({ ...value, places: 0 })
  return text.endsWith('.0') ? text.slice(0, -2) : text
}

/** Compares two decimals by value: -1, 0 or 1. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  return a.units < b.units ? -1 : a.units > b.units ? 1 : 0
}

/** The sum, with the places of the more precise operand. */
export function addDecimals(a: Decimal, b: Decimal): Decimal | undefined {
  return summed(a, b.units, Math.max(a.places, b.places))
}

/** The difference, with the places of the more precise operand. */
export function subtractDecimals(a: Decimal, b: Decimal): Decimal | undefined {
  return summed(a, -b.units, Math.max(a.places, b.places))
}

/** The product, rounded to 8 places. */
export function multiplyDecimals(a: Decimal, b: Decimal): Decimal | undefined {
  const places = Math.min(a.places + b.places, MAX_PLACES)
  const units = typeof a.units === 'number' && typeof b.units === 'number' ? productOf(a.units, b.units) : undefined
  if (units !== undefined) return { kind: 'decimal', units, places }
  return decimalOfUnits(roundedQuotient(bigOf(a.units) * bigOf(b.units), BIG_SCALE), places)
}

/** The quotient, rounded to 8 places; `undefined` for a divisor of 0. */
export function divideDecimals(a: Decimal, b: Decimal): Decimal | undefined {
  if (isZero(b)) return undefined
  const short = typeof a.units === 'number' && typeof b.units === 'number' ? quotientOf(a.units, b.units) : undefined
  const units = short ?? roundedQuotient(bigOf(a.units) * BIG_SCALE, bigOf(b.units))
  return decimalOfUnits(units, placesOf(units))
}

/** The quotient, truncated to an integer; `undefined` for a divisor of 0. */
export function truncatedQuotient(a: Decimal, b: Decimal): Decimal | undefined {
  if (isZero(b)) return undefined
  if (typeof a.units === 'number' && typeof b.units === 'number') return decimalOfInteger((a.units - (a.units % b.units)) / b.units + 0)
  return decimalOfUnits((bigOf(a.units) / bigOf(b.units)) * BIG_SCALE, 0)
}

/** The remainder of the truncated quotient, with the sign of the dividend; `undefined` for a divisor of 0. */
export function remainder(a: Decimal, b: Decimal): Decimal | undefined {
  if (isZero(b)) return undefined
  const units = typeof a.units === 'number' && typeof b.units === 'number' ? (a.units % b.units) + 0 : bigOf(a.units) % bigOf(b.units)
  return decimalOfUnits(units, Math.max(a.places, b.places))
}

/** Largest integer exponent for which a power is computed exactly. */
const MAX_EXPONENT = 100

/** Whether `powerOf` accepts an exponent: an integer from -100 to 100. */
export function isExactPower(exponent: Decimal): boolean {
  const value = numberOf(exponent)
  return Number.isInteger(value) && Math.abs(value) <= MAX_EXPONENT
}

/** The power with an integer exponent, rounded to 8 places; `undefined` for 0 to a negative power, and if the result is too large. */
export function powerOf(base: Decimal, exponent: number): Decimal | undefined {
  const size = BigInt(Math.abs(exponent))
  const [power, scale] = [bigOf(base.units) ** size, BIG_SCALE ** size]
  if (exponent < 0 && power === 0n) return undefined
  const units = exponent < 0 ? roundedQuotient(scale * BIG_SCALE, power) : roundedQuotient(power * BIG_SCALE, scale)
  return decimalOfUnits(units, placesOf(units))
}

/** The negated value. */
export function negateDecimal({ units, places }: Decimal): Decimal {
  return { kind: 'decimal', units: units === 0 ? 0 : -units, places }
}

/** Whether it is 0. */
export function isZero({ units }: Decimal): boolean {
  return units === 0 || units === 0n
}

/** Maximum number of digits before the point, plus one. */
const MAX_WHOLE = 21

/** Rounds half away from zero to `places`; a negative number of places rounds to tens, hundreds and so on. */
export function roundDecimal({ units }: Decimal, places: number): Decimal | undefined {
  const dropped = MAX_PLACES - Math.max(Math.min(places, MAX_PLACES), -MAX_WHOLE)
  const kept = Math.max(0, Math.min(places, MAX_PLACES))
  if (typeof units === 'number' && dropped <= MAX_SAFE_POWER) return decimalOfUnits(roundedTo(units, 10 ** dropped), kept)
  const step = 10n ** BigInt(dropped)
  return decimalOfUnits(roundedQuotient(bigOf(units), step) * step, kept)
}

/** Rounds towards zero to `places`. */
export function truncateDecimal({ units }: Decimal, places: number): Decimal | undefined {
  const dropped = MAX_PLACES - Math.min(places, MAX_PLACES)
  if (typeof units === 'number' && dropped <= MAX_SAFE_POWER)
    return decimalOfUnits(units - (units % 10 ** dropped), Math.min(places, MAX_PLACES))
  const step = 10n ** BigInt(dropped)
  return decimalOfUnits((bigOf(units) / step) * step, Math.min(places, MAX_PLACES))
}

/** The integer part, rounded towards zero, and the sign of the rest. */
export function wholePart({ units }: Decimal): { readonly whole: number | bigint; readonly rest: -1 | 0 | 1 } {
  if (typeof units === 'number') {
    const rest = units % SCALE
    return { whole: (units - rest) / SCALE + 0, rest: rest === 0 ? 0 : rest < 0 ? -1 : 1 }
  }
  const rest = units % BIG_SCALE
  return { whole: units / BIG_SCALE, rest: rest === 0n ? 0 : rest < 0n ? -1 : 1 }
}

/** The number of digits after the point, without trailing zeros, for a number of steps of 10^-8. */
export function placesOf(units: number | bigint): number {
  let rest = Number(typeof units === 'bigint' ? units % BIG_SCALE : units % SCALE)
  if (rest === 0) return 0
  let places = MAX_PLACES
  for (; rest % 10 === 0; places--) rest /= 10
  return places
}

/** The number of digits before the trailing zeros. */
export function significantLength(digits: string): number {
  let length = digits.length
  while (digits[length - 1] === '0') length--
  return length
}

/** The greatest power of ten below 2^53, up to which numbers are rounded without bigints. */
const MAX_SAFE_POWER = 15
/** Half of the digits of a step. */
const HALF = 10_000

// Numbers that are exact are computed with as numbers: bigints take several times as long. What is not exact is `undefined`, and found with bigints.

/** The product of two numbers of steps of 10^-8, rounded to the nearest, halves away from zero. */
function productOf(a: number, b: number): number | undefined {
  const simple = a * b
  if (Number.isSafeInteger(simple)) return roundedTo(simple, SCALE) / SCALE
  const [first, second] = [Math.abs(a), Math.abs(b)]
  const [ofFirst, ofSecond] = [first % SCALE, second % SCALE]
  // Both fractions have 8 digits, so their product may have 16: it is put together from two of 12.
  const upper = ofFirst * Math.floor(ofSecond / HALF)
  const lower = (upper % HALF) * HALF + ofFirst * (ofSecond % HALF)
  const whole = ((first - ofFirst) / SCALE) * second
  const mixed = ofFirst * ((second - ofSecond) / SCALE)
  const product = whole + mixed + Math.floor(upper / HALF) + Math.floor((lower + SCALE / 2) / SCALE)
  if (!Number.isSafeInteger(whole) || !Number.isSafeInteger(mixed) || !Number.isSafeInteger(product)) return undefined
  return signed(product, a < 0 !== b < 0)
}

/** The quotient of two numbers of steps of 10^-8 in such steps, rounded to the nearest, halves away from zero. */
function quotientOf(a: number, b: number): number | undefined {
  const [dividend, divisor] = [Math.abs(a), Math.abs(b)]
  const isNegative = a < 0 !== b < 0
  if (divisor % SCALE === 0) return signed(dividedBy(dividend, divisor / SCALE), isNegative)
  if (divisor * HALF > Number.MAX_SAFE_INTEGER) return undefined
  let rest = dividend % divisor
  let quotient = (dividend - rest) / divisor
  // Two times four more digits.
  for (let count = 0; count < 2; count++) {
    const left = (rest * HALF) % divisor
    quotient = quotient * HALF + (rest * HALF - left) / divisor
    rest = left
  }
  if (rest * 2 >= divisor) quotient++
  return Number.isSafeInteger(quotient) ? signed(quotient, isNegative) : undefined
}

/** The product of steps of 10^-8 and a fraction of positive whole numbers, rounded to the nearest; `undefined` if a part is not exact as a number. */
export function scaledUnits(units: number, above: number, below: number): number | undefined {
  const product = Math.abs(units) * above
  if (!Number.isSafeInteger(product) || !Number.isSafeInteger(below)) return undefined
  return signed(dividedBy(product, below), units < 0)
}

function dividedBy(dividend: number, divisor: number): number {
  const rest = dividend % divisor
  const quotient = (dividend - rest) / divisor
  return rest * 2 >= divisor ? quotient + 1 : quotient
}

function signed(size: number, isNegative: boolean): number {
  return isNegative && size !== 0 ? -size : size
}

/** The multiple of a step that is nearest to a number, halves away from zero. */
function roundedTo(units: number, step: number): number {
  const rest = units % step
  const cut = units - rest
  const rounded = Math.abs(rest) * 2 < step ? cut : units < 0 ? cut - step : cut + step
  return rounded + 0
}

function summed(a: Decimal, units: number | bigint, places: number): Decimal | undefined {
  if (typeof a.units === 'number' && typeof units === 'number') {
    const sum = a.units + units
    if (Number.isSafeInteger(sum)) return { kind: 'decimal', units: sum, places }
  }
  return decimalOfUnits(bigOf(a.units) + bigOf(units), places)
}

/** The quotient of two integers, rounded to the nearest, halves away from zero. */
export function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  const rest = dividend % divisor
  const twice = (rest < 0n ? -rest : rest) * 2n
  if (twice < (divisor < 0n ? -divisor : divisor)) return quotient
  return dividend < 0n === divisor < 0n ? quotient + 1n : quotient - 1n
}

/** Steps of 10^-8 as a bigint. */
export function bigOf(units: number | bigint): bigint {
  return typeof units === 'bigint' ? units : BigInt(units)
}

function isSafe(units: bigint): boolean {
  return units <= 9_007_199_254_740_991n && units >= -9_007_199_254_740_991n
}

function plainText(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(MAX_PLACES + 2) : text
}
