import {
  ELEMENTS,
  isAllowedAttribute,
  isLoadingStyle,
  unescaped,
  unknownEntity,
  contentProblem,
  elementNamed,
  elementProblems,
  type MarkupElement,
} from './allowed-markup.js'
import { isLinkAttribute, NAMESPACE, type Narrative, type NarrativeLanguage } from './read-narrative.js'
import { hashOf, nameAt, quoteEnd, spaceEnd } from './xhtml-tokens.js'

/** The state of reading a narrative. */
interface PlainReading {
  readonly xhtml: string
  /** Index of the next character. */
  at: number
  readonly open: MarkupElement[]
  /** Number of open paragraphs, and of open elements that take only text and inline elements. */
  paragraphs: number
  phrasing: number
  hasContent: boolean
  isInNamespace: boolean
  /** The language of the outermost element. */
  lang: string | undefined
  xmlLang: string | undefined
  /** Values of `id` and of `a name`. */
  anchors: Set<string> | undefined
}

const [CLOSING, EQUALS, SLASH, OPENING] = [62, 61, 47, 60]
const SPACE = 32

/** The elements allowed in narratives, by the hash of their names. */
const ELEMENTS_BY_HASH: (MarkupElement | undefined)[] = []
for (const name of ELEMENTS) ELEMENTS_BY_HASH[hashOf(name, 0)] = elementNamed(name)

/**
 * The language of a plain narrative: one with nothing to report but perhaps its language, no link to follow, and no part in another language. It is read
 * in one pass that stores nothing else, because nearly all narratives are of that form, and half of a resource is narrative (bench `validate`).
 * `undefined` for what only `readNarrative` can decide.
 */
export function languageIfPlain(text: string): NarrativeLanguage | undefined {
  const xhtml = text.trim()
  if (xhtml.charCodeAt(0) !== OPENING || unknownEntity(xhtml) !== undefined) return undefined
  const state = { hasContent: false, isInNamespace: false, lang: undefined, xmlLang: undefined }
  const reading: PlainReading = { xhtml, at: 0, open: [], paragraphs: 0, phrasing: 0, ...state, anchors: undefined }
  do {
    const isRead = xhtml.charCodeAt(reading.at + 1) === SLASH ? readClosing(reading) : readOpening(reading)
    if (!isRead || !readText(reading)) return undefined
  } while (reading.open.length > 0)
  return reading.at === xhtml.length && reading.hasContent && reading.isInNamespace ? reading : undefined
}

/** Reads up to the next tag. False for misplaced text, and when no tag follows although the outermost element is open. */
function readText(reading: PlainReading): boolean {
  const { xhtml, open } = reading
  if (open.length === 0) return true
  const end = xhtml.indexOf('<', reading.at)
  if (end < 0) return false
  if (end > reading.at) {
    const isBlank = isBlankBetween(xhtml, reading.at, end)
    if (contentProblem(open.at(-1), isBlank) !== undefined) return false
    if (!isBlank) reading.hasContent = true
  }
  reading.at = end
  return true
}

function isBlankBetween(xhtml: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (xhtml.charCodeAt(at) > SPACE) return false
  return true
}

function readClosing(reading: PlainReading): boolean {
  const { xhtml, at } = reading
  const element = reading.open.pop()
  if (element === undefined || !isNameAt(xhtml, at + 2, element.name)) return false
  const end = at + 2 + element.name.length
  if (xhtml.charCodeAt(end) !== CLOSING) return false
  if (element.isPhrasing) reading.phrasing--
  if (element.name === 'p') reading.paragraphs--
  reading.at = end + 1
  return true
}

function isNameAt(xhtml: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) if (xhtml.charCodeAt(start + at) !== name.charCodeAt(at)) return false
  return true
}

