import { quoted } from '../../../errors/index.js'
import type { PrimitiveProblem } from './primitive-problem.js'

const INTEGER = /^-?(?:0|[1-9]\d*)$/
const MAX_INTEGER = 2_147_483_647
const MAX_DIGITS = 18

/** decimal: any JSON number; more than 18 digits are a warning. */
export function decimalProblem(source: string): PrimitiveProblem | undefined {
  if (source.length <= MAX_DIGITS) return undefined
  const mantissa = source.split(/[eE]/, 1)[0] ?? ''
  const digits = mantissa.replace(/\D/g, '').replace(/^0+/, '').length
  if (digits <= MAX_DIGITS) return undefined
  return { kind: 'primitive-range', text: `${quoted(source)} has more than ${MAX_DIGITS} digits.`, severity: 'warning' }
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
  if (INTEGER.test(source) && value >= from && value <= MAX_INTEGER) return undefined
  return { kind: 'primitive-form', text: `${quoted(source)} is not a valid ${type}.` }
}
