/** Checks UCUM codes, and names their parts. */
interface UnitReader {
  /** Human-readable reason why a code is invalid; `undefined` for a valid code. */
  wrongIn(code: string): string | undefined
  /** The names of the parts of a valid code: `(milligram) / (deciliter)`. */
  nameOf(code: string): string
  /** The name of a unit, or of one unit per another, as people write it: `milligram per deciliter`; `undefined` for any other code. */
  plainNameOf(code: string): string | undefined
  /** The code for the library: without annotations, which have no meaning; `1` if nothing else is left. */
  plain(code: string): string
}

/** Longer codes are invalid. */
export const MAX_LENGTH = 250
/** Names that the library mistakes for units, because it looks codes up in plain objects. */
const NO_UNITS = Object.getOwnPropertyNames(Object.prototype)
/** Allows spaces, which the specification does not, because they are common in annotations. */
const ANNOTATION = /^\{[\x20-\x7a\x7c\x7e]*\}$/
const PLAIN = /^[\x21-\x7e]*$/
/** Units of UCUM 2.2 that the library lacks, with their names. Each is the number one and takes no prefix. */
const LACKING: ReadonlyMap<string, string> = new Map([
  ['[NTU]', 'Nephelometric Turbidity Unit'],
  ['[FNU]', 'Formazin Nephelometric Unit'],
])

/** Reads codes with a library. Input that the library may handle incorrectly is not passed to it. */
export function unitReader(library: UcumLibrary): UnitReader {
  const isUnit = (code: string): boolean => {
    if (/^[1-9][0-9]*$/.test(code) || LACKING.has(code)) return true
    const { status, ucumCode, unit } = library.validateUnitString(code)
    return status === 'valid' && ucumCode === code && ['string', 'number'].includes(typeof unit?.code)
  }
  const nameIn = (symbol: string): string => {
    const lacking = LACKING.get(symbol)
    if (lacking !== undefined) return lacking
    const name = library.validateUnitString(symbol).unit?.name
    return typeof name === 'string' ? name : ''
  }
  const misusesPrefix = (symbol: string): boolean =>
    [...PREFIXES].some(([prefix, name]) => {
      const unit = symbol.slice(prefix.length)
      // The name tells a prefix from a symbol that only begins like one: `cd` is a candela, not a centiday.
      const isPrefixed = symbol.startsWith(prefix) && isUnit(unit) && nameIn(symbol) === `${name}${nameIn(unit)}`
      return isPrefixed && !isMetric(unit)
    })
  const isMetric = (symbol: string): boolean => {
    const { unit } = library.getSpecifiedUnit(symbol, 'validate')
    return unit?.isMetric_ === true || unit?.isBase_ === true
  }
  const isSpecial = (symbol: string): boolean => library.getSpecifiedUnit(symbol, 'validate').unit?.isSpecial_ === true
  const wrongIn = (code: string): string | undefined => {
    const tokens = code.length > MAX_LENGTH ? undefined : unitTokens(code)
    if (tokens === undefined)
      return code.length > MAX_LENGTH ? `It is longer than ${MAX_LENGTH} characters` : 'A bracket or brace does not end'
    const unknown = unknownPart(tokens, { isUnit, misusesPrefix })
    if (unknown !== undefined || isUnit(plainText(tokens))) return unknown
    const special = tokens.find(({ kind, text }) => kind === 'unit' && isSpecial(text))
    return special === undefined
      ? 'Its parts do not make a unit'
      : `The unit '${special.text}' is on a special scale, so it has no exponent and is not multiplied or divided by a unit (UCUM section 21)`
  }
  const symbolName = (symbol: string): string => nameIn(symbol) || symbol
  return {
    wrongIn,
    nameOf: (code) => nameOf(unitTokens(code) ?? [], symbolName),
    plainNameOf: (code) => plainNameOf(unitTokens(code) ?? [], symbolName),
    plain: (code) => plainText(unitTokens(code) ?? []),
  }
}

/** Prefixes with the names that the library gives to them. */
const PREFIXES: ReadonlyMap<string, string> = new Map(
  `Y:yotta Z:zetta E:exa P:peta T:tera G:giga M:mega k:kilo h:hecto da:deka d:deci c:centi m:milli u:micro n:nano p:pico f:femto a:atto z:zepto
  y:yocto Ki:kibi Mi:mebi Gi:gibi Ti:tebi`
    .split(/\s+/)
    .map((entry): [string, string] => [entry.slice(0, entry.indexOf(':')), entry.slice(entry.indexOf(':') + 1)]),
)

interface UnitTests {
  readonly isUnit: (code: string) => boolean
  /** True for a prefix before a unit that is not metric, which the library takes. @see https://ucum.org/ucum section 3.2 */
  readonly misusesPrefix: (symbol: string) => boolean
}

function unknownPart(tokens: readonly UnitToken[], { isUnit, misusesPrefix }: UnitTests): string | undefined {
  if (tokens.length === 0) return 'It is empty'
  const ends = (token?: UnitToken): boolean => token?.kind === 'annotation' || token?.text === ')'
  const isStray = ({ kind, text }: UnitToken, at: number): boolean =>
    ends(tokens[at - 1]) && (kind === 'unit' || kind === 'number' || text === '(')
  const stray = tokens.find(isStray)
  if (stray !== undefined) {
    const found = `${stray.text}${stray.exponent ?? ''}`
    return `After an annotation or a bracket, an operator was expected, but there is '${found}' at character ${stray.start + 1}`
  }
  const empty = tokens.find(({ text }, at) => text === ')' && tokens[at - 1]?.text === '(')
  if (empty !== undefined) return `A unit was expected, but there is ')' at character ${empty.start + 1}`
  const wrong = tokens.find(({ kind, text }) => {
    if (kind === 'annotation') return !ANNOTATION.test(text)
    return kind === 'unit' && (!PLAIN.test(text) || NO_UNITS.some((name) => text.includes(name)) || !isUnit(text))
  })
  if (wrong !== undefined) return `The ${wrong.kind} '${wrong.text}' is unknown at character ${wrong.start + 1}`
  const prefixed = tokens.find(({ kind, text }) => kind === 'unit' && misusesPrefix(text))
  return prefixed && `The unit '${prefixed.text}' has a prefix, which its unit does not take, at character ${prefixed.start + 1}`
}

