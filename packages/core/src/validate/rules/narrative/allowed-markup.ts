import { isInvalidBase64 } from '../primitive/number-and-bytes.js'

/**
 * The elements allowed in narratives.
 *
 * @see https://hl7.org/fhir/R4/narrative.html#xhtml
 */
export const ELEMENTS: ReadonlySet<string> = new Set(
  (
    'a abbr acronym address area b bdo big blockquote br caption cite code col colgroup dd dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li map ol ' +
    'p pre q samp small span strong sub sup table tbody td tfoot th thead tr tt ul var'
  ).split(' '),
)

/** The attributes allowed on any element. */
export const ATTRIBUTES: ReadonlySet<string> = new Set(
  'abbr accesskey align axis char charoff class colspan dir headers id lang rowspan scope span style tabindex title valign width xml:lang xml:space'.split(
    ' ',
  ),
)

const BY_ELEMENT: ReadonlySet<string> = new Set(
  (
    'a.charset a.coords a.href a.hreflang a.name a.rel a.rev a.shape a.type area.alt area.coords area.href area.nohref area.shape blockquote.cite ' +
    'br.clear div.xmlns img.alt img.ismap img.longdesc img.src img.usemap map.name ol.start ol.type q.cite table.cellpadding table.cellspacing ' +
    'table.frame table.rules table.summary table.border img.border img.height td.height th.height td.nowrap th.nowrap ul.type ' +
    'table.bgcolor tr.bgcolor td.bgcolor th.bgcolor'
  ).split(' '),
)

/** True for an attribute that is allowed on the element. */
export function isAllowedAttribute(element: string, name: string): boolean {
  return ATTRIBUTES.has(name) || name === 'xmlns' || name.startsWith('xmlns:') || BY_ELEMENT.has(`${element}.${name}`)
}

const PREDEFINED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['apos', "'"],
  ['gt', '>'],
  ['lt', '<'],
  ['quot', '"'],
])

const REFERENCE = /&(?:#\d{1,7}|#x[0-9A-Fa-f]{1,6}|\w{1,32});/g

/** A reference at an index. */
const REFERENCE_HERE = new RegExp(REFERENCE.source, 'y')

/** The first unknown character reference, or else a bare ampersand; `undefined` when all references are known. */
export function unknownEntity(text: string): string | undefined {
  let bare: string | undefined
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    REFERENCE_HERE.lastIndex = at
    const reference = REFERENCE_HERE.exec(text)?.[0]
    if (reference === undefined) bare = '&'
    else if (resolved(reference) === undefined) return reference
  }
  return bare
}

/** Resolves the references in a text, once. */
export function unescaped(text: string): string {
  return !text.includes('&') ? text : text.replace(REFERENCE, (whole) => resolved(whole) ?? whole)
}

/** The meaning of one reference, from `&` to `;`. */
function resolved(reference: string): string | undefined {
  const name = reference.slice(1, -1)
  if (!name.startsWith('#')) return PREDEFINED.get(name)
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return isOfXml(code) ? String.fromCodePoint(code) : undefined
}

/** @see https://www.w3.org/TR/xml/#charsets */
function isOfXml(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd
  return code < 0xd800 || (code > 0xdfff && code < 0xfffe) || (code > 0xffff && code <= 0x10ffff)
}

/** Relative urls and `data:` are allowed, because tables of HL7's tools have such images. */
const MAY_LOAD = /[(\\]/
const LOADING = /expression\(|url\((?!data:)(?:[a-z][a-z0-9+.-]{0,20}:|[/\\]{2})/i

/** True for a style that loads something from elsewhere. */
export function isLoadingStyle(style: string): boolean {
  return MAY_LOAD.test(style) && LOADING.test(withoutEscapes(style).replace(/[\s'"]/g, ''))
}

/** @see https://www.w3.org/TR/css-syntax-3/#consume-escaped-code-point */
function withoutEscapes(style: string): string {
  return style.replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, hex?: string, character?: string) =>
    hex === undefined ? (character ?? '') : characterOf(Number.parseInt(hex, 16)),
  )
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD'
}

const TABLE_PARTS = ['tbody', 'thead', 'tfoot'] as const

/** The elements that an element must be a direct child of. HTML also allows `col` in `colgroup`. */
const PARENTS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['tr', ['table', ...TABLE_PARTS]],
  ...TABLE_PARTS.map((name): [string, readonly string[]] => [name, ['table']]),
  ['caption', ['table']],
  ['colgroup', ['table']],
  ['col', ['table', 'colgroup']],
  ['th', ['tr', 'thead', 'tfoot']],
  ['td', ['tr', 'thead', 'tfoot']],
  ['li', ['ul', 'ol']],
  ['dd', ['dl']],
  ['dt', ['dl']],
])

/** The direct children of elements that take no text and no other elements. */
const CHILDREN: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['table', [...TABLE_PARTS, 'tr', 'caption', 'col', 'colgroup']],
  ['tr', ['td', 'th']],
  ...TABLE_PARTS.map((name): [string, readonly string[]] => [name, ['tr']]),
  ['colgroup', ['col']],
  ['ul', ['li']],
  ['ol', ['li']],
  ['dl', ['dd', 'dt']],
  ['map', ['area']],
])

const EMPTY: ReadonlySet<string> = new Set(['br', 'img', 'hr', 'area', 'col'])

/** Elements that must not contain elements of the same name. */
const NOT_NESTED: ReadonlySet<string> = new Set(
  'a b em i strong small big sub sup code tt dfn q var abbr acronym cite bdo kbd samp'.split(' '),
)

