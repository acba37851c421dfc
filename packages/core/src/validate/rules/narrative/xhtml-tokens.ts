import { ATTRIBUTES, ELEMENTS } from './allowed-markup.js'

/** One piece of XHTML, with the place behind it. Offsets are not kept: a finding concerns the whole `div`. */
export type XhtmlToken = { readonly end: number } & (
  | { readonly kind: 'open'; readonly name: string; readonly attributes: readonly XhtmlAttribute[]; readonly closed: boolean }
  | { readonly kind: 'close'; readonly name: string }
  | { readonly kind: 'text'; readonly start: number; readonly isBlank: boolean; readonly hasReference: boolean }
  | { readonly kind: 'comment' }
  /**
   * What narrative may not have: document types, processing instructions, CDATA, and what is not XML, behind which nothing can be trusted: there
   * `end` is `Infinity`.
   */
  | { readonly kind: 'fault'; readonly text: string; readonly isMisplaced?: boolean }
)

/** An attribute of a tag in a narrative. */
export interface XhtmlAttribute {
  readonly name: string
  /** As written, references not resolved. */
  readonly value: string
}

const [CLOSING, EQUALS, SLASH, OPENING] = [62, 61, 47, 60]
const [QUOTE, APOSTROPHE] = [34, 39]

/** The token that begins at a place of XHTML. */
export function xhtmlTokenAt(text: string, at: number): XhtmlToken {
  return text.charAt(at) === '<' ? markup(text, at) : plainText(text, at)
}

/** Characters of one text; what is longer is several. */
const MAX_TEXT = 10_000

/** A text up to the next tag, or a part of it with whole references. */
function plainText(text: string, start: number): XhtmlToken {
  const limit = Math.min(text.length, start + MAX_TEXT)
  let reference = -1
  let isBlank = true
  let end = start
  for (; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (code === OPENING) return { kind: 'text', start, isBlank, hasReference: reference >= 0, end }
    if (code === AMPERSAND) reference = end
    if (code > SPACE) isBlank = false
  }
  const isCut = end === start + MAX_TEXT && reference > start
  if (!isCut) return { kind: 'text', start, isBlank, hasReference: reference >= 0, end }
  const before = text.slice(start, reference)
  return { kind: 'text', start, isBlank: isBlankText(before), hasReference: before.includes('&'), end: reference }
}

const AMPERSAND = 38
const SPACE = 32

function isBlankText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > SPACE) return false
  return true
}

function markup(text: string, at: number): XhtmlToken {
  switch (text.charAt(at + 1)) {
    case '/':
      return closingTag(text, at)
    case '!':
      return text.startsWith('<!--', at) ? comment(text, at) : fault('a document type or CDATA')
    case '?':
      return instruction(text, at)
    default:
      return openingTag(text, at)
  }
}

function comment(text: string, at: number): XhtmlToken {
  const end = text.indexOf('-->', at + 4)
  return end < 0 ? fault('a comment that does not end') : { kind: 'comment', end: end + 3 }
}

function instruction(text: string, at: number): XhtmlToken {
  const end = text.indexOf('?>', at)
  if (end < 0) return fault('a processing instruction that does not end')
  return { kind: 'fault', text: 'a processing instruction', isMisplaced: true, end: end + 2 }
}

function closingTag(text: string, at: number): XhtmlToken {
  const name = nameAt(text, at + 2)
  if (name === '') return fault('a tag without name')
  const end = spaceEnd(text, at + 2 + name.length)
  return text.charCodeAt(end) === CLOSING ? { kind: 'close', name, end: end + 1 } : fault('a tag that does not end')
}

