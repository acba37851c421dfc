import { quoted } from '../../../errors/index.js'
import { finished, type Work } from '../../../work/index.js'
import {
  isAllowedAttribute,
  isLoadingStyle,
  unescaped,
  unknownEntity,
  contentProblem,
  elementNamed,
  elementProblems,
  type MarkupElement,
  linkProblem,
  schemeOf,
} from './allowed-markup.js'
import { emptyToken, readToken, type XhtmlAttribute, type XhtmlToken } from './xhtml-tokens.js'

/** The namespace of XHTML. */
export const NAMESPACE = 'http://www.w3.org/1999/xhtml'
const LINKS: ReadonlySet<string> = new Set(['href', 'src', 'cite', 'longdesc', 'usemap'])
const ACTIVE_SCHEMES: ReadonlySet<string> = new Set(['javascript', 'vbscript'])
/** Schemes that name something but have no location. */
const LITERAL_SCHEMES: ReadonlySet<string> = new Set(['urn', 'cid'])
const KNOWN_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'mailto', 'tel', 'data'])

/** Number of characters that are read in one go. */
const PIECE = 20_000

/** True for an attribute whose value is a link. */
export function isLinkAttribute(name: string): boolean {
  return LINKS.has(name)
}

/** The attributes `lang` and `xml:lang` of an element. */
export interface NarrativeLanguage {
  readonly lang: string | undefined
  readonly xmlLang: string | undefined
}

/** The content of a narrative, as far as it is checked. */
export interface Narrative {
  readonly problems: readonly string[]
  /** Problems with elements in places where HTML does not allow them. */
  readonly misplaced: readonly string[]
  /** Values of `id` and of `a name`, with the number of their occurrences. */
  readonly ids: ReadonlyMap<string, number>
  /** Links with schemes that few programs know. */
  readonly unusualLinks: readonly string[]
  /** Fragments that links point to. */
  readonly fragments: readonly string[]
  /** Fragments that images and other elements point to. */
  readonly sources: readonly string[]
  /** The language of the outermost element. */
  readonly language: NarrativeLanguage
  /** The languages of the `div`s directly inside the outermost element that state one. */
  readonly sections: readonly NarrativeLanguage[]
  /** True when there is visible content outside of these sections. */
  readonly hasUnsectioned: boolean
  readonly hasSpaceAttribute: boolean
  /** The beginnings of parts directly inside the outermost element that have no class to state their source. */
  readonly unsourced: readonly string[]
  /** False when there is no visible content. */
  readonly hasContent: boolean
  /** True when there are elements or attributes that are not allowed in narratives. */
  readonly hasForeignMarkup: boolean
}

/** An opening tag. */
type OpenTag = Readonly<Pick<XhtmlToken, 'name' | 'attributes' | 'closed'>>

interface Reading {
  readonly xhtml: string
  readonly problems: Set<string>
  readonly misplaced: Set<string>
  readonly unusualLinks: string[]
  readonly open: MarkupElement[]
  /** Number of open elements by name. */
  readonly openCounts: Map<string, number>
  readonly ids: Map<string, number>
  readonly fragments: string[]
  readonly sources: string[]
  readonly sections: NarrativeLanguage[]
  root: OpenTag | undefined
  /** Number of open elements that take only text and inline elements. */
  phrasing: number
  hasContent: boolean
  hasUnsectioned: boolean
  isInSection: boolean
  hasForeignMarkup: boolean
  hasSpaceAttribute: boolean
  readonly unsourced: string[]
}

/**
 * Reads a narrative in one pass, by a tokenizer that resolves no entities and loads nothing.
 *
 * @see https://hl7.org/fhir/R4/narrative.html
 */
export function readNarrative(text: string): Narrative {
  return finished(narrativeWork(text))
}

