import { unescaped, unknownEntity } from '../narrative/allowed-markup.js'
import { emptyToken, readToken, type XhtmlToken } from '../narrative/xhtml-tokens.js'

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
export function namespacesIn({ name, attributes, outer }: XmlElement): ReadonlyMap<string, string> {
  if (name === '') return outer
  const declared = attributes.flatMap((attribute) => {
    const prefix = declaredPrefix(attribute.name)
    return prefix === undefined ? [] : [[prefix, attribute.value] as const]
  })
  return declared.length === 0 ? outer : new Map([...outer, ...declared])
}

/** The prefix that an attribute declares, `''` for the default namespace; `undefined` for one that declares none. */
export function declaredPrefix(attribute: string): string | undefined {
  if (attribute === 'xmlns') return ''
  return attribute.startsWith('xmlns:') ? attribute.slice('xmlns:'.length) : undefined
}

/** A name without its prefix. */
export function localName(name: string): string {
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
