import type { UnitConversion } from '../fhirpath/index.js'
import { unitReader, type UcumLibrary } from './unit-reader.js'

/** Returns the factor that converts an amount from the UCUM unit `from` to the unit `to`; `undefined` if the units are not comparable or unknown. */
export function convertUnit(from: string, to: string): number | undefined {
  if (typeof from !== 'string' || typeof to !== 'string') throw new TypeError('convertUnit takes units as texts, such as mg.')
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

/** An atom of UCUM: a factor times base units with exponents. */
interface UnitAtom {
  readonly factor: number
  /** Base units with their exponents; empty for plain numbers. */
  readonly base: readonly (readonly [unit: string, exponent: number])[]
  /** True if the atom allows prefixes. */
  readonly isMetric: boolean
}

const LENGTH: UnitAtom['base'] = [['m', 1]]
const MASS: UnitAtom['base'] = [['g', 1]]
const TIME: UnitAtom['base'] = [['s', 1]]
const VOLUME: UnitAtom['base'] = [['m', 3]]
const NUMBER: UnitAtom['base'] = []
const ENERGY: UnitAtom['base'] = [
  ['g', 1],
  ['m', 2],
  ['s', -2],
]
const PRESSURE: UnitAtom['base'] = [
  ['g', 1],
  ['m', -1],
  ['s', -2],
]

function metric(factor: number, base: UnitAtom['base']): UnitAtom {
  return { factor, base, isMetric: true }
}

function plain(factor: number, base: UnitAtom['base']): UnitAtom {
  return { factor, base, isMetric: false }
}

/**
 * The supported atoms: those of clinical practice. Arbitrary units such as `[IU]` are base units of their own, and so is the mole. Units on special
 * scales, such as degrees Celsius, are not included, because a factor cannot convert them.
 *
 * @see https://ucum.org/ucum
 */
const UNIT_ATOMS: ReadonlyMap<string, UnitAtom> = new Map([
  ['m', metric(1, LENGTH)],
  ['[in_i]', plain(0.0254, LENGTH)],
  ['[ft_i]', plain(0.3048, LENGTH)],
  ['[yd_i]', plain(0.9144, LENGTH)],
  ['[mi_i]', plain(1609.344, LENGTH)],
  ['g', metric(1, MASS)],
  ['t', metric(1e6, MASS)],
  ['[lb_av]', plain(453.59237, MASS)],
  ['[oz_av]', plain(28.349523125, MASS)],
  ['[gr]', plain(0.06479891, MASS)],
  ['s', metric(1, TIME)],
  ['min', plain(60, TIME)],
  ['h', plain(3600, TIME)],
  ['d', plain(86_400, TIME)],
  ['wk', plain(604_800, TIME)],
  ['mo', plain(2_629_800, TIME)],
  ['a', plain(31_557_600, TIME)],
  ['L', metric(1e-3, VOLUME)],
  ['l', metric(1e-3, VOLUME)],
  ['mol', metric(1, [['mol', 1]])],
  ['eq', metric(1, [['mol', 1]])],
  ['K', metric(1, [['K', 1]])],
  ['Hz', metric(1, [['s', -1]])],
  [
    'N',
    metric(1000, [
      ['g', 1],
      ['m', 1],
      ['s', -2],
    ]),
  ],
  ['Pa', metric(1000, PRESSURE)],
  ['bar', metric(1e8, PRESSURE)],
  ['m[Hg]', metric(133_322_000, PRESSURE)],
  ['m[H2O]', metric(9_806_650, PRESSURE)],
  ['J', metric(1000, ENERGY)],
  ['cal', metric(4184, ENERGY)],
  [
    'W',
    metric(1000, [
      ['g', 1],
      ['m', 2],
      ['s', -3],
    ]),
  ],
  [
    'U',
    metric(1 / 60e6, [
      ['mol', 1],
      ['s', -1],
    ]),
  ],
  [
    'kat',
    metric(1, [
      ['mol', 1],
      ['s', -1],
    ]),
  ],
  ['[IU]', metric(1, [['[IU]', 1]])],
  ['[iU]', metric(1, [['[IU]', 1]])],
  ['%', plain(0.01, NUMBER)],
  ['[ppth]', plain(1e-3, NUMBER)],
  ['[ppm]', plain(1e-6, NUMBER)],
])

/** Prefixes of metric atoms. */
const UNIT_PREFIXES: ReadonlyMap<string, number> = new Map([
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
  ['h', 1e2],
  ['da', 1e1],
  ['d', 1e-1],
  ['c', 1e-2],
  ['m', 1e-3],
  ['u', 1e-6],
  ['n', 1e-9],
  ['p', 1e-12],
  ['f', 1e-15],
])
