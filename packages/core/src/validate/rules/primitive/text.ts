import { quoted } from '../../../errors/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { PRIMITIVE_EMPTY, PRIMITIVE_FORM, PRIMITIVE_SPACE, type PrimitiveProblem } from '../../run/primitive-problem.js'

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
/** Invisible characters in a text. */
export const STRING_CONTROL: FindingDefinition = defineFinding('string-control', 'warning', 'invalid', 'Remove the invisible characters.')
/** A text with an unpaired surrogate or U+0000. */
const STRING_ENCODING: FindingDefinition = defineFinding(
  'string-encoding',
  'error',
  'invalid',
  'Replace the character: text in FHIR is Unicode without unpaired surrogates and U+0000.',
)
/** A malformed id. */
export const ID_FORM: FindingDefinition = defineFinding(
  'id-form',
  'error',
  'invalid',
  "Use an id of 1 to 64 letters, digits, '-' and '.'; ids of elements may have other characters, but no white space.",
)

/** The kinds of findings about texts. */
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
/** The start of a tag, as in `<b>`, `</b>` and `<!-- -->`. `<br/>` is left out, because it is usual in markdown. */
const HTML_TAG = /<\/?[A-Za-z][A-Za-z0-9-]*[\s>]|<[!?][A-Za-z-]/
const WHOLE_TAG = /<[A-Za-z]\w*(?:\s[^<>]*)?>/
/** Escaped characters, and code between back ticks. */
const NO_MARKUP = /\\.|`[^`]*`/g
/** White space other than single blanks, including that of Unicode. */
const CODE_SPACE = /[^\P{White_Space} ]| {2}/u

/** string: any text up to a megabyte. A blank text, and white space around a text, are warnings; an HTML tag is reported as information. */
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

/** Reports HTML tags, except a bare tag that stands alone. */
export function markupProblem(text: string): PrimitiveProblem | undefined {
  const found = WHOLE_TAG.exec(text)
  if (found === null) return undefined
  const [tag] = found
  const isRunning = tag.includes('=') || /^<script\b/i.test(tag)
  // A bare tag alone is a placeholder such as `<name>`; in markup another tag ends it.
  if (!isRunning && !text.includes('<', found.index + tag.length)) return undefined
  return {
    finding: STRING_MARKUP,
    text: `The text contains what looks like an embedded HTML tag: ${quoted(tag)}.`,
    severity: 'information',
  }
}

/** markdown: as string, but white space around it is allowed, and an HTML tag is a warning. */
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
  if (text.length > MAX_STRING && charactersIn(text) > MAX_STRING)
    return { finding: PRIMITIVE_TOO_LONG, text: `The text is longer than the maximum of ${MAX_STRING} characters.` }
  if (isVisible(text.charCodeAt(0)) && isPlainText(text)) return undefined
  return text.trim() === '' ? BLANK : characterProblem(text)
}

/** Number of characters in a text. JavaScript counts those of the supplementary planes twice. */
export function charactersIn(text: string): number {
  return text.length - (text.match(/[\u{10000}-\u{10FFFF}]/gu)?.length ?? 0)
}

/** code: no white space around it, and single spaces inside. */
export function codeProblem(text: string): PrimitiveProblem | undefined {
  if (isVisibleText(text)) return undefined
  if (text === text.trim() && !CODE_SPACE.test(text)) return characterProblem(text)
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

/** Control characters, except tab and line breaks, which XML cannot represent. */
const UNSEEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F]/
const DIRECTIONS = /[\u202A-\u202E\u2066-\u2069]/
const DIRECTION = new RegExp(DIRECTIONS, 'g')
/** The character that ends each change of direction. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ...['\u202A', '\u202B', '\u202D', '\u202E'].map((start): [string, string] => [start, '\u202C']),
  ...['\u2066', '\u2067', '\u2068'].map((start): [string, string] => [start, '\u2069']),
])

/** Reports characters that are not allowed in any text of FHIR and that no write accepts. */
export function encodingProblem(text: string): PrimitiveProblem | undefined {
  if (!text.isWellFormed())
    return { finding: STRING_ENCODING, text: 'The text is not well-formed Unicode: it contains an unpaired surrogate.' }
  return text.includes('\u0000') ? { finding: STRING_ENCODING, text: 'The text contains the character U+0000.' } : undefined
}

/** Reports characters that are not allowed, and invisible ones. */
function characterProblem(text: string): PrimitiveProblem | undefined {
  return encodingProblem(text) ?? controlProblem(text)
}

/** Reports invisible characters: controls, and changes of writing direction that are not ended, which can make a text look like another. */
function controlProblem(text: string): PrimitiveProblem | undefined {
  if (UNSEEN.test(text)) return warning('The text contains control characters.')
  return hasOpenDirection(text) ? warning('The text contains a change of text direction that is not closed.') : undefined
}

/** Whether a text contains a change of writing direction that is not ended, which can make what follows look like something else. */
export function hasOpenDirection(text: string): boolean {
  return DIRECTIONS.test(text) && !isBalanced(text)
}

function isBalanced(text: string): boolean {
  const open: string[] = []
  for (const [character] of text.matchAll(DIRECTION)) {
    const end = ENDS.get(character)
    if (end !== undefined) open.push(end)
    else if (open.pop() !== character) return false
  }
  return open.length === 0
}

function warning(text: string): PrimitiveProblem {
  return { finding: STRING_CONTROL, text, severity: 'warning' }
}

/** True for a visible ASCII character, which cannot be white space. */
function isVisible(code: number): boolean {
  return code > 32 && code < 127
}

/** Up to this length, checking each character takes no longer than starting a regular expression: bench `validate`. */
const FEW = 20
const INVISIBLE = /[^!-~]/

/** True for a text of visible ASCII characters only, as most codes and URIs are. */
function isVisibleText(text: string): boolean {
  if (text.length > FEW) return !INVISIBLE.test(text)
  for (let i = 0; i < text.length; i++) if (!isVisible(text.charCodeAt(i))) return false
  return true
}

const SHORT = 1_000
/** Characters that need a closer check: those that are not plain, as defined below, and `<`. */
const NOT_QUIET = /[^\t\n\r -;=-\u1FFF]/

/** True for a short text with nothing to report, decided in one pass: most texts are. */
function isQuietText(text: string): boolean {
  const { length } = text
  return length <= SHORT && isVisible(text.charCodeAt(0)) && isVisible(text.charCodeAt(length - 1)) && !NOT_QUIET.test(text)
}

const NOT_PLAIN = /[^\t\n\r -\u1FFF]/

/** True for a text of visible characters, blanks and line breaks only, without the rare characters from U+2000 on. */
function isPlainText(text: string): boolean {
  return !NOT_PLAIN.test(text)
}

/** A uri, url, canonical, oid or uuid that is malformed, or relative where it must be absolute. */
export const URI_FORM: FindingDefinition = defineFinding(
  'uri-form',
  'error',
  'invalid',
  'Write a URI in the right format, absolute where that is required.',
)

const OID = /^urn:oid:[0-2](?:\.(?:0|[1-9]\d*))+$/
const UUID = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/
const SPACE = /\s/
const [LETTER_O, LETTER_U] = [111, 117]

/** uri: no white space. A text that looks like a URN must be one. */
export function uriProblem(text: string): PrimitiveProblem | undefined {
  if (!isVisibleText(text)) {
    if (SPACE.test(text)) return wrong(text, 'URIs must not contain white space')
    const problem = characterProblem(text)
    if (problem !== undefined) return problem
  }
  if (text.includes('<')) return markupProblem(text)
  const first = text.charCodeAt(0)
  if (first !== LETTER_O && first !== LETTER_U) return undefined
  if (text.startsWith('oid:') || text.startsWith('uuid:')) return wrong(text, `write urn:${text.split(':', 1)[0]}:`)
  if (text.startsWith('urn:oid:') && !OID.test(text)) return wrong(text, 'not a valid OID')
  return text.startsWith('urn:uuid:') ? uuidWarning(text) : undefined
}

/** Checks a UUID. A fragment may follow, which names something inside the identified resource. */
function uuidWarning(text: string): PrimitiveProblem | undefined {
  const fragment = text.indexOf('#')
  const urn = fragment < 0 ? text : text.slice(0, fragment)
  if (UUID.test(urn)) return undefined
  if (!UUID.test(urn.toLowerCase())) return wrong(text, 'not a valid UUID')
  return { finding: URI_FORM, text: `UUIDs must be in lower case: ${quoted(text)}.`, severity: 'warning' }
}

/** canonical: an absolute uri with an optional version, or a fragment for a contained resource. */
export function canonicalProblem(text: string): PrimitiveProblem | undefined {
  // A version is no part of a URN, whose form is checked to its end.
  const end = text.startsWith('urn:') ? text.indexOf('|') : -1
  const problem = end < 0 ? uriProblem(text) : (uriProblem(text.slice(0, end)) ?? uriProblem(text.slice(end)))
  return problem ?? (text.startsWith('#') || isAbsoluteUri(text) ? undefined : wrong(text, 'canonical URLs must be absolute'))
}

/** oid: `urn:oid:` with digits and dots. */
export function oidProblem(text: string): PrimitiveProblem | undefined {
  return OID.test(text) ? undefined : wrong(text, 'an OID starts with urn:oid:')
}

/** uuid: `urn:uuid:` with a lower-case UUID. */
export function uuidProblem(text: string): PrimitiveProblem | undefined {
  return UUID.test(text) ? undefined : wrong(text, 'a UUID starts with urn:uuid: and is in lower case')
}

/** True for a uri with a scheme. */
export function isAbsoluteUri(text: string): boolean {
  return SCHEME.test(text)
}

function wrong(text: string, why: string): PrimitiveProblem {
  return { finding: URI_FORM, text: `${quoted(text)} is not a valid URI: ${why}.` }
}
