/** A piece of a UCUM code, and its position. */
export interface UnitToken {
  readonly kind: 'operator' | 'number' | 'annotation' | 'unit'
  /** `.`, `/`, `(`, `)`; a number; an annotation with its braces; a unit with its prefix and without its exponent. */
  readonly text: string
  /** Of a unit; absent when none is written. */
  readonly exponent?: string
  /** Place of the first character, from 0. */
  readonly start: number
}

const OPERATORS = './()'

/**
 * Takes a UCUM code apart at its operators and annotations, whether it makes sense or not; `undefined` where an annotation or bracket does
 * not end.
 *
 * @see https://ucum.org/ucum sections 2.1 and 2.2
 */
export function unitTokens(code: string): readonly UnitToken[] | undefined {
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

/** Where the exponent begins. */
function unitEnd(text: string): number {
  let end = text.length
  while (isDigit(text.charAt(end - 1))) end--
  return end < text.length && (text.charAt(end - 1) === '-' || text.charAt(end - 1) === '+') ? end - 1 : end
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9'
}
