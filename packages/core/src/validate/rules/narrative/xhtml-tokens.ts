/** One piece of XHTML. Offsets are not kept: a finding concerns the whole `div`. */
export type XhtmlToken =
  | { readonly kind: 'open'; readonly name: string; readonly attributes: readonly XhtmlAttribute[]; readonly closed: boolean }
  | { readonly kind: 'close'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string }
  /** What narrative may not have: document types, processing instructions, CDATA, and what is not XML. */
  | { readonly kind: 'fault'; readonly text: string; readonly isMisplaced?: boolean }

/** An attribute of a tag in a narrative. */
export interface XhtmlAttribute {
  readonly name: string
  /** As written, references not resolved. */
  readonly value: string
}

const CLOSING = 62
const ATTRIBUTE = /\s+([A-Za-z_:][\w:.-]*)\s*=\s*("[^"<]*"|'[^'<]*')/y
const TAG_END = /\s*(\/?)>/y

/** A token with the place behind it. */
export interface ScannedToken {
  /** Absent for comments. */
  readonly token?: XhtmlToken
  /** `Infinity` behind a fault, since nothing can be trusted after it. */
  readonly end: number
}

/** The token that begins at a place of XHTML. */
export function xhtmlTokenAt(text: string, at: number): ScannedToken {
  return text.charAt(at) === '<' ? markup(text, at) : plainText(text, at)
}

/** Characters of one text; what is longer is several. */
const MAX_TEXT = 10_000

/** A text up to the next tag, or a part of it with whole references. */
function plainText(text: string, at: number): ScannedToken {
  const part = text.slice(at, at + MAX_TEXT)
  const tag = part.indexOf('<')
  const reference = tag < 0 && part.length === MAX_TEXT ? part.lastIndexOf('&') : -1
  const end = at + (tag >= 0 ? tag : reference > 0 ? reference : part.length)
  return { token: { kind: 'text', text: text.slice(at, end) }, end }
}

function markup(text: string, at: number): ScannedToken {
  if (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 4)
    return end < 0 ? fault('a comment that does not end') : { end: end + 3 }
  }
  if (text.startsWith('</', at)) return closingTag(text, at)
  if (text.startsWith('<!', at)) return fault('a document type or CDATA')
  if (text.startsWith('<?', at)) return instruction(text, at)
  return openingTag(text, at)
}

function instruction(text: string, at: number): ScannedToken {
  const end = text.indexOf('?>', at)
  if (end < 0) return fault('a processing instruction that does not end')
  return { token: { kind: 'fault', text: 'a processing instruction', isMisplaced: true }, end: end + 2 }
}

function closingTag(text: string, at: number): ScannedToken {
  const name = nameAt(text, at + 2)
  if (name === '') return fault('a tag without name')
  const tail = tailAt(text, at + 2 + name.length)
  return tail === undefined || tail.closed ? fault('a tag that does not end') : { token: { kind: 'close', name }, end: tail.end }
}

function openingTag(text: string, at: number): ScannedToken {
  const name = nameAt(text, at + 1)
  if (name === '') return fault("a '<' that begins no tag")
  const attributes: XhtmlAttribute[] = []
  let end = at + 1 + name.length
  while (text.charCodeAt(end) !== CLOSING) {
    const found = match(ATTRIBUTE, text, end)
    if (found === undefined) break
    attributes.push({ name: found[1] ?? '', value: (found[2] ?? '').slice(1, -1) })
    end += found[0].length
  }
  const tail = tailAt(text, end)
  if (tail === undefined) return fault(`a tag '${name}' that is not well-formed`)
  const repeated = repeatedName(attributes)
  if (repeated !== undefined) return fault(`a tag '${name}' with the attribute '${repeated}' twice`)
  return { token: { kind: 'open', name, attributes, closed: tail.closed }, end: tail.end }
}

/** The name that begins at a place, `''` when none does: by character, because there are two of them for every element. Bench `validate`. */
function nameAt(text: string, at: number): string {
  if (!isNameStart(text.charCodeAt(at))) return ''
  let end = at + 1
  while (isNamePart(text.charCodeAt(end))) end++
  return text.slice(at, end)
}

/** `A-Z a-z _ :` */
function isNameStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 58
}

/** The same with digits, `-` and `.` */
function isNamePart(code: number): boolean {
  return isNameStart(code) || (code >= 48 && code <= 57) || code === 45 || code === 46
}

/** The end of a tag, and whether it closes its element. */
function tailAt(text: string, at: number): { readonly closed: boolean; readonly end: number } | undefined {
  if (text.charCodeAt(at) === CLOSING) return { closed: false, end: at + 1 }
  const tail = match(TAG_END, text, at)
  return tail && { closed: tail[1] === '/', end: at + tail[0].length }
}

function repeatedName(attributes: readonly XhtmlAttribute[]): string | undefined {
  if (attributes.length < 2) return undefined
  const seen = new Set<string>()
  return attributes.find(({ name }) => seen.size === seen.add(name).size)?.name
}

/** Sticky expressions start where `lastIndex` says, so every use sets it. */
function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

function fault(text: string): ScannedToken {
  return { token: { kind: 'fault', text }, end: Infinity }
}
