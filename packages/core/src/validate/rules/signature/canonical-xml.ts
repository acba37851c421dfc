import { pushSlot, type ElementSlot, type FhirNode } from '../../../fhirpath/index.js'
import { numberTextOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { readXml } from './read-xml.js'
import { canonicalElement, canonicalTag } from './write-xml.js'

const FHIR = 'http://hl7.org/fhir'
const NAMESPACES: ReadonlyMap<string, string> = new Map([['', FHIR]])

/**
 * The XML of a resource that its signature covers: elements in the order of the definition, no white space between them, no comments.
 *
 * @param omitted Names of members of the resource that are left out.
 * @see https://hl7.org/fhir/R4/xml.html#canonical
 */
export function canonicalXml(run: Run, resource: FhirNode, omitted: readonly string[]): string {
  return element(resource.type.name, resource, { declarations: [['xmlns', FHIR]], omitted })

  function element(name: string, node: FhirNode, { declarations = [], omitted: left = [] }: Options = {}): string {
    const attributes: (readonly [name: string, value: string])[] = [...declarations]
    const content: string[] = []
    for (const slot of node.type.members.values()) {
      if (left.includes(slot.jsonName)) continue
      if (isAttribute(node, slot)) attributes.push(...childrenIn(node, slot).map((child) => [slot.jsonName, valueText(child)] as const))
      else content.push(...childrenIn(node, slot).map((child) => member(slot.jsonName, child)))
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
