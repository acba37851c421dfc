import { CALENDAR_OF_UCUM, calendarUnit, definiteUnit, ucumUnit as ucumOfCalendar, unitProduct } from 'fhir-ops/internal/fhirpath'
import { bigOf, decimalOfUnits, placesOf, roundedQuotient } from './decimal.js'
import { quantity, type Quantity } from './value.js'

/** Maximum length of a unit that is analyzed, in characters. */
export const MAX_UNIT = 1_000

/** Returns the factor that converts an amount from the UCUM unit `from` to `to`; `undefined` if they are not comparable. */
export type UnitConversion = (from: string, to: string) => number | undefined

/** Maximum number of factors that are kept for a conversion. A library names few units. */
const MAX_KEPT = 1_000

interface KeptFactors {
  readonly byUnit: Map<string, Map<string, number | null>>
  size: number
}

const kept = new WeakMap<UnitConversion, KeptFactors>()

/** A conversion that keeps its factors, also for other callers. `onNew` is called for each one that it has to find, because units must be parsed for that. */
export function keptConversion(convert: UnitConversion, onNew: () => void): UnitConversion {
  const factors = kept.get(convert) ?? { byUnit: new Map(), size: 0 }
  kept.set(convert, factors)
  return (from, to) => {
    const known = factors.byUnit.get(from)?.get(to)
    if (known !== undefined) return known ?? undefined
    onNew()
    const factor = convert(from, to)
    if (factors.size >= MAX_KEPT) {
      factors.byUnit.clear()
      factors.size = 0
    }
    const ofUnit = factors.byUnit.get(from) ?? new Map<string, number | null>()
    factors.byUnit.set(from, ofUnit.set(to, factor ?? null))
    factors.size++
    return factor
  }
}

/** The calendar unit of durations in a unit: calendar words, and UCUM's `a`, `mo`, `wk`, `d`, `h`, `min`, `s`, `ms`. */
export function durationUnit(unit: string): string | undefined {
  return calendarUnit(unit) ?? CALENDAR_OF_UCUM.get(unit)
}

/**
 * The factor from one unit to another; also for calendar units.
 *
 * Calendar years and months are comparable only with each other: a calendar year is not 365.25 days (CQL author's guide, Quantities).
 *
 * @param calendarIsUcum For equivalence: whether a calendar year counts as `a`, and a calendar month as `mo`.
 */
export function factorBetween(convert: UnitConversion, from: string, to: string, calendarIsUcum = false): number | undefined {
  if (from === to) return 1
  if (Math.max(from.length, to.length) > MAX_UNIT) return undefined
  const [source, target] = plainUnits(from, to, calendarIsUcum)
  if (source === target) return 1
  const [years, months] = [source === 'year' || target === 'year', source === 'month' || target === 'month']
  if (years && months) return source === 'year' ? 12 : 1 / 12
  if (!years && !months) return convert(source, target)
  return calendarIsUcum ? daysFactor(convert, source, target) : undefined
}

function plainUnits(from: string, to: string, calendarIsUcum: boolean): readonly [string, string] {
  const isBoth = calendarIsUcum && (isCalendarPeriod(from) || isCalendarPeriod(to))
  return [plainUnit(from, isBoth), plainUnit(to, isBoth)]
}

/** For equivalence with days and finer units, a calendar year is 365 days and a month 30. */
function daysFactor(convert: UnitConversion, source: string, target: string): number | undefined {
  const [from, to] = [CALENDAR_DAYS.get(source), CALENDAR_DAYS.get(target)]
  if (from !== undefined) return scaled(convert('d', target), from)
  return to === undefined ? undefined : scaled(convert(source, 'd'), 1 / to)
}

const CALENDAR_DAYS: ReadonlyMap<string, number> = new Map([
  ['year', 365],
  ['month', 30],
])

function scaled(factor: number | undefined, by: number): number | undefined {
  return factor === undefined ? undefined : factor * by
}

function isCalendarPeriod(unit: string): boolean {
  return CALENDAR_DAYS.has(calendarUnit(unit) ?? '')
}

function plainUnit(unit: string, calendarIsUcum: boolean): string {
  if (unit === '') return '1'
  const calendar = calendarUnit(unit) ?? (calendarIsUcum && (unit === 'a' || unit === 'mo') ? CALENDAR_OF_UCUM.get(unit) : undefined)
  return definiteUnit(calendar ?? unit)
}

/**
 * The unit of a product (`sign` 1) or quotient (-1) of two amounts, with equal parts combined: `cm` times `cm` is `cm2`. Calendar units become
 * those of UCUM when combined with others.
 */
export function combinedUnit(a: string, b: string, sign: 1 | -1): string {
  if (b === '1') return a
  if (a === '1' && sign === 1) return b
  const key = JSON.stringify([a, b, sign])
  const known = products.get(key)
  if (known !== undefined) return known
  const product = unitProduct(ucumUnit(a), ucumUnit(b), sign)
  if (products.size >= MAX_KEPT) products.clear()
  products.set(key, product)
  return product
}

/** Units of products and quotients that were found before. */
const products = new Map<string, string>()

/** Converts a unit to UCUM. */
export function ucumUnit(unit: string): string {
  return ucumOfCalendar(calendarUnit(unit) ?? unit)
}

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