/** Like `readNarrative`, while other work runs in between. */
export function* narrativeWork(text: string): Work<Narrative> {
  const xhtml = text.trim()
  const reading = emptyReading(xhtml)
  let pause = PIECE
  const token = emptyToken()
  while (token.end < xhtml.length) {
    readToken(token, xhtml, token.end)
    read(reading, token)
    if (token.end < pause) continue
    pause = token.end + PIECE
    yield
  }
  const [unclosed] = reading.open
  if (reading.problems.size === 0 && unclosed !== undefined) reading.problems.add(`The element '${unclosed.name}' is not closed.`)
  if (reading.problems.size === 0) checkWhole(reading)
  return {
    problems: [...reading.problems],
    misplaced: [...reading.misplaced],
    unusualLinks: reading.unusualLinks,
    ids: reading.ids,
    fragments: reading.fragments,
    sources: reading.sources,
    language: languageOf(reading.root?.attributes),
    sections: reading.sections,
    hasUnsectioned: reading.hasUnsectioned,
    hasSpaceAttribute: reading.hasSpaceAttribute,
    unsourced: reading.unsourced,
    hasContent: reading.hasContent || reading.problems.size > 0,
    hasForeignMarkup: reading.hasForeignMarkup,
  }
}

function emptyReading(xhtml: string): Reading {
  const lists = { open: [], fragments: [], sources: [], sections: [], unusualLinks: [], unsourced: [] }
  const flags = { hasContent: false, hasUnsectioned: false, isInSection: false, hasForeignMarkup: false, hasSpaceAttribute: false }
  const tables = { problems: new Set<string>(), misplaced: new Set<string>(), openCounts: new Map(), ids: new Map() }
  return { xhtml, ...lists, ...flags, ...tables, phrasing: 0, root: undefined }
}

function languageOf(attributes: readonly XhtmlAttribute[] | undefined): NarrativeLanguage {
  return { lang: valueOf(attributes, 'lang'), xmlLang: valueOf(attributes, 'xml:lang') }
}

function valueOf(attributes: readonly XhtmlAttribute[] | undefined, name: string): string | undefined {
  return attributes?.find((attribute) => attribute.name === name)?.value
}

function checkWhole({ root, problems }: Reading): void {
  if (root?.name !== 'div') problems.add("A narrative must be one 'div' element.")
  else if (valueOf(root.attributes, 'xmlns') !== NAMESPACE) problems.add(`The 'div' of a narrative must be in the namespace ${NAMESPACE}.`)
}

function read(reading: Reading, token: XhtmlToken): void {
  switch (token.kind) {
    case 'fault':
      ;(token.isMisplaced ? reading.misplaced : reading.problems).add(`The narrative has ${token.name}.`)
      return
    case 'text':
      return readText(reading, token)
    case 'open':
      return readOpening(reading, token)
    case 'close':
      if (close(reading) !== token.name) reading.problems.add(`The element '${quotedName(token.name)}' is closed, but is not open.`)
  }
}

function open({ open: elements, openCounts }: Reading, element: MarkupElement): void {
  elements.push(element)
  if (isCounted(element)) openCounts.set(element.name, (openCounts.get(element.name) ?? 0) + 1)
}

/** Only these elements are counted. */
function isCounted({ name, isNotNested }: MarkupElement): boolean {
  return isNotNested || name === 'p'
}

function close(reading: Reading): string | undefined {
  const element = reading.open.pop()
  if (element === undefined) return undefined
  if (isCounted(element)) reading.openCounts.set(element.name, (reading.openCounts.get(element.name) ?? 0) - 1)
  if (element.isPhrasing) reading.phrasing--
  return element.name
}

function readText(reading: Reading, { start, end, isBlank, hasReference }: XhtmlToken): void {
  if (hasReference) checkEntities(reading, reading.xhtml.slice(start, end))
  const misplaced = contentProblem(reading.open.at(-1), isBlank)
  if (misplaced !== undefined) reading.misplaced.add(misplaced)
  if (isBlank) return
  if (reading.open.length === 1) reading.unsourced.push(reading.xhtml.slice(start, end).trim().slice(0, MAX_SHOWN))
  seeContent(reading)
  if (reading.open.length === 0) reading.problems.add("A narrative must be one 'div' element.")
}

function readOpening(reading: Reading, token: OpenTag): void {
  const element = elementNamed(token.name)
  checkPlace(reading, token, element)
  if (reading.open.length === 1) {
    readSection(reading, token)
    if (!hasSource(token)) reading.unsourced.push(`<${token.name}>`)
  }
  if (token.name === 'img') seeContent(reading)
  for (const attribute of token.attributes) readAttribute(reading, token.name, attribute)
  if (token.attributes.length > 0) readAnchors(reading, token)
  if (token.closed) return
  open(reading, element)
  if (element.isPhrasing) reading.phrasing++
}