/** Read by character, because there are thousands in a narrative: bench `validate`. */
function openingTag(text: string, at: number): XhtmlToken {
  const name = nameAt(text, at + 1)
  if (name === '') return fault("a '<' that begins no tag")
  const start = at + 1 + name.length
  const attributes: XhtmlAttribute[] = []
  const after = text.charCodeAt(start) === CLOSING ? start : readAttributes(text, start, attributes)
  const tail = spaceEnd(text, after)
  const closed = text.charCodeAt(tail) === SLASH
  const end = closed ? tail + 1 : tail
  if (text.charCodeAt(end) !== CLOSING) return fault(`a tag '${name}' that is not well-formed`)
  const repeated = repeatedName(attributes)
  if (repeated !== undefined) return fault(`a tag '${name}' with the attribute '${repeated}' twice`)
  return { kind: 'open', name, attributes: attributes.length === 0 ? NO_ATTRIBUTES : attributes, closed, end: end + 1 }
}

const NO_ATTRIBUTES: readonly XhtmlAttribute[] = []

/** Adds the attributes from a place on; gives the place behind the last. */
function readAttributes(text: string, start: number, into: XhtmlAttribute[]): number {
  for (let at = start; ;) {
    const nameStart = spaceEnd(text, at)
    const name = nameStart === at ? '' : nameAt(text, nameStart)
    const equals = spaceEnd(text, nameStart + name.length)
    if (name === '' || text.charCodeAt(equals) !== EQUALS) return at
    const open = spaceEnd(text, equals + 1)
    const close = quoteEnd(text, open)
    if (close === undefined) return at
    into.push({ name, value: text.slice(open + 1, close) })
    at = close + 1
  }
}

/** The place of the quote that ends the value that begins with one; `undefined` where there is a `<` before, or none. */
function quoteEnd(text: string, open: number): number | undefined {
  const quote = text.charCodeAt(open)
  if (quote !== QUOTE && quote !== APOSTROPHE) return undefined
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === OPENING) return undefined
  }
  return undefined
}

/** The place behind white space. */
function spaceEnd(text: string, at: number): number {
  let end = at
  while (isSpace(text.charCodeAt(end))) end++
  return end
}

const FIRST_OTHER_SPACE = 160
const OTHER_SPACE = /\s/

/** As `\s` in regular expressions. */
function isSpace(code: number): boolean {
  return code < FIRST_OTHER_SPACE ? code === 32 || (code >= 9 && code <= 13) : OTHER_SPACE.test(String.fromCharCode(code))
}

/** The name that begins at a place, `''` when none does: by character, because there are two of them for every element. Bench `validate`. */
function nameAt(text: string, at: number): string {
  let hash = text.charCodeAt(at)
  if (!isNameStart(hash)) return ''
  let end = at + 1
  for (let code = text.charCodeAt(end); isNamePart(code); code = text.charCodeAt(++end)) hash = (hash * HASH_FACTOR + code) & HASH_BITS
  const usual = USUAL_NAMES[hash]
  return usual !== undefined && usual.length === end - at && text.startsWith(usual, at) ? usual : text.slice(at, end)
}

const HASH_FACTOR = 31
const HASH_BITS = 1023

function hashOf(name: string): number {
  let hash = name.charCodeAt(0)
  for (let at = 1; at < name.length; at++) hash = (hash * HASH_FACTOR + name.charCodeAt(at)) & HASH_BITS
  return hash
}

/** The names that narratives are made of, by hash, so that nearly all that is read is one of these strings, which tables find by identity. */
const USUAL_NAMES: (string | undefined)[] = Array.from({ length: HASH_BITS + 1 }, () => undefined)
for (const name of [...ELEMENTS, ...ATTRIBUTES]) USUAL_NAMES[hashOf(name)] = name

/** `A-Z a-z _ :` */
function isNameStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 58
}

/** The same with digits, `-` and `.` */
function isNamePart(code: number): boolean {
  return isNameStart(code) || (code >= 48 && code <= 57) || code === 45 || code === 46
}

function repeatedName(attributes: readonly XhtmlAttribute[]): string | undefined {
  if (attributes.length < 2) return undefined
  const seen = new Set<string>()
  return attributes.find(({ name }) => seen.size === seen.add(name).size)?.name
}

function fault(text: string): XhtmlToken {
  return { kind: 'fault', text, end: Infinity }
}
