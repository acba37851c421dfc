import { quoted } from '../../../errors/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { PRIMITIVE_FORM, PRIMITIVE_EMPTY, PRIMITIVE_SPACE, type PrimitiveProblem } from '../../run/primitive-problem.js'

const PRIMITIVE_TOO_LONG: FindingDefinition = defineFinding(
  'primitive-too-long',
  'error',
  'invalid',
  'Shorten the value, or store it in a Binary or Attachment.',
)
/** Markdown that contains HTML tags. */
export const MARKDOWN_HTML: FindingDefinition = defineFinding(
  'markdown-html',
  'warning',
  'invalid',
  'Write markdown without HTML; tags are displayed as text.',
)
/** A text that contains what looks like an HTML tag. */
export const STRING_MARKUP: FindingDefinition = defineFinding(
  'string-markup',
  'information',
  'invalid',
  'Check that the text is intended; applications that display it must escape the tag.',
)
const STRING_CONTROL: FindingDefinition = defineFinding('string-control', 'warning', 'invalid', 'Remove the invisible characters.')
/** A text with an unpaired surrogate or U+0000. */
export const STRING_ENCODING: FindingDefinition = defineFinding(
  'string-encoding',
  'error',
  'invalid',
  'Replace the character: text in FHIR is Unicode without unpaired surrogates and U+0000.',
)
/** An id that is malformed, occurs twice, or has extensions. */
export const ID_FORM: FindingDefinition = defineFinding(
  'id-form',
  'error',
  'invalid',
  "Use an id of 1 to 64 letters, digits, '-' and '.', without extensions.",
)

/** What is reported about texts. */
export const TEXT_FINDINGS: readonly FindingDefinition[] = [
  STRING_ENCODING,
  PRIMITIVE_TOO_LONG,
  MARKDOWN_HTML,
  STRING_MARKUP,
  STRING_CONTROL,
  ID_FORM,
]

