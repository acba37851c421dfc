import { ATTRIBUTES, ELEMENTS } from './allowed-markup.js'

/**
 * One piece of XHTML. The same object is reused for each, because a narrative has thousands: bench `validate`. Members that do not apply to a kind of
 * piece keep their old values.
 */
export interface XhtmlToken {
  /** A fault is content that is not allowed in narratives: document types, processing instructions, CDATA, and anything that is not XML. */
  kind: 'open' | 'close' | 'text' | 'comment' | 'fault'
  start: number
  /** The index after it; `Infinity` for a fault after which reading cannot continue. */
  end: number
  /** The name of a tag, or a description of a fault. */
  name: string
  /** The attributes of an opening tag. */
  attributes: readonly XhtmlAttribute[]
  /** True for an opening tag that closes the element as well. */
  closed: boolean
  /** True for a text of white space only. */
  isBlank: boolean
  /** True for a text with an ampersand. */
  hasReference: boolean
  /** True for a fault after which the XHTML can still be read. */
  isMisplaced: boolean
}

/** Creates a token to read into. */
export function emptyToken(): XhtmlToken {
  const flags = { closed: false, isBlank: true, hasReference: false, isMisplaced: false }
  return { kind: 'text', start: 0, end: 0, name: '', attributes: NO_ATTRIBUTES, ...flags }
}

/** An attribute of a tag in a narrative. */
export interface XhtmlAttribute {
  readonly name: string
  /** As written, references not resolved. */
  readonly value: string
}

const [CLOSING, EQUALS, SLASH, OPENING] = [62, 61, 47, 60]
const [QUOTE, APOSTROPHE] = [34, 39]

/** Reads the piece that begins at an index. */
export function readToken(token: XhtmlToken, text: string, at: number): void {
  token.start = at
  if (text.charCodeAt(at) === OPENING) readMarkup(token, text, at)
  else readText(token, text, at)
}

/** Maximum number of characters of one text; a longer one is split. */
const MAX_TEXT = 10_000

/** Reads a text up to the next tag, or a part of it without splitting a reference. */
function readText(token: XhtmlToken, text: string, start: number): void {
  const limit = Math.min(text.length, start + MAX_TEXT)
  let reference = -1
  let isBlank = true
  let end = start
  for (; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (code === OPENING) break
    if (code === AMPERSAND) reference = end
    if (code > SPACE) isBlank = false
  }
  const isCut = end === start + MAX_TEXT && reference > start
  token.kind = 'text'
  token.end = isCut ? reference : end
  token.isBlank = isCut ? isBlankText(text.slice(start, reference)) : isBlank
  token.hasReference = reference >= 0
}

const AMPERSAND = 38
const SPACE = 32

function isBlankText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > SPACE) return false
  return true
}

function readMarkup(token: XhtmlToken, text: string, at: number): void {
  switch (text.charCodeAt(at + 1)) {
    case SLASH:
      return readClosing(token, text, at)
    case EXCLAMATION:
      return text.startsWith('<!--', at) ? readComment(token, text, at) : fault(token, 'a document type or CDATA')
    case QUESTION:
      return readInstruction(token, text, at)
    default:
      return readOpening(token, text, at)
  }
}

const [EXCLAMATION, QUESTION] = [33, 63]

function readComment(token: XhtmlToken, text: string, at: number): void {
  const end = text.indexOf('-->', at + 4)
  if (end < 0) return fault(token, 'a comment that does not end')
  token.kind = 'comment'
  token.end = end + 3
}

function readInstruction(token: XhtmlToken, text: string, at: number): void {
  const end = text.indexOf('?>', at)
  if (end < 0) return fault(token, 'a processing instruction that does not end')
  fault(token, 'a processing instruction')
  token.isMisplaced = true
  token.end = end + 2
}

function readClosing(token: XhtmlToken, text: string, at: number): void {
  const name = nameAt(text, at + 2)
  if (name === '') return fault(token, 'a tag without name')
  const end = spaceEnd(text, at + 2 + name.length)
  if (text.charCodeAt(end) !== CLOSING) return fault(token, 'a tag that does not end')
  token.kind = 'close'
  token.name = name
  token.end = end + 1
}

