import type { UnitConversion } from '../fhirpath/index.js'
import { UNIT_ATOMS, UNIT_PREFIXES, type UnitAtom } from './atoms.js'
import { unitReader, type UcumLibrary } from './unit-reader.js'

/** Returns the factor that converts an amount from the UCUM unit `from` to the unit `to`; `undefined` if the units are not comparable or unknown. */
export function convertUnit(from: string, to: string): number | undefined {
  if (from === to) return 1
  const [source, target] = [measureOf(from), measureOf(to)]
  return source === undefined || target === undefined || source.kind !== target.kind ? undefined : source.factor / target.factor
}

/**
 * Creates a unit conversion based on `@lhncbc/ucum-lhc`. Common clinical units are converted without the library, which is faster. Units with different
 * zero points, such as degrees Celsius, and units that are not multiples of each other have no factor.
 */
export function ucumConversion(library: UcumLibrary): UnitConversion {
  const reader = unitReader(library)
  const converted = (from: string, amount: number, to: string): number | undefined => {
    const { status, toVal } = library.convertUnitTo(from, amount, to)
    return status === 'succeeded' && toVal !== null && Number.isFinite(toVal) ? toVal : undefined
  }
  return (from, to) => {
    const known = convertUnit(from, to)
    if (known !== undefined) return known
    if (reader.wrongIn(from) !== undefined || reader.wrongIn(to) !== undefined) return undefined
    const [source, target] = [reader.plain(from), reader.plain(to)]
    const [one, two] = [converted(source, 1, target), converted(source, 2, target)]
    return one !== undefined && two !== undefined && Math.abs(two - 2 * one) <= Math.abs(two) * ROUNDING ? one : undefined
  }
}

const ROUNDING = 1e-12

/** A parsed unit: its size in base units, and their kind. */
export interface UnitMeasure {
  readonly factor: number
  /** The base units with their exponents as one text; units with equal texts are comparable. */
  readonly kind: string
}

const MAX_LENGTH = 100
const COMPONENT = /^(?:([1-9]\d{0,8})|10\*([+-]?\d{1,2})|(\D.*?)([+-]?\d)?)$/

/**
 * Parses a UCUM code: atoms with prefixes and exponents, joined by `.` and `/`; annotations in braces count as the number one.
 *
 * @returns `undefined` for codes that are not supported: parentheses, degrees, rare atoms.
 */
export function measureOf(code: string): UnitMeasure | undefined {
  if (code.length > MAX_LENGTH) return undefined
  const exponents = new Map<string, number>()
  let factor = 1
  for (const { text, sign } of componentsOf(code.replace(/\{[^{}]*\}/g, ''))) {
    const part = componentMeasure(text)
    if (part === undefined) return undefined
    factor *= part.factor ** sign
    for (const [unit, exponent] of part.base) exponents.set(unit, (exponents.get(unit) ?? 0) + exponent * sign)
  }
  const kind = [...exponents].filter(([, exponent]) => exponent !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
  return { factor, kind: kind.map(([unit, exponent]) => `${unit}${exponent}`).join('.') }
}

interface Component {
  readonly text: string
  readonly sign: 1 | -1
}

function componentsOf(code: string): readonly Component[] {
  return code
    .split('/')
    .flatMap((part, index) =>
      part.split('.').map((text, place) => ({ text, sign: index > 0 && place === 0 ? (-1 as const) : (1 as const) })),
    )
}

function componentMeasure(text: string): Pick<UnitAtom, 'factor' | 'base'> | undefined {
  if (text === '') return { factor: 1, base: [] }
  const [, number, power, symbol = '', exponent = '1'] = COMPONENT.exec(text) ?? []
  if (number !== undefined) return { factor: Number(number), base: [] }
  if (power !== undefined) return { factor: 10 ** Number(power), base: [] }
  const atom = atomOf(symbol)
  if (atom === undefined) return undefined
  return { factor: atom.factor ** Number(exponent), base: atom.base.map(([unit, own]) => [unit, own * Number(exponent)]) }
}

function atomOf(symbol: string): Pick<UnitAtom, 'factor' | 'base'> | undefined {
  const whole = UNIT_ATOMS.get(symbol)
  if (whole !== undefined) return whole
  for (const length of [1, 2]) {
    const prefix = UNIT_PREFIXES.get(symbol.slice(0, length))
    const atom = UNIT_ATOMS.get(symbol.slice(length))
    if (prefix !== undefined && atom?.isMetric === true) return { factor: prefix * atom.factor, base: atom.base }
  }
  return undefined
}