/** The code without annotations, as the library reads it. An annotation that stands alone is the unit `1`, and so is a unit that the library lacks. */
function plainText(tokens: readonly UnitToken[]): string {
  return tokens
    .map((token, i) => {
      if (token.kind === 'annotation') return standsAlone(tokens, i) ? '1' : ''
      return LACKING.has(token.text) ? '1' : token.text + (token.exponent ?? '')
    })
    .join('')
}

function standsAlone(tokens: readonly UnitToken[], place: number): boolean {
  const before = tokens[place - 1]
  return before === undefined || (before.kind === 'operator' && before.text !== ')')
}

const OPERATOR_TEXTS: ReadonlyMap<string, string> = new Map([
  ['.', ' * '],
  ['/', ' / '],
])

function nameOf(tokens: readonly UnitToken[], symbolName: (symbol: string) => string): string {
  const texts = tokens.map(({ kind, text, exponent }, i) => {
    if (kind === 'operator') return OPERATOR_TEXTS.get(text) ?? text
    if (kind === 'annotation') return standsAlone(tokens, i) ? '1' : ' * 1'
    if (kind === 'number') return text
    return exponent === undefined ? `(${symbolName(text)})` : `(${symbolName(text)} ^ ${exponent})`
  })
  return texts.join('').trim()
}

function plainNameOf([unit, operator, per, ...others]: readonly UnitToken[], symbolName: (symbol: string) => string): string | undefined {
  // The library adds the quantity where a name is ambiguous: `second - time`.
  const nameIn = (token: UnitToken | undefined): string | undefined =>
    token?.kind === 'unit' && token.exponent === undefined ? symbolName(token.text).split(' - ', 1)[0] : undefined
  const first = nameIn(unit)
  if (first === undefined || operator === undefined) return first
  const second = nameIn(per)
  return operator.text === '/' && second !== undefined && others.length === 0 ? `${first} per ${second}` : undefined
}

/** A token of a UCUM code, with its position. */
interface UnitToken {
  readonly kind: 'operator' | 'number' | 'annotation' | 'unit'
  /** `.`, `/`, `(`, `)`; a number; an annotation with its braces; a unit with its prefix and without its exponent. */
  readonly text: string
  /** The exponent of a unit; absent if none is written. */
  readonly exponent?: string
  /** Index of the first character, from 0. */
  readonly start: number
}

const OPERATORS = './()'

/**
 * Splits a UCUM code at its operators and annotations, without checking its meaning; `undefined` if an annotation or bracket is not closed.
 *
 * @see https://ucum.org/ucum sections 2.1 and 2.2
 */
function unitTokens(code: string): readonly UnitToken[] | undefined {
  const tokens: UnitToken[] = []
  for (let start = 0; start < code.length;) {
    const end = tokenEnd(code, start)
    if (end === undefined) return undefined
    tokens.push(tokenOf(code.slice(start, end), start))
    start = end
  }
  return tokens
}

function tokenEnd(code: string, start: number): number | undefined {
  if (OPERATORS.includes(code.charAt(start))) return start + 1
  if (code.charAt(start) === '{') return after(code, '}', start)
  let end: number | undefined = start
  while (end !== undefined && end < code.length && !OPERATORS.includes(code.charAt(end)) && code.charAt(end) !== '{') {
    end = code.charAt(end) === '[' ? after(code, ']', end) : end + 1
  }
  return end
}

function after(code: string, character: string, start: number): number | undefined {
  const place = code.indexOf(character, start)
  return place < 0 ? undefined : place + 1
}

function tokenOf(text: string, start: number): UnitToken {
  if (OPERATORS.includes(text)) return { kind: 'operator', text, start }
  if (text.startsWith('{')) return { kind: 'annotation', text, start }
  if (/^[0-9]+$/.test(text)) return { kind: 'number', text, start }
  const end = unitEnd(text)
  return { kind: 'unit', text: text.slice(0, end), start, ...(end < text.length && { exponent: text.slice(end) }) }
}

/** Index at which the exponent begins. */
function unitEnd(text: string): number {
  let end = text.length
  while (isDigit(text.charAt(end - 1))) end--
  return end < text.length && (text.charAt(end - 1) === '-' || text.charAt(end - 1) === '+') ? end - 1 : end
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9'
}

/** The methods of `UcumLhcUtils` of `@lhncbc/ucum-lhc` that are called: `UcumLhcUtils.getInstance()` implements them. */
export interface UcumLibrary {
  validateUnitString(code: string): {
    readonly status: string
    readonly ucumCode: string | null
    readonly unit?: { readonly code?: unknown; readonly name?: unknown } | null
  }
  getSpecifiedUnit(
    code: string,
    purpose: 'validate',
  ): { readonly unit?: { readonly isMetric_?: unknown; readonly isBase_?: unknown; readonly isSpecial_?: unknown } | null }
  convertToBaseUnits(code: string, amount: number): { readonly status: string; readonly unitToExp?: Readonly<Record<string, number>> }
  convertUnitTo(from: string, amount: number, to: string): { readonly status: string; readonly toVal: number | null }
}