function readOpening(reading: PlainReading): boolean {
  const { xhtml, at, open } = reading
  const element = ELEMENTS_BY_HASH[hashOf(xhtml, at + 1)]
  if (element === undefined || !isNameAt(xhtml, at + 1, element.name) || !isInPlace(reading, element)) return false
  reading.at = at + 1 + element.name.length
  if (xhtml.charCodeAt(reading.at) !== CLOSING && !readAttributes(reading, element)) return false
  const closed = xhtml.charCodeAt(reading.at) === SLASH
  reading.at += closed ? 2 : 1
  if (xhtml.charCodeAt(reading.at - 1) !== CLOSING) return false
  if (element.name === 'img') reading.hasContent = true
  if (closed) return true
  open.push(element)
  if (element.isPhrasing) reading.phrasing++
  if (element.name === 'p') reading.paragraphs++
  return true
}

/** Whether an element is allowed at its place: the outermost is a `div`, others follow the rules of HTML. */
function isInPlace({ open, phrasing, paragraphs }: PlainReading, element: MarkupElement): boolean {
  const parent = open.at(-1)
  if (parent === undefined) return element.name === 'div'
  if (element.endsParagraph && paragraphs > 0) return false
  const isNested = element.isNotNested && open.includes(element)
  return elementProblems(element, { parent, isNested, isInPhrasing: phrasing > 0 }).length === 0
}

/** Reads the rest of a tag after its name. */
function readAttributes(reading: PlainReading, element: MarkupElement): boolean {
  const { xhtml } = reading
  const names: string[] = []
  for (;;) {
    const start = spaceEnd(xhtml, reading.at)
    const code = xhtml.charCodeAt(start)
    const isFirst = start > reading.at
    reading.at = start
    if (code === CLOSING || code === SLASH) return true
    const name = isFirst ? nameAt(xhtml, start) : ''
    const quote = start + name.length + 1
    const end = quoteEnd(xhtml, quote)
    if (name === '' || names.includes(name) || xhtml.charCodeAt(quote - 1) !== EQUALS || end === undefined) return false
    names.push(name)
    reading.at = end + 1
    if (!isPlainAttribute(reading, element, { name, value: xhtml.slice(quote + 1, end) })) return false
  }
}

/** Usual links: relative ones, and those with a usual scheme. A fragment alone is excluded, because it must be followed. */
const PLAIN_LINK = /^(?:(?:https?|mailto|tel):[\w/.?=%~+,;@:#-]+|[\w/.?=%~+,;@-][\w/.?=%~+,;@#-]*)$/

function isPlainAttribute(
  reading: PlainReading,
  { name: element }: MarkupElement,
  { name, value }: { name: string; value: string },
): boolean {
  switch (name) {
    case 'class':
      return true
    case 'xmlns':
      if (reading.open.length === 0) reading.isInNamespace = true
      return value === NAMESPACE
    case 'style':
      return !isLoadingStyle(unescaped(value))
    case 'id':
    case 'name':
      return isNewAnchor(reading, value) && isAllowedAttribute(element, name)
    case 'lang':
      reading.lang = value
      return reading.open.length === 0
    case 'xml:lang':
      reading.xmlLang = value
      return reading.open.length === 0
    case 'xml:space':
      return false
    default:
      return isAllowedAttribute(element, name) && (!isLinkAttribute(name) || PLAIN_LINK.test(value))
  }
}

function isNewAnchor(reading: PlainReading, anchor: string): boolean {
  const anchors = (reading.anchors ??= new Set())
  return anchors.size < anchors.add(anchor).size
}

/** Whether a narrative that was read is plain, too: there is nothing to report, no link to follow, and no part with a language of its own. */
export function isUnremarkable(narrative: Narrative): boolean {
  const isRight = narrative.problems.length + narrative.misplaced.length === 0 && !narrative.hasForeignMarkup && narrative.hasContent
  const hasLinks = narrative.fragments.length + narrative.sources.length + narrative.unusualLinks.length > 0
  const isPlain = !narrative.hasSpaceAttribute && narrative.sections.length === 0 && !narrative.ids.values().some((count) => count > 1)
  return isRight && !hasLinks && isPlain
}
