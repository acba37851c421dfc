import { type ElementSlot, type FhirNode, pushSlot } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import { numberTextOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { unescaped, unknownEntity } from '../narrative/allowed-markup.js'
import { emptyToken, readToken, type XhtmlToken } from '../narrative/xhtml-tokens.js'

/** Members that the canonical forms leave out of the signed Bundle, besides its signature. */
const LEFT_OUT: ReadonlyMap<string, readonly string[]> = new Map([
  ['', []],
  ['#document', ['id', 'meta']],
])

const METHOD = /^http:\/\/hl7\.org\/fhir\/canonicalization\/(json|xml)(#\w{1,20})?$/

/**
 * The text of a Bundle that its signature covers.
 *
 * @returns `undefined` for an unknown canonical form.
 */
export function canonicalForm(run: Run, bundle: FhirNode, method: string): string | undefined {
  const [, format, part = ''] = METHOD.exec(method) ?? []
  const without = LEFT_OUT.get(part)
  if (format === undefined || without === undefined || !isObject(bundle.value)) return undefined
  const omitted = ['signature', ...without]
  return format === 'xml' ? canonicalXml(run, bundle, omitted) : canonicalJson(run, bundle.value, omitted)
}

/** The canonical form of a Bundle whose signature names none. */
export function defaultMethod(format: 'json' | 'xml', bundleType: string | undefined): string {
  return `http://hl7.org/fhir/canonicalization/${format}${bundleType === 'document' ? '#document' : ''}`
}

/**
 * The JSON of a resource that its signature covers: names in order, no white space, numbers as they were written.
 *
 * @param omitted Names of members of the resource that are left out.
 * @see https://hl7.org/fhir/R4/json.html#canonical
 */
function canonicalJson({ numberText }: Run, resource: JsonObject, omitted: readonly string[]): string {
  return textOfObject(resource, omitted)

  function textOfObject(object: JsonObject, left: readonly string[]): string {
    const names = Object.keys(object).filter((name) => !left.includes(name))
    const members = names.toSorted().map((name) => `${JSON.stringify(name)}:${textOf(object[name], object, name)}`)
    return `{${members.join()}}`
  }

  function textOf(value: unknown, parent: object, key: string | number): string {
    if (Array.isArray(value)) return `[${value.map((item, index) => textOf(item, value, index)).join()}]`
    if (isObject(value)) return textOfObject(value, [])
    return (typeof value === 'number' ? numberText(parent, key) : undefined) ?? JSON.stringify(value)
  }
}

const FHIR = 'http://hl7.org/fhir'
const NAMESPACES: ReadonlyMap<string, string> = new Map([['', FHIR]])

/**
 * The XML of a resource that its signature covers: elements in the order of the definition, no white space between them, no comments.
 *
 * @param omitted Names of members of the resource that are left out.
 * @see https://hl7.org/fhir/R4/xml.html#canonical
 */
function canonicalXml(run: Run, resource: FhirNode, omitted: readonly string[]): string {
  return element(resource.type.name, resource, { declarations: [['xmlns', FHIR]], omitted })

  function element(name: string, node: FhirNode, { declarations = [], omitted: left = [] }: Options = {}): string {
    const attributes: (readonly [name: string, value: string])[] = [...declarations]
    const content: string[] = []
    for (const slot of node.type.members.values()) {
      if (left.includes(slot.jsonName)) continue
      for (const child of childrenIn(node, slot)) {
        if (isAttribute(node, slot)) attributes.push([slot.jsonName, valueText(child)])
        else content.push(member(slot.jsonName, child))
      }
    }
    if (node.type.kind === 'primitive' && node.value !== undefined) attributes.push(['value', valueText(node)])
    return canonicalTag(name, attributes, content.join(''))
  }

  function member(name: string, node: FhirNode): string {
    if (node.type.kind === 'resource') return canonicalTag(name, [], element(node.type.name, node))
    return node.type.name === 'xhtml' ? narrative(valueText(node)) : element(name, node)
  }

  function childrenIn(node: FhirNode, slot: ElementSlot): readonly FhirNode[] {
    const into: FhirNode[] = []
    pushSlot(run.model, node, { slot, into })
    return into
  }

  function valueText(node: FhirNode): string {
    return typeof node.value === 'number' ? numberTextOf(run, node, node.value) : String(node.value)
  }
}

interface Options {
  readonly declarations?: readonly (readonly [name: string, value: string])[]
  readonly omitted?: readonly string[]
}

/** A narrative in canonical form; one that is not well-formed is signed as it is. */
function narrative(text: string): string {
  const div = readXml(text, NAMESPACES)
  return div === undefined ? text : canonicalElement(div, 'inclusive', NAMESPACES)
}

/** True for members that are attributes in XML: the id of an element, but not of a resource, and the url of an extension. */
function isAttribute({ type }: FhirNode, { jsonName }: ElementSlot): boolean {
  return (jsonName === 'id' && type.kind !== 'resource') || (jsonName === 'url' && type.name === 'Extension')
}

/** Which namespaces the canonical form of an element declares: all that are in scope, or only those that its names use. */
export type CanonicalXmlMethod = 'inclusive' | 'exclusive'

/**
 * An element in canonical form, without comments.
 *
 * @param written The namespaces that the output already declares around the element.
 * @see https://www.w3.org/TR/xml-c14n/ and https://www.w3.org/TR/xml-exc-c14n/
 */
export function canonicalElement(
  element: XmlElement,
  method: CanonicalXmlMethod,
  written: ReadonlyMap<string, string> = NOTHING_WRITTEN,
): string {
  const namespaces = namespacesIn(element)
  const needed = method === 'inclusive' ? [...namespaces.keys()] : usedPrefixes(element)
  const declared = needed.filter((prefix) => namespaces.get(prefix) !== undefined && namespaces.get(prefix) !== written.get(prefix))
  const within = new Map([...written, ...declared.map((prefix) => [prefix, namespaces.get(prefix) ?? ''] as const)])
  const declarations = declared
    .toSorted()
    .map((prefix) => [prefix === '' ? 'xmlns' : `xmlns:${prefix}`, namespaces.get(prefix) ?? ''] as const)
  const attributes = element.attributes
    .filter(({ name }) => declaredPrefix(name) === undefined)
    .map(({ name, value }) => ({ name, value, order: attributeOrder(name, namespaces) }))
    .toSorted((one, other) => (one.order < other.order ? -1 : 1))
    .map(({ name, value }) => [name, value] as const)
  const content = element.children.map((child) =>
    typeof child === 'string' ? canonicalText(child) : canonicalElement(child, method, within),
  )
  return canonicalTag(element.name, [...declarations, ...attributes], content.join(''))
}

const NOTHING_WRITTEN: ReadonlyMap<string, string> = new Map([['', '']])

/** Writes an element from its attributes, which must be in order, and its canonical content. */
function canonicalTag(name: string, attributes: readonly (readonly [name: string, value: string])[], content: string): string {
  return `<${name}${attributes.map(([attribute, value]) => ` ${attribute}="${canonicalAttribute(value)}"`).join('')}>${content}</${name}>`
}

/** The sort key of an attribute: attributes are ordered by namespace, those without first, and then by name. */
function attributeOrder(name: string, namespaces: ReadonlyMap<string, string>): string {
  const prefix = prefixOf(name)
  return `${prefix === '' ? '' : (namespaces.get(prefix) ?? prefix)} ${localName(name)}`
}

function usedPrefixes({ name, attributes }: XmlElement): readonly string[] {
  const ofAttributes = attributes
    .filter((attribute) => declaredPrefix(attribute.name) === undefined)
    .map((attribute) => prefixOf(attribute.name))
  return [...new Set([prefixOf(name), ...ofAttributes.filter((prefix) => prefix !== '')])]
}

function prefixOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(':')))
}

