import { EclError } from '../ecl/index.js'
import { type Expression, normalForm, type NormalForm, parseExpression } from '../expression/expression.js'
import type { SnomedIndex } from '../release/snomed-index.js'

/** An expression that was found to be one. */
export interface KnownExpression {
  /** As it was written. */
  readonly code: string
  readonly expression: Expression
  readonly form: NormalForm
}

/** The expressions that one request has met. They are numbered behind the concepts. */
export interface ExpressionTable {
  readonly count: number
  /** True once it has met what looks like an expression. */
  isUsed(): boolean
  /** The number of an expression, `undefined` when the code is none. */
  find(code: string): number | undefined
  /** Absent for the number of a concept. */
  get(concept: number): KnownExpression | undefined
  /** Why a code is not an expression; `undefined` when it is one, or does not look like one. */
  whyNot(code: string): string | undefined
}

const MAX_LENGTH = 10_000

/** Makes an empty table. */
export function expressionTable(index: SnomedIndex): ExpressionTable {
  const known: KnownExpression[] = []
  const met = new Map<string, number | string>()
  const meet = (code: string): number | string => {
    const read = readExpression(index, code)
    return typeof read === 'string' ? read : index.size + known.push(read) - 1
  }
  const look = (code: string): number | string => {
    const found = met.get(code) ?? meet(code)
    met.set(code, found)
    return found
  }
  return {
    get count() {
      return known.length
    },
    isUsed: () => met.size > 0,
    find(code) {
      const found = looksLikeOne(code) ? look(code) : undefined
      return typeof found === 'number' ? found : undefined
    },
    get: (concept) => (concept < index.size ? undefined : known[concept - index.size]),
    whyNot(code) {
      const found = /[^0-9]/.test(code) ? look(code) : 0
      return typeof found === 'string' ? found : undefined
    },
  }
}

/** What begins otherwise, as the names of properties, is not worth remembering. */
function looksLikeOne(code: string): boolean {
  return /^(?:===|<<<)?\s*[0-9]/.test(code.trimStart()) && /[^0-9]/.test(code)
}

function readExpression(index: SnomedIndex, code: string): KnownExpression | string {
  if (!looksLikeOne(code)) return 'An expression does not begin like this'
  if (code.length > MAX_LENGTH) return `It is longer than ${MAX_LENGTH} characters`
  try {
    const expression = parseExpression(index, code)
    return { code, expression, form: normalForm(index, expression) }
  } catch (error) {
    if (error instanceof EclError) return error.message
    throw error
  }
}
