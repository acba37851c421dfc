import { bigOf, decimalOfUnits, placesOf, roundedQuotient } from './decimal.js'
import { quantity, type Quantity } from './value.js'

/** A scale: `degree` is the size of its degree in 1/36 kelvin, and `zero` is its zero above absolute zero, in 1/36 kelvin and in the steps of a decimal. */
interface Scale {
  readonly degree: bigint
  readonly zero: bigint
}

/** Creates a scale from its zero above absolute zero, in hundredths of its own degree. */
const scale = (degree: bigint, zeroInHundredths: bigint): Scale => ({ degree, zero: zeroInHundredths * degree * 1_000_000n })

/**
 * Scales of temperature. Their zeros differ (special units of UCUM), so no factor converts an amount from one to another.
 *
 * @see https://ucum.org/ucum#section-Special-Units-on-non-ratio-Scales
 */
const SCALES: ReadonlyMap<string, Scale> = new Map([
  ['K', scale(36n, 0n)],
  ['[degR]', scale(20n, 0n)],
  ['Cel', scale(36n, 27_315n)],
  ['[degF]', scale(20n, 45_967n)],
  ['[degRe]', scale(45n, 21_852n)],
])

/** Compares two temperatures on different scales exactly: -1, 0 or 1; `undefined` for other amounts. */
export function compareTemperatures(a: Quantity, b: Quantity): -1 | 0 | 1 | undefined {
  const [first, second] = [heatOf(a), heatOf(b)]
  if (a.unit === b.unit || first === undefined || second === undefined) return undefined
  return first < second ? -1 : first > second ? 1 : 0
}

/** Converts a temperature to another scale, rounded to 8 places; `undefined` for other amounts. */
export function temperatureIn(amount: Quantity, unit: string): Quantity | undefined {
  const [heat, target] = [heatOf(amount), SCALES.get(unit)]
  if (heat === undefined || target === undefined || amount.unit === unit) return undefined
  const units = roundedQuotient(heat - target.zero, target.degree)
  const value = decimalOfUnits(units, placesOf(units))
  return value === undefined ? undefined : quantity(value, unit)
}

/** Temperature above absolute zero, in 1/36 kelvin and in the steps of a decimal. */
function heatOf({ unit, value }: Quantity): bigint | undefined {
  const known = SCALES.get(unit)
  return known === undefined ? undefined : bigOf(value.units) * known.degree + known.zero
}
