/** An atom of UCUM: a factor times base units with exponents. */
export interface UnitAtom {
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
export const UNIT_ATOMS: ReadonlyMap<string, UnitAtom> = new Map([
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
export const UNIT_PREFIXES: ReadonlyMap<string, number> = new Map([
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
