import { quoted } from '../../../errors/index.js'
import type { PrimitiveProblem } from './primitive-problem.js'
import { controlProblem } from './controls.js'
import { isPlainText, isVisible, isVisibleText } from './visible.js'

const MAX_STRING = 1024 * 1024
const ID = /^[A-Za-z0-9\-.]{1,64}$/
const HTML_TAG = /<\/?[A-Za-z][A-Za-z0-9-]*[\s/>]/
const WHOLE_TAG = /<\/?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?>/
/** Escaped characters, and code between back ticks. */
const NO_MARKUP = /\\.|`[^`]*`/g
const CODE_SPACE = /[\t\n\r]|\s\s/

/** string: any text up to a megabyte that is not blank; white space around it is a warning, a tag of HTML is noted. */
export function stringProblem(text: string): PrimitiveProblem | undefined {
  const isTrim = (isVisible(text.charCodeAt(0)) && isVisible(text.charCodeAt(text.length - 1))) || text.trim().length === text.length
  if (isTrim && !text.includes('<')) return textProblem(text)
  return textProblem(text) ?? (isTrim ? markupProblem(text) : AROUND)
}

const BLANK: PrimitiveProblem = { kind: 'primitive-empty', text: 'A value must not be blank.' }
const AROUND: PrimitiveProblem = { kind: 'primitive-space', text: 'The text begins or ends with white space.', severity: 'warning' }

function markupProblem(text: string): PrimitiveProblem | undefined {
  const tag = WHOLE_TAG.exec(text)?.[0]
  if (tag === undefined) return undefined
  return { kind: 'string-markup', text: `The text has what looks like a tag of HTML: ${quoted(tag)}.`, severity: 'information' }
}

/** markdown: as string, white space around it is fine; a tag of HTML is a warning. */
export function markdownProblem(text: string): PrimitiveProblem | undefined {
  const problem = textProblem(text)
  const tag = problem === undefined && text.includes('<') ? HTML_TAG.exec(text.replace(NO_MARKUP, ''))?.[0] : undefined
  if (tag === undefined) return problem
  return {
    kind: 'markdown-html',
    text: `The markdown seems to have a tag of HTML in it: ${quoted(tag)}. It is shown as text, not as markup.`,
    severity: 'warning',
  }
}

function textProblem(text: string): PrimitiveProblem | undefined {
  if (text.length > MAX_STRING) return { kind: 'primitive-too-long', text: `The text has more than ${MAX_STRING} characters.` }
  if (isVisible(text.charCodeAt(0)) && isPlainText(text)) return undefined
  return text.trim() === '' ? BLANK : controlProblem(text)
}

/** code: no white space around it, and single spaces inside. */
export function codeProblem(text: string): PrimitiveProblem | undefined {
  if (isVisibleText(text) || (text === text.trim() && !CODE_SPACE.test(text))) return undefined
  return { kind: 'primitive-form', text: `${quoted(text)} is not a valid code: it has white space where none is allowed.` }
}

/** id: 1 to 64 letters, digits, hyphens and dots. */
export function idProblem(text: string): PrimitiveProblem | undefined {
  if (ID.test(text)) return undefined
  return { kind: 'id-form', text: `${quoted(text)} is not a valid id: 1 to 64 letters, digits, '-' and '.'.` }
}
