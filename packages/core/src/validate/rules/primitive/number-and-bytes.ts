import { quoted } from '../../../errors/index.js'
import { PRIMITIVE_FORM, PRIMITIVE_RANGE, PRIMITIVE_SPACE, type PrimitiveProblem } from '../../run/primitive-problem.js'

const INTEGER = /^-?(?:0|[1-9]\d*)$/
const MAX_INTEGER = 2_147_483_647
const MAX_DIGITS = 18

/** decimal: any JSON number; more than 18 digits are a warning. */
export function decimalProblem(source: string): PrimitiveProblem | undefined {
  if (source.length <= MAX_DIGITS) return undefined
  const mantissa = source.split(/[eE]/, 1)[0] ?? ''
  const digits = mantissa.replace(/\D/g, '').replace(/^0+/, '').length
  if (digits <= MAX_DIGITS) return undefined
  return { finding: PRIMITIVE_RANGE, text: `${quoted(source)} has more than ${MAX_DIGITS} digits.`, severity: 'warning', code: 'value' }
}

/** integer: 32 bits, without fraction or exponent. */
export function integerProblem(source: string): PrimitiveProblem | undefined {
  return within(source, { type: 'integer', from: -MAX_INTEGER - 1 })
}

/** unsignedInt: from 0. */
export function unsignedIntProblem(source: string): PrimitiveProblem | undefined {
  return within(source, { type: 'unsignedInt', from: 0 })
}

/** positiveInt: from 1. */
export function positiveIntProblem(source: string): PrimitiveProblem | undefined {
  return within(source, { type: 'positiveInt', from: 1 })
}

function within(source: string, { type, from }: { type: string; from: number }): PrimitiveProblem | undefined {
  const value = Number(source)
  const isSigned = from < 0 || !source.startsWith('-')
  if (INTEGER.test(source) && isSigned && value >= from && value <= MAX_INTEGER) return undefined
  return { finding: PRIMITIVE_FORM, text: `${quoted(source)} is not a valid ${type}.` }
}

const EQUALS = 61
/** 1 for each character of the base64 alphabet. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => (/[A-Za-z0-9+/]/.test(String.fromCharCode(code)) ? 1 : 0))

/**
 * base64Binary: groups of four from the alphabet, with at most two `=` at the end; white space is a warning. A loop, because the published expression
 * backtracks.
 */
export function base64Problem(text: string): PrimitiveProblem | undefined {
  return isPlainBase64(text) ? undefined : problemByCharacter(text)
}

const SHORT = 256
/** Number of characters decoded at a time, a multiple of four. */
const CHUNK = 65_536

/** True for groups of four without white space, as nearly all values are. */
function isPlainBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  let end = text.length
  while (end > text.length - 2 && text.charCodeAt(end - 1) === EQUALS) end--
  if (text.length > SHORT) return isDecoded(text, end)
  for (let i = 0; i < end; i++) if (DIGITS[text.charCodeAt(i)] !== 1) return false
  return true
}

/**
 * Like the loop, by decoding, which is ten times as fast as checking each character: bench `validate`. Decoding skips white space, which leads to fewer
 * octets.
 *
 * @param end The index of the first `=` at the end.
 */
function isDecoded(text: string, end: number): boolean {
  try {
    for (let start = 0; start < text.length; start += CHUNK) {
      const chunk = text.slice(start, start + CHUNK)
      const padding = Math.max(0, start + chunk.length - end)
      if (atob(chunk).length !== (chunk.length / 4) * 3 - padding) return false
    }
    return true
  } catch {
    // `problemByCharacter` determines the problem.
    return false
  }
}

/** True for a text that cannot be decoded even without its white space. */
export function isInvalidBase64(text: string): boolean {
  const problem = base64Problem(text)
  return problem === invalid || problem === UNDECODABLE
}

function problemByCharacter(text: string): PrimitiveProblem | undefined {
  let digits = 0
  let padding = 0
  let spaces = 0
  let isMisplaced = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (isSpace(code)) spaces++
    else if (code === EQUALS) padding++
    else if (isDigit(code)) digits++
    if (padding > 0 && code !== EQUALS && !isSpace(code)) isMisplaced = true
  }
  if ((digits + padding) % 4 !== 0) return invalid
  if (isMisplaced || padding > 2 || digits + padding + spaces < text.length) return UNDECODABLE
  return spaces === 0 ? undefined : { finding: PRIMITIVE_SPACE, text: 'The base64 value contains white space.', severity: 'warning' }
}

/** Complete groups of four that cannot be decoded, because a character is not of base64 or an `=` is not at the end. */
export const UNDECODABLE: PrimitiveProblem = { finding: PRIMITIVE_FORM, text: 'The value is not valid base64: it cannot be decoded.' }

const invalid: PrimitiveProblem = { finding: PRIMITIVE_FORM, text: 'The value is not valid base64.' }

/** Number of octets that a valid base64 text encodes. */
export function base64Length(text: string): number {
  let digits = 0
  for (let i = 0; i < text.length; i++) if (isDigit(text.charCodeAt(i))) digits++
  return Math.floor((digits * 3) / 4)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13
}

function isDigit(code: number): boolean {
  return DIGITS[code] === 1
}
