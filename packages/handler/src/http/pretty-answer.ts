import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import type { Work } from 'fhir-ops/internal/work'
import { SHORT_TEXT, type Answer } from './answer.js'

/**
 * Lays out an answer. It stays as it is if it is long (people do not read it), if the result would be too long, or if there is no time left: the layout
 * only changes white space, and the work that the answer reports is done.
 */
export async function prettyAnswer(ctx: OperationContext, answer: Answer): Promise<Answer> {
  const isJson = answer.headers.some(([name, value]) => name === 'Content-Type' && value.includes('json'))
  if (!isJson || answer.body === undefined || answer.body.length > SHORT_TEXT) return answer
  try {
    const body = await createPace(ctx).run(prettyJson(answer.body, ctx.limits.maxAnswerBytes))
    return body === undefined ? answer : { ...answer, body }
  } catch (error) {
    if (error instanceof OperationError) return answer
    throw error
  }
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|\{\}|\[\]|[{}[\],:]|[^{}[\],:"]+/g

/** Number of tokens laid out without a pause. */
const PIECE = 2_000

/** Deeper levels are not indented further, which bounds the spaces per line. */
const DEEPEST = 12

/**
 * Lays out JSON in lines without parsing it, so that numbers keep their digits.
 *
 * @param text JSON without white space between tokens.
 * @param maxLength Maximum length of the result in characters.
 * @returns `undefined` if the result would be longer.
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
