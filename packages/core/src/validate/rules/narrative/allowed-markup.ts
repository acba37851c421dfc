/**
 * The elements and attributes of narrative.
 *
 * @see https://hl7.org/fhir/R4/narrative.html#xhtml
 */
const ELEMENTS: ReadonlySet<string> = new Set(
  (
    'a abbr acronym address area b bdo big blockquote br caption cite code col colgroup dd dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li map ol ' +
    'p pre q samp small span strong sub sup table tbody td tfoot th thead tr tt ul var'
  ).split(' '),
)

const ANYWHERE: ReadonlySet<string> = new Set(
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

/** True for an element that narrative may have. */
export function isAllowedElement(name: string): boolean {
  return ELEMENTS.has(name)
}

/** True for an attribute that narrative may have on the element. */
export function isAllowedAttribute(element: string, name: string): boolean {
  return ANYWHERE.has(name) || BY_ELEMENT.has(`${element}.${name}`)
}