const PHRASING: ReadonlySet<string> = new Set([...'p h1 h2 h3 h4 h5 h6 pre address span caption dt'.split(' '), ...NOT_NESTED])

const BLOCKS: ReadonlySet<string> = new Set(['div', 'pre', 'table', 'ul', 'ol'])

/** Elements that end a paragraph in HTML. */
const PARAGRAPH_ENDS: ReadonlySet<string> = new Set(['blockquote', 'div', 'ol', 'p', 'table', 'ul'])

/** The rules of HTML and FHIR for an element. */
export interface MarkupElement {
  readonly name: string
  /** True for an element that is allowed in narratives. */
  readonly isAllowed: boolean
  /** True for an element that must not be inside one of the same name. */
  readonly isNotNested: boolean
  /** True for an element that takes only text and inline elements, no blocks. */
  readonly isPhrasing: boolean
  readonly isBlock: boolean
  /** True for an element that must not be in a paragraph, because it ends one. */
  readonly endsParagraph: boolean
  /** True for an element that takes neither text nor other elements. */
  readonly isEmpty: boolean
  /** The elements that it must be a direct child of; `undefined` when it can be in any. */
  readonly parents: readonly string[] | undefined
  /** Its possible direct children, if it takes no text and no other elements. */
  readonly children: readonly string[] | undefined
}

function elementOf(name: string): MarkupElement {
  return {
    name,
    isAllowed: ELEMENTS.has(name),
    isNotNested: NOT_NESTED.has(name),
    isPhrasing: PHRASING.has(name),
    isBlock: BLOCKS.has(name),
    endsParagraph: PARAGRAPH_ENDS.has(name),
    isEmpty: EMPTY.has(name),
    parents: PARENTS.get(name),
    children: CHILDREN.get(name),
  }
}

const KNOWN: ReadonlyMap<string, MarkupElement> = new Map([...ELEMENTS].map((name) => [name, elementOf(name)]))

/** The element with a name, allowed or not. */
export function elementNamed(name: string): MarkupElement {
  return KNOWN.get(name) ?? elementOf(name)
}

/** The place where an element is opened. */
interface ElementPlace {
  readonly parent: MarkupElement
  /** True inside an element of the same name. */
  readonly isNested: boolean
  /** True inside an element that takes only text and inline elements. */
  readonly isInPhrasing: boolean
}

/**
 * Problems with the place of an element.
 *
 * @see https://www.w3.org/TR/html401/sgml/dtd.html
 */
export function elementProblems(element: MarkupElement, { parent, isNested, isInPhrasing }: ElementPlace): readonly string[] {
  const isInPlace = isPlaced(element, parent)
  const isRepeated = isNested && element.isNotNested
  const isBlockInLine = isInPhrasing && element.isBlock
  if (isInPlace && !isRepeated && !isBlockInLine) return NONE
  const { name } = element
  return [
    ...(isInPlace ? NONE : parentProblems(element, parent)),
    ...(isRepeated ? [`Elements of type '${name}' cannot contain nested '${name}'.`] : NONE),
    ...(isBlockInLine ? [`A paragraph or text element must not contain a block such as '${name}'.`] : NONE),
  ]
}

function isPlaced({ name, parents }: MarkupElement, parent: MarkupElement): boolean {
  if (parent.isEmpty || parents?.includes(parent.name) === false) return false
  return parent.children === undefined || parent.children.includes(name)
}

function parentProblems({ name, parents }: MarkupElement, parent: MarkupElement): readonly string[] {
  const problems: string[] = []
  if (parents?.includes(parent.name) === false)
    problems.push(`Elements of type '${name}' must be in ${parents.join(' or ')}, not in '${parent.name}'.`)
  if (parent.children?.includes(name) === false) problems.push(`Elements of type '${parent.name}' cannot contain '${name}'.`)
  if (parent.isEmpty) problems.push(`Elements of type '${parent.name}' cannot have children.`)
  return problems
}

const NONE: readonly string[] = []

/** The problem with text directly inside an element. */
export function contentProblem(parent: MarkupElement | undefined, isBlank: boolean): string | undefined {
  if (parent === undefined) return undefined
  if (parent.isEmpty) return `Elements of type '${parent.name}' cannot have children.`
  return !isBlank && parent.children !== undefined ? `Elements of type '${parent.name}' cannot contain text.` : undefined
}

/** The scheme of a link, in lower case; `undefined` for a relative one. */
export function schemeOf(link: string): string | undefined {
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(link)?.[1]?.toLowerCase()
}

/** The problem with a link as a URL, as the end of a sentence. */
export function linkProblem(link: string): string | undefined {
  if (link === '') return 'is empty'
  if (link.startsWith('data:')) return embeddedProblem(link.slice('data:'.length))
  const wrong = /[^\p{Alphabetic}\p{Nd};?:@&=+$.,/%\-_~#[\]!'()*|]/u.exec(link)?.[0]
  return wrong === undefined ? undefined : `has the character '${wrong}', which a URL cannot have`
}

/** @see https://www.rfc-editor.org/rfc/rfc2397 */
function embeddedProblem(content: string): string | undefined {
  const [head = '', data, ...rest] = content.split(',')
  if (data === undefined || data === '') return 'embeds no data'
  if (rest.length > 0) return 'has a comma in the data that it embeds'
  const isBase64 = head.endsWith(';base64')
  if (isBase64 && isInvalidBase64(data)) return 'embeds data that is not base64'
  const type = (isBase64 ? head.slice(0, -';base64'.length) : head).trim()
  return type === '' || MEDIA_TYPE.test(type) ? undefined : 'embeds data of an invalid media type'
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:;[^,]*)?$/