const MAX_STRING = 1024 * 1024
const ID = /^[A-Za-z0-9\-.]{1,64}$/
/** The start of a tag, as in `<b>`, `</b>` and `<!-- -->`; `<br/>` is a habit of those who write markdown. */
const HTML_TAG = /<\/?[A-Za-z][A-Za-z0-9-]*[\s>]|<[!?][A-Za-z-]/
const WHOLE_TAG = /<[A-Za-z]\w*(?:\s[^<>]*)?>/
/** Escaped characters, and code between back ticks. */
const NO_MARKUP = /\\.|`[^`]*`/g
/** White space other than single blanks, also that which only Unicode has. */
const CODE_SPACE = /[^\P{White_Space} ]| {2}/u

/** string: any text up to a megabyte ; one that is blank and white space around it are warnings, a tag of HTML is noted. */
export function stringProblem(text: string): PrimitiveProblem | undefined {
  if (isQuietText(text)) return undefined
  const isTrim = (isVisible(text.charCodeAt(0)) && isVisible(text.charCodeAt(text.length - 1))) || text.trim().length === text.length
  if (isTrim && !text.includes('<')) return textProblem(text)
  return textProblem(text) ?? (isTrim ? markupProblem(text) : AROUND)
}

const BLANK: PrimitiveProblem = { finding: PRIMITIVE_EMPTY, text: 'A value should not be only white space.', severity: 'warning' }
const AROUND: PrimitiveProblem = {
  finding: PRIMITIVE_SPACE,
  text: 'The text should not start or finish with white space.',
  severity: 'warning',
}

/** Tags of HTML, other than a bare one that stands alone. */
export function markupProblem(text: string): PrimitiveProblem | undefined {
  const found = WHOLE_TAG.exec(text)
  if (found === null) return undefined
  const [tag] = found
  const isRunning = tag.includes('=') || /^<script\b/i.test(tag)
  // A bare tag by itself is a placeholder such as `<name>`; markup has another one, which ends it.
  if (!isRunning && !text.includes('<', found.index + tag.length)) return undefined
  return {
    finding: STRING_MARKUP,
    text: `The text contains what looks like an embedded HTML tag: ${quoted(tag)}.`,
    severity: 'information',
  }
}

/** markdown: as string, white space around it is fine; a tag of HTML is a warning. */
export function markdownProblem(text: string): PrimitiveProblem | undefined {
  const problem = textProblem(text)
  const tag = problem === undefined && text.includes('<') ? HTML_TAG.exec(text.replace(NO_MARKUP, ''))?.[0] : undefined
  if (tag === undefined) return problem
  return {
    finding: MARKDOWN_HTML,
    text: `The markdown contains what looks like an embedded HTML tag: ${quoted(tag)}. It is displayed as text, not as markup.`,
    severity: 'warning',
  }
}

function textProblem(text: string): PrimitiveProblem | undefined {
  if (text.length > MAX_STRING)
    return { finding: PRIMITIVE_TOO_LONG, text: `The text is longer than the maximum of ${MAX_STRING} characters.` }
  if (isVisible(text.charCodeAt(0)) && isPlainText(text)) return undefined
  return text.trim() === '' ? BLANK : (encodingProblem(text) ?? controlProblem(text))
}

/** code: no white space around it, and single spaces inside. */
export function codeProblem(text: string): PrimitiveProblem | undefined {
  if (isVisibleText(text)) return undefined
  if (text === text.trim() && !CODE_SPACE.test(text)) return encodingProblem(text)
  return {
    finding: PRIMITIVE_FORM,
    text: `${quoted(text)} is not a valid code: leading, trailing and repeated white space is not allowed.`,
  }
}

/** id: 1 to 64 letters, digits, hyphens and dots. */
export function idProblem(text: string): PrimitiveProblem | undefined {
  if (ID.test(text)) return undefined
  return { finding: ID_FORM, text: `${quoted(text)} is not a valid id: 1 to 64 letters, digits, '-' and '.'.` }
}

/** Control characters but tab and line breaks, which XML cannot carry. */
const UNSEEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F]/
const DIRECTIONS = /[\u202A-\u202E\u2066-\u2069]/
/** What each control of direction is ended by. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ...['\u202A', '\u202B', '\u202D', '\u202E'].map((start): [string, string] => [start, '\u202C']),
  ...['\u2066', '\u2067', '\u2068'].map((start): [string, string] => [start, '\u2069']),
])

/** What no text of FHIR may have, and no write accepts. */
export function encodingProblem(text: string): PrimitiveProblem | undefined {
  if (!text.isWellFormed())
    return { finding: STRING_ENCODING, text: 'The text is not well-formed Unicode: it contains an unpaired surrogate.' }
  return text.includes('\u0000') ? { finding: STRING_ENCODING, text: 'The text contains the character U+0000.' } : undefined
}

/** Finds invisible characters: controls, and changes of the direction of writing that are not closed, which make a text look like another. */
function controlProblem(text: string): PrimitiveProblem | undefined {
  if (UNSEEN.test(text)) return warning('The text contains control characters.')
  return DIRECTIONS.test(text) && !isBalanced(text)
    ? warning('The text contains a change of text direction that is not closed.')
    : undefined
}

function isBalanced(text: string): boolean {
  const open: string[] = []
  for (const character of text) {
    const end = ENDS.get(character)
    if (end !== undefined) open.push(end)
    else if ((character === '\u202C' || character === '\u2069') && open.pop() !== character) return false
  }
  return open.length === 0
}

function warning(text: string): PrimitiveProblem {
  return { finding: STRING_CONTROL, text, severity: 'warning' }
}

/** True for a character of ASCII that can be seen, and so is not white space of any kind. */
function isVisible(code: number): boolean {
  return code > 32 && code < 127
}

/** Where a look at each character takes as long as an expression takes to begin: bench `validate`. */
const FEW = 20
const INVISIBLE = /[^!-~]/

/** True for a text of such characters only. Most codes and URIs are. */
export function isVisibleText(text: string): boolean {
  if (text.length > FEW) return !INVISIBLE.test(text)
  for (let i = 0; i < text.length; i++) if (!isVisible(text.charCodeAt(i))) return false
  return true
}

const SHORT = 1_000
/** What is neither plain, as below, nor fine in a text that has no tags. */
const NOT_QUIET = /[^\t\n\r -;=-\u1FFF]/

/** True for a short text of which there is nothing to say, seen in one pass: most are. */
function isQuietText(text: string): boolean {
  const { length } = text
  return length <= SHORT && isVisible(text.charCodeAt(0)) && isVisible(text.charCodeAt(length - 1)) && !NOT_QUIET.test(text)
}

const NOT_PLAIN = /[^\t\n\r -\u1FFF]/

/** True for a text of which every character is seen, a blank or a break of a line, and none is of the rare ones that come after U+2000. */
function isPlainText(text: string): boolean {
  return !NOT_PLAIN.test(text)
}