function canonicalAttribute(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#x9;')
    .replaceAll('\n', '&#xA;')
    .replaceAll('\r', '&#xD;')
}

function canonicalText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#xD;')
}

/** An XML element. */
export interface XmlElement {
  /** The name with its prefix. */
  readonly name: string
  /** Attributes, including declarations of namespaces, with their references resolved. */
  readonly attributes: readonly { readonly name: string; readonly value: string }[]
  /** Elements and texts, with references resolved and without comments. */
  readonly children: readonly (XmlElement | string)[]
  /** The namespaces in the element around it, by prefix; `''` is the default one. */
  readonly outer: ReadonlyMap<string, string>
}

interface OpenElement extends XmlElement {
  readonly children: (XmlElement | string)[]
}

const MAX_DEPTH = 100
/** Maximum number of namespaces at one place, because each element goes through all of them. */
const MAX_NAMESPACES = 50
const DECLARATION = /^\uFEFF?<\?xml\s[^<>?]{0,200}\?>/
const NO_NAMESPACES: ReadonlyMap<string, string> = new Map([['', '']])

/**
 * Reads an XML document with a tokenizer that loads nothing.
 *
 * @param outer Namespaces of the surrounding element.
 * @returns The root element; `undefined` for a document that is not well-formed, has a document type, processing instructions or CDATA, is nested deeper
 *   than 100, or has more than 50 namespaces at one place.
 */
