/** One piece of XHTML. Offsets are not kept: a finding concerns the whole `div`. */
export type XhtmlToken =
  | { readonly kind: 'open'; readonly name: string; readonly attributes: readonly XhtmlAttribute[]; readonly closed: boolean }
  | { readonly kind: 'close'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string }
  /** What narrative may not have: document types, processing instructions, CDATA, and what is no XML. */
  | { readonly kind: 'fault'; readonly text: string }

export interface XhtmlAttribute {
  readonly name: string
  /** As written, references not resolved. */
  readonly value: string
}

const NAME = /[A-Za-z_:][\w:.-]*/y
const ATTRIBUTE = /\s+([A-Za-z_:][\w:.-]*)\s*=\s*("[^"<]*"|'[^'<]*')/y
const TAG_END = /\s*(\/?)>/y

/** Takes XHTML apart in one pass; ends with the first fault, since nothing can be trusted after it. */
export function* xhtmlTokens(text: string): Generator<XhtmlToken, void> {
  let at = 0
  while (at < text.length) {
    const { token, end } = text.charAt(at) === '<' ? markup(text, at) : plainText(text, at)
    if (token !== undefined) yield token
    if (token?.kind === 'fault') return
    at = end
  }
}

interface Scanned {
  /** Absent for comments. */
  readonly token?: XhtmlToken
  readonly end: number
}

/** Characters of one text; what is longer is several. */
const MAX_TEXT = 10_000

/** A text up to the next tag, or a part of it with whole references. */
function plainText(text: string, at: number): Scanned {
  const part = text.slice(at, at + MAX_TEXT)
  const tag = part.indexOf('<')
  const reference = tag < 0 && part.length === MAX_TEXT ? part.lastIndexOf('&') : -1
  const end = at + (tag >= 0 ? tag : reference > 0 ? reference : part.length)
  return { token: { kind: 'text', text: text.slice(at, end) }, end }
}

function markup(text: string, at: number): Scanned {
  if (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 4)
    return end < 0 ? fault('a comment that does not end') : { end: end + 3 }
  }
  if (text.startsWith('</', at)) return closingTag(text, at)
  if (text.startsWith('<!', at) || text.startsWith('<?', at)) return fault('a document type, CDATA or processing instruction')
  return openingTag(text, at)
}

function closingTag(text: string, at: number): Scanned {
  const name = match(NAME, text, at + 2)?.[0]
  if (name === undefined) return fault('a tag without name')
  const tail = match(TAG_END, text, at + 2 + name.length)
  return tail === undefined || tail[1] === '/'
    ? fault('a tag that does not end')
    : { token: { kind: 'close', name }, end: at + 2 + name.length + tail[0].length }
}

function openingTag(text: string, at: number): Scanned {
  const name = match(NAME, text, at + 1)?.[0]
  if (name === undefined) return fault("a '<' that begins no tag")
  const attributes: XhtmlAttribute[] = []
  let end = at + 1 + name.length
  for (let found = match(ATTRIBUTE, text, end); found !== undefined; found = match(ATTRIBUTE, text, end)) {
    attributes.push({ name: found[1] ?? '', value: (found[2] ?? '').slice(1, -1) })
    end += found[0].length
  }
  const tail = match(TAG_END, text, end)
  if (tail === undefined) return fault(`a tag '${name}' that is not well-formed`)
  const repeated = repeatedName(attributes)
  if (repeated !== undefined) return fault(`a tag '${name}' with the attribute '${repeated}' twice`)
  return { token: { kind: 'open', name, attributes, closed: tail[1] === '/' }, end: end + tail[0].length }
}

function repeatedName(attributes: readonly XhtmlAttribute[]): string | undefined {
  const seen = new Set<string>()
  return attributes.find(({ name }) => seen.size === seen.add(name).size)?.name
}

/** Sticky expressions start where `lastIndex` says, so every use sets it. */
function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

function fault(text: string): Scanned {
  return { token: { kind: 'fault', text }, end: Infinity }
}
