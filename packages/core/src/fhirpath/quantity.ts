import { decimal, decimalOf, decimalText, parseDecimal, type Decimal } from './decimal.js'

/** A System.Quantity. `unit` is a UCUM code, or a calendar duration in the singular (`year` ... `millisecond`). */
export interface Quantity {
  readonly kind: 'quantity'
  readonly value: Decimal
  readonly unit: string
}

/** Returns the factor that converts values in the unit `from` to the unit `to`; `undefined` when the units cannot be compared. */
export type UnitConversion = (from: string, to: string) => number | undefined

/** Calendar durations of definite length, with their units in UCUM. */
const DEFINITE: ReadonlyMap<string, string> = new Map([
  ['week', 'wk'],
  ['day', 'd'],
  ['hour', 'h'],
  ['minute', 'min'],
  ['second', 's'],
  ['millisecond', 'ms'],
])

/** Calendar durations whose length depends on the calendar, with the units of UCUM that come nearest. */
const INDEFINITE: ReadonlyMap<string, string> = new Map([
  ['year', 'a'],
  ['month', 'mo'],
])

/** Calendar durations by the units of UCUM that are taken for them. */
export const CALENDAR_OF_UCUM: ReadonlyMap<string, string> = new Map(
  [...INDEFINITE, ...DEFINITE].map(([calendar, ucum]) => [ucum, calendar]),
)

const MS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['wk', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
])

const MONTHS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['year', 12],
  ['month', 1],
])

const CALENDAR_UNITS: ReadonlySet<string> = new Set(CALENDAR_OF_UCUM.values())

/** Returns the calendar duration that a word names, in the singular; `undefined` for any other word. */
export function calendarUnit(word: string): string | undefined {
  const singular = word.endsWith('s') ? word.slice(0, -1) : word
  return CALENDAR_UNITS.has(singular) ? singular : undefined
}

/** Parses `4 days`, `1.5 'mg'`, `10`; `undefined` for any other text. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = /^([+-]?\d{1,30}(?:\.\d{1,30})?)(?:\s{0,9}'([^']{1,100})'|\s{1,9}([a-z]{3,12}))?$/.exec(text)
  const value = parseDecimal(match?.[1] ?? '')
  if (match === null || value === undefined) return undefined
  const [, , ucum, word] = match
  if (word === undefined) return { kind: 'quantity', value, unit: ucum ?? '1' }
  const unit = calendarUnit(word)
  return unit === undefined ? undefined : { kind: 'quantity', value, unit }
}

/** Writes a quantity as its literal. */
export function quantityText({ value, unit }: Quantity): string {
  if (!CALENDAR_UNITS.has(unit)) return `${decimalText(value)} '${unit}'`
  return `${decimalText(value)} ${unit}${value.value === 1 ? '' : 's'}`
}

/** Compares two quantities; `undefined` when their units cannot be compared. Years and months compare only with each other. */
export function compareQuantities(left: Quantity, right: Quantity, convert?: UnitConversion): number | undefined {
  const factor = factorBetween(left.unit, right.unit, convert)
  if (factor === undefined) return undefined
  return decimal(left.value.value * factor, 10).value - decimal(right.value.value, 10).value
}

/** Converts a quantity to another unit; `undefined` when it cannot be converted. */
export function inUnit(quantity: Quantity, unit: string, convert?: UnitConversion): Quantity | undefined {
  const factor = factorBetween(quantity.unit, unit, convert)
  if (factor === undefined) return undefined
  if (factor === 1) return { ...quantity, unit }
  const { value } = decimal(quantity.value.value * factor, CONVERTED_PLACES)
  return { ...quantity, unit, value: decimalOf(value) }
}

/** Decimal places of converted values. */
const CONVERTED_PLACES = 8

/** Converts two quantities to the finer of their units; `undefined` when the units cannot be compared. */
export function inFinerUnit(left: Quantity, right: Quantity, convert?: UnitConversion): readonly [Quantity, Quantity] | undefined {
  const factor = factorBetween(left.unit, right.unit, convert)
  if (factor === undefined) return undefined
  const unit = factor > 1 ? right.unit : left.unit
  return [inUnit(left, unit, convert) ?? left, inUnit(right, unit, convert) ?? right]
}

/** Maximum length of the unit of a product, in characters. */
const MAX_UNIT = 1_000

/** Returns the unit of a product (`sign` 1) or quotient (-1); `undefined` when it is too long. */
export function unitOfProduct(left: string, right: string, sign: 1 | -1): string | undefined {
  if (right === '1') return left
  if (left === '1' && sign === 1) return right
  return left.length + right.length > MAX_UNIT ? undefined : unitProduct(ucumUnit(left), ucumUnit(right), sign)
}

/** The unit of UCUM for a calendar duration in the singular; other units unchanged. */
export function ucumUnit(unit: string): string {
  return DEFINITE.get(unit) ?? INDEFINITE.get(unit) ?? unit
}

/** As `ucumUnit`, but years and months stay as they are, because UCUM's have another length. */
export function definiteUnit(unit: string): string {
  return DEFINITE.get(unit) ?? unit
}

function factorBetween(left: string, right: string, convert: UnitConversion | undefined): number | undefined {
  if (left === right) return 1
  const [from, to] = [definiteUnit(left), definiteUnit(right)]
  const known = ratio(MONTHS_PER_UNIT, from, to) ?? ratio(MS_PER_UNIT, from, to)
  if (known !== undefined || MONTHS_PER_UNIT.has(from) || MONTHS_PER_UNIT.has(to)) return known
  return from === to ? 1 : convert?.(from, to)
}

function ratio(sizes: ReadonlyMap<string, number>, from: string, to: string): number | undefined {
  const [numerator, denominator] = [sizes.get(from), sizes.get(to)]
  return numerator === undefined || denominator === undefined ? undefined : numerator / denominator
}

/** Returns the UCUM unit of a product (`sign` 1) or quotient (-1), with equal parts combined: `cm` times `cm` is `cm2`. */
export function unitProduct(a: string, b: string, sign: 1 | -1): string {
  const exponents = new Map<string, number>()
  addParts(exponents, a, 1)
  addParts(exponents, b, sign)
  const parts = [...exponents].filter(([, exponent]) => exponent !== 0)
  const above = parts.filter(([, exponent]) => exponent > 0).map(([unit, exponent]) => partText(unit, exponent))
  const below = parts.filter(([, exponent]) => exponent < 0).map(([unit, exponent]) => `/${partText(unit, -exponent)}`)
  return (above.join('.') || (below.length === 0 ? '1' : '')) + below.join('')
}

/** An operator and the part of a unit after it. Characters in annotations and brackets are not operators. */
const PART = /([./]?)((?:\{[^{}]*\}|\[[^[\]]*\]|[^./{}[\]])+)/g

/** A part of a unit with all digits of its exponent. */
const EXPONENT = /^(.*?)([+-]?\d{1,9})?$/

function addParts(exponents: Map<string, number>, unit: string, sign: 1 | -1): void {
  const add = (name: string, exponent: number): void => void exponents.set(name, (exponents.get(name) ?? 0) + exponent)
  // A unit with parentheses is kept as one part.
  if (unit.includes('(')) return add(`(${unit})`, sign)
  for (const [, operator, part = ''] of unit.matchAll(PART)) {
    const [, name = '', exponent = '1'] = EXPONENT.exec(part) ?? []
    if (name !== '' || exponent !== '1') add(name, (operator === '/' ? -sign : sign) * Number(exponent))
  }
}

function partText(unit: string, exponent: number): string {
  return exponent === 1 ? unit : `${unit}${exponent}`
}