export function readXml(document: string, outer: ReadonlyMap<string, string> = NO_NAMESPACES): XmlElement | undefined {
  const text = document.replace(DECLARATION, '').replaceAll(/\r\n?/g, '\n').trim()
  const top: OpenElement = { name: '', attributes: [], children: [], outer }
  const open = [top]
  const token = emptyToken()
  while (token.end < text.length) {
    readToken(token, text, token.end)
    if (!take(open, token, text)) return undefined
  }
  const [root, ...rest] = top.children
  return open.length === 1 && rest.length === 0 && typeof root === 'object' ? root : undefined
}

/** Adds a token to the tree. False when the document cannot be read. */
function take(open: OpenElement[], token: XhtmlToken, text: string): boolean {
  const parent = open.at(-1)
  if (parent === undefined) return false
  switch (token.kind) {
    case 'fault':
      return false
    case 'comment':
      return true
    case 'close':
      open.pop()
      return open.length > 0 && parent.name === token.name
    case 'text':
      return takeText(parent, { text: text.slice(token.start, token.end), isRoot: open.length === 1 })
    case 'open':
      return takeOpening(open, parent, token)
  }
}

function takeText(parent: OpenElement, { text, isRoot }: { text: string; isRoot: boolean }): boolean {
  if (isRoot) return text.trim() === ''
  if (unknownEntity(text) !== undefined) return false
  const last = parent.children.at(-1)
  if (typeof last === 'string') parent.children[parent.children.length - 1] = last + unescaped(text)
  else parent.children.push(unescaped(text))
  return true
}

function takeOpening(open: OpenElement[], parent: OpenElement, { name, attributes, closed }: XhtmlToken): boolean {
  if (open.length > MAX_DEPTH || attributes.some(({ value }) => unknownEntity(value) !== undefined)) return false
  const resolved = attributes.map((attribute) => ({ name: attribute.name, value: unescaped(attribute.value.replaceAll(/[\t\n]/g, ' ')) }))
  const element: OpenElement = { name, attributes: resolved, children: [], outer: namespacesIn(parent) }
  parent.children.push(element)
  if (!closed) open.push(element)
  return element.outer.size <= MAX_NAMESPACES
}

/** The namespaces within an element. */
function namespacesIn({ name, attributes, outer }: XmlElement): ReadonlyMap<string, string> {
  if (name === '') return outer
  const declared = attributes.flatMap((attribute) => {
    const prefix = declaredPrefix(attribute.name)
    return prefix === undefined ? [] : [[prefix, attribute.value] as const]
  })
  return declared.length === 0 ? outer : new Map([...outer, ...declared])
}

/** The prefix that an attribute declares, `''` for the default namespace; `undefined` for one that declares none. */
function declaredPrefix(attribute: string): string | undefined {
  if (attribute === 'xmlns') return ''
  return attribute.startsWith('xmlns:') ? attribute.slice('xmlns:'.length) : undefined
}

/** A name without its prefix. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** The element at a path of names without prefixes, the first of each name. */
export function elementAlong(from: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined {
  return path.reduce<XmlElement | undefined>((element, name) => element && elementsIn(element, name)[0], from)
}

/** The child elements with a name, without prefix. */
export function elementsIn({ children }: XmlElement, name: string): readonly XmlElement[] {
  return children.filter((child) => typeof child === 'object').filter((child) => localName(child.name) === name)
}

/** The text directly in an element, without that of inner elements. */
export function xmlText({ children }: XmlElement): string {
  return children.filter((child) => typeof child === 'string').join('')
}

/** The value of an attribute. */
export function attributeOf(element: XmlElement | undefined, name: string): string | undefined {
  return element?.attributes.find((attribute) => attribute.name === name)?.value
}