function checkPlace(reading: Reading, token: OpenTag, element: MarkupElement): void {
  if (reading.open.length === 0) {
    if (reading.root !== undefined) reading.problems.add("A narrative must be one 'div' element.")
    reading.root ??= { ...token }
  }
  if (!element.isAllowed) refuse(reading, `The element '${quotedName(token.name)}' is not allowed in a narrative.`)
  if (element.endsParagraph && (reading.openCounts.get('p') ?? 0) > 0)
    reading.problems.add(`A paragraph must not contain a '${token.name}'.`)
  const parent = reading.open.at(-1)
  if (parent === undefined) return
  const isNested = element.isNotNested && (reading.openCounts.get(token.name) ?? 0) > 0
  for (const problem of elementProblems(element, { parent, isNested, isInPhrasing: reading.phrasing > 0 })) reading.misplaced.add(problem)
}

const MAX_SHOWN = 30

function hasSource({ attributes }: OpenTag): boolean {
  const classes = valueOf(attributes, 'class')?.split(/\s+/) ?? []
  return classes.some((name) => SOURCES.has(name))
}

const SOURCES: ReadonlySet<string> = new Set(['generated', 'boilerplate', 'original'])

function readSection(reading: Reading, { name, attributes }: { name: string; attributes: readonly XhtmlAttribute[] }): void {
  const language = languageOf(attributes)
  reading.isInSection = name === 'div' && (language.lang !== undefined || language.xmlLang !== undefined)
  if (reading.isInSection) reading.sections.push(language)
}

function seeContent(reading: Reading): void {
  reading.hasContent = true
  if (reading.open.length < 2 || !reading.isInSection) reading.hasUnsectioned = true
}

function readAttribute(reading: Reading, element: string, { name, value }: XhtmlAttribute): void {
  const { problems } = reading
  if (!isAllowedAttribute(element, name))
    refuse(reading, `The attribute '${quotedName(name)}' is not allowed on '${quotedName(element)}' in a narrative.`)
  checkEntities(reading, value)
  if (name === 'xml:space') reading.hasSpaceAttribute = true
  if (name === 'style' && isLoadingStyle(unescaped(value))) problems.add('A style in the narrative loads external content.')
  if (name === 'xmlns' && value !== NAMESPACE && reading.open.length > 0)
    problems.add(`The element '${quotedName(element)}' must be in the namespace ${NAMESPACE}.`)
  if (isLinkAttribute(name)) readLink(reading, { element, name, link: unescaped(value) })
}

/** Counts the anchors of an element: its id and, for a link, its name, which may be the same. */
function readAnchors({ ids }: Reading, { name, attributes }: OpenTag): void {
  const id = valueOf(attributes, 'id')
  const anchor = name === 'a' ? valueOf(attributes, 'name') : undefined
  if (id !== undefined) ids.set(id, (ids.get(id) ?? 0) + 1)
  if (anchor !== undefined && anchor !== id) ids.set(anchor, (ids.get(anchor) ?? 0) + 1)
}

function refuse(reading: Reading, problem: string): void {
  reading.hasForeignMarkup = true
  reading.problems.add(problem)
}

function checkEntities({ problems }: Reading, text: string): void {
  const entity = unknownEntity(text)
  if (entity !== undefined) problems.add(`The narrative contains an unknown entity ${quoted(entity)}.`)
}

interface Link {
  readonly element: string
  readonly name: string
  readonly link: string
}

/** Browsers ignore control characters and blanks in a scheme, so the check does too. */
function readLink(reading: Reading, { element, name, link }: Link): void {
  const plain = link.replace(/[\u0000-\u0020]/g, '')
  if (plain.startsWith('#')) (name === 'href' ? reading.fragments : reading.sources).push(plain.slice(1))
  const isLink = element === 'a' && name === 'href'
  if (isLink || (element === 'img' && name === 'src')) {
    const problem = linkProblem(link)
    if (problem !== undefined) reading.problems.add(`The hyperlink ${quoted(link)} ${problem}.`)
  }
  const scheme = schemeOf(plain)
  if (scheme === undefined || KNOWN_SCHEMES.has(scheme)) return
  if (ACTIVE_SCHEMES.has(scheme) || (isLink && LITERAL_SCHEMES.has(scheme)))
    reading.problems.add(`The hyperlink ${quoted(link)} has a scheme that is not allowed.`)
  else if (isLink) reading.unusualLinks.push(link)
}

function quotedName(name: string): string {
  return quoted(name).slice(1, -1)
}