/** Reads by character, because a narrative has thousands of tags: bench `validate`. */
function readOpening(token: XhtmlToken, text: string, at: number): void {
  const name = nameAt(text, at + 1)
  if (name === '') return fault(token, "a '<' that begins no tag")
  const start = at + 1 + name.length
  token.kind = 'open'
  token.name = name
  token.attributes = NO_ATTRIBUTES
  token.closed = false
  token.end = start + 1
  if (text.charCodeAt(start) !== CLOSING) readRest(token, text, start)
}

/** Reads the rest of a tag after its name. */
function readRest(token: XhtmlToken, text: string, start: number): void {
  const attributes: XhtmlAttribute[] = []
  const tail = spaceEnd(text, readAttributes(text, start, attributes))
  const closed = text.charCodeAt(tail) === SLASH
  const end = closed ? tail + 1 : tail
  if (text.charCodeAt(end) !== CLOSING) return fault(token, `a tag '${token.name}' that is not well-formed`)
  const repeated = repeatedName(attributes)
  if (repeated !== undefined) return fault(token, `a tag '${token.name}' with the attribute '${repeated}' twice`)
  token.attributes = attributes
  token.closed = closed
  token.end = end + 1
}

const NO_ATTRIBUTES: readonly XhtmlAttribute[] = []

/** Adds the attributes that begin at an index. Returns the index after the last. */
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

/** The index of the quote that ends the value; `undefined` when a `<` comes first, or there is no such quote. */
export function quoteEnd(text: string, open: number): number | undefined {
  const quote = text.charCodeAt(open)
  if (quote !== QUOTE && quote !== APOSTROPHE) return undefined
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === OPENING) return undefined
  }
  return undefined
}

/** The index after white space. */
export function spaceEnd(text: string, at: number): number {
  let end = at
  while (isSpace(text.charCodeAt(end))) end++
  return end
}

const FIRST_OTHER_SPACE = 160
const OTHER_SPACE = /\s/

/** True for white space as `\s` in regular expressions defines it. */
function isSpace(code: number): boolean {
  return code < FIRST_OTHER_SPACE ? code === 32 || (code >= 9 && code <= 13) : OTHER_SPACE.test(String.fromCharCode(code))
}

/** The name that begins at an index, or `''`. Reads by character, because there are two names for every element: bench `validate`. */
export function nameAt(text: string, at: number): string {
  let hash = text.charCodeAt(at)
  if (!isNameStart(hash)) return ''
  let end = at + 1
  for (let code = text.charCodeAt(end); isNamePart(code); code = text.charCodeAt(++end)) hash = (hash * HASH_FACTOR + code) & HASH_BITS
  const usual = USUAL_NAMES[hash]
  return usual !== undefined && usual.length === end - at && text.startsWith(usual, at) ? usual : text.slice(at, end)
}

/** Chosen so that no two names of elements and attributes have the same hash. */
const HASH_FACTOR = 21
const HASH_BITS = 1023

/** A number below 1024 for the name that begins at an index. */
export function hashOf(text: string, start: number): number {
  let hash = text.charCodeAt(start)
  let at = start + 1
  for (let code = text.charCodeAt(at); isNamePart(code); code = text.charCodeAt(++at)) hash = (hash * HASH_FACTOR + code) & HASH_BITS
  return hash & HASH_BITS
}

/** The usual names in narratives, by hash, so that nearly all names are one of these strings, which tables find by identity. */
const USUAL_NAMES: (string | undefined)[] = Array.from({ length: HASH_BITS + 1 }, () => undefined)
for (const name of [...ELEMENTS, ...ATTRIBUTES]) USUAL_NAMES[hashOf(name, 0)] = name

/** `A-Z a-z _ :` */
function isNameStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 58
}

/** `A-Z a-z _ : 0-9 - .` */
function isNamePart(code: number): boolean {
  return isNameStart(code) || (code >= 48 && code <= 57) || code === 45 || code === 46
}

function repeatedName(attributes: readonly XhtmlAttribute[]): string | undefined {
  if (attributes.length < 2) return undefined
  const seen = new Set<string>()
  return attributes.find(({ name }) => seen.size === seen.add(name).size)?.name
}

function fault(token: XhtmlToken, text: string): void {
  token.kind = 'fault'
  token.name = text
  token.isMisplaced = false
  token.end = Infinity
}
