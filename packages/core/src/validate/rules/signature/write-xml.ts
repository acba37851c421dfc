import { declaredPrefix, localName, namespacesIn, type XmlElement } from './read-xml.js'

/** Which namespaces an element declares that stands alone: those around it, too, or those only that names in it use. */
export type CanonicalXmlMethod = 'inclusive' | 'exclusive'

/**
 * An element in canonical form, without comments.
 *
 * @param written The namespaces that are declared around the place where it is written.
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

/** An element with its attributes, which are in order, and its content, which is canonical. */
export function canonicalTag(name: string, attributes: readonly (readonly [name: string, value: string])[], content: string): string {
  return `<${name}${attributes.map(([attribute, value]) => ` ${attribute}="${canonicalAttribute(value)}"`).join('')}>${content}</${name}>`
}

/** Attributes stand in the order of their namespaces, those without first, and then of their names. */
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
