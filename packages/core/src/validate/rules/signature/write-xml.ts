import { declaredPrefix, localName, namespacesIn, type XmlElement } from './read-xml.js'

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
export function canonicalTag(name: string, attributes: readonly (readonly [name: string, value: string])[], content: string): string {
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
