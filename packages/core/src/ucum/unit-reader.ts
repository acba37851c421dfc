import type { UcumLibrary } from './ucum-library.js'
import { unitTokens, type UnitToken } from './unit-tokens.js'

/** Distinguishes valid codes from others, and names them. */
export interface UnitReader {
  /** Why a code is not valid, for people; `undefined` when it is. */
  wrongIn(code: string): string | undefined
  /** The names of the parts of a valid code: `(milligram) / (deciliter)`. */
  nameOf(code: string): string
  /** The code without annotations, which have no meaning; `1` when nothing is left. */
  plain(code: string): string
}

const MAX_LENGTH = 250
/** The library looks codes up in plain objects, so it takes these for units. */
const NO_UNITS = Object.getOwnPropertyNames(Object.prototype)
/** Blanks are not in the specification; they are common in annotations nevertheless. */
const ANNOTATION = /^\{[\x20-\x7a\x7c\x7e]*\}$/
const PLAIN = /^[\x21-\x7e]*$/

/** Reads codes with a library, which is not trusted with what it does not expect. */
export function unitReader(library: UcumLibrary): UnitReader {
  const isUnit = (code: string): boolean => {
    if (/^[1-9][0-9]*$/.test(code)) return true
    const { status, ucumCode, unit } = library.validateUnitString(code)
    return status === 'valid' && ucumCode === code && typeof unit?.code === 'string'
  }
  const wrongIn = (code: string): string | undefined => {
    const tokens = code.length > MAX_LENGTH ? undefined : unitTokens(code)
    if (tokens === undefined)
      return code.length > MAX_LENGTH ? `It is longer than ${MAX_LENGTH} characters` : 'A bracket or brace does not end'
    return unknownPart(tokens, isUnit) ?? (isUnit(withoutAnnotations(tokens)) ? undefined : 'Its parts do not make a unit')
  }
  const symbolName = (symbol: string): string => {
    const name = library.validateUnitString(symbol).unit?.name
    return typeof name === 'string' && name !== '' ? name : symbol
  }
  return {
    wrongIn,
    nameOf: (code) => nameOf(unitTokens(code) ?? [], symbolName),
    plain: (code) => withoutAnnotations(unitTokens(code) ?? []),
  }
}

function unknownPart(tokens: readonly UnitToken[], isUnit: (code: string) => boolean): string | undefined {
  const wrong = tokens.find(({ kind, text }) => {
    if (kind === 'annotation') return !ANNOTATION.test(text)
    return kind === 'unit' && (!PLAIN.test(text) || NO_UNITS.some((name) => text.includes(name)) || !isUnit(text))
  })
  if (wrong === undefined) return tokens.length === 0 ? 'It is empty' : undefined
  return `The ${wrong.kind} '${wrong.text}' is unknown at character ${wrong.start + 1}`
}

/** An annotation alone is a unit, the unity. */
function withoutAnnotations(tokens: readonly UnitToken[]): string {
  return tokens
    .map((token, i) => (token.kind === 'annotation' ? (standsAlone(tokens, i) ? '1' : '') : token.text + (token.exponent ?? '')))
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
