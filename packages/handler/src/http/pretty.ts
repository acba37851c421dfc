import type { Work } from 'fhir-ops/internal/work'

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|\{\}|\[\]|[{}[\],:]|[^{}[\],:"]+/g

/** Tokens that are laid out in one go. */
const PIECE = 2_000

/** Deeper levels are not indented further, so that a line costs a bounded number of blanks. */
const DEEPEST = 12

/**
 * Lays JSON out in lines without parsing it, so that numbers keep their digits.
 *
 * @param text JSON without blanks between tokens.
 * @param maxLength Characters that the result may have.
 * @returns `undefined` when it would be longer.
 */
export function* prettyJson(text: string, maxLength: number): Work<string | undefined> {
  const pieces: string[] = []
  let piece = ''
  let length = 0
  let depth = 0
  let tokens = 0
  const line = (): string => `\n${'  '.repeat(Math.min(depth, DEEPEST))}`
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++
    if (token === '}' || token === ']') depth--
    piece += laidOut(token, line)
    if (++tokens % PIECE !== 0) continue
    length += piece.length
    if (length > maxLength) return undefined
    pieces.push(piece)
    piece = ''
    yield
  }
  return length + piece.length > maxLength ? undefined : pieces.join('') + piece
}

function laidOut(token: string, line: () => string): string {
  switch (token) {
    case ':':
      return ': '
    case ',':
    case '{':
    case '[':
      return token + line()
    case '}':
    case ']':
      return line() + token
    default:
      return token
  }
}
