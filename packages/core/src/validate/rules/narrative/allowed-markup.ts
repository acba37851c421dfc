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
  (
    'abbr accesskey align axis char charoff class colspan dir headers id lang rowspan scope span style tabindex title valign width xml:lang xml:space ' +
    'height border nowrap bgcolor'
  ).split(' '),
)

const BY_ELEMENT: ReadonlySet<string> = new Set(
  (
    'a.charset a.coords a.href a.hreflang a.name a.rel a.rev a.shape a.type area.alt area.coords area.href area.nohref area.shape blockquote.cite ' +
    'br.clear div.xmlns img.alt img.ismap img.longdesc img.src img.usemap map.name ol.start ol.type q.cite table.cellpadding table.cellspacing ' +
    'table.frame table.rules table.summary td.nowrap ul.type'
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

/** The first unknown character reference, or a bare ampersand; `undefined` when all references are known. */
export function unknownEntity(text: string): string | undefined {
  if (!text.includes('&')) return undefined
  const rest = text.replace(REFERENCE, (whole) => (resolved(whole) === undefined ? `\u0000${whole}` : ''))
  const unknown = /\u0000(&[#\w]+;)/.exec(rest)?.[1]
  return unknown ?? (rest.includes('&') ? '&' : undefined)
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
