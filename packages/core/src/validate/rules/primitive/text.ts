import { quoted } from '../../../errors/index.js'
import type { PrimitiveProblem } from './primitive-problem.js'

const MAX_STRING = 1024 * 1024
const ID = /^[A-Za-z0-9\-.]{1,64}$/
const CODE_SPACE = /[\t\n\r]|\s\s/

/** string and markdown: any text up to a megabyte that is not blank; white space around it is a warning. */
export function stringProblem(text: string): PrimitiveProblem | undefined {
  if (text.length > MAX_STRING) return { kind: 'primitive-too-long', text: `The text has more than ${MAX_STRING} characters.` }
  const trimmed = text.trim()
  if (trimmed === '') return { kind: 'primitive-empty', text: 'A value must not be blank.' }
  if (trimmed.length === text.length) return undefined
  return { kind: 'primitive-space', text: 'The text begins or ends with white space.', severity: 'warning' }
}

/** code: no white space around it, and single spaces inside. */
export function codeProblem(text: string): PrimitiveProblem | undefined {
  if (text === text.trim() && !CODE_SPACE.test(text)) return undefined
  return { kind: 'primitive-form', text: `${quoted(text)} is not a valid code: it has white space where none is allowed.` }
}

/** id: 1 to 64 letters, digits, hyphens and dots. */
export function idProblem(text: string): PrimitiveProblem | undefined {
  if (ID.test(text)) return undefined
  return { kind: 'id-form', text: `${quoted(text)} is not a valid id: 1 to 64 letters, digits, '-' and '.'.` }
}
