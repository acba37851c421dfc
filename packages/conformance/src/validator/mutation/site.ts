import type { ContentLayer } from 'fhir-ops/content'
import { pathOf, rootNode, type FhirNode, type TypeModel } from 'fhir-ops/fhirpath'
import { pushAllChildren } from 'fhir-ops/internal/fhirpath'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { TYPE_URL } from 'fhir-ops/internal/text'

/** Names and indexes that lead from a resource to a value in it. */
export type JsonPath = readonly (string | number)[]

/** A place in a resource where damage is possible, with its definition in FHIR. */
export interface Site {
  readonly node: FhirNode
  readonly path: JsonPath
  /** FHIRPath of the element with indexes. */
  readonly expression: string
  /** ElementDefinition of the element; absent for the resource itself. */
  readonly element: JsonObject | undefined
  /** ElementDefinitions of its children, by their last step without `[x]`. */
  readonly inside: ReadonlyMap<string, JsonObject>
  /** The code system of a Coding, if all its codes are known. */
  readonly system: JsonObject | undefined
}

/** The types and definitions for finding sites. */
export interface Specification {
  readonly model: TypeModel
  readonly definitions: ContentLayer
}

/** All places of a resource, in document order. */
export async function sitesOf(specification: Specification, resource: JsonObject): Promise<readonly Site[]> {
  const nodes: FhirNode[] = [rootNode(specification.model, resource)]
  for (const node of nodes) pushAllChildren(specification.model, node, nodes)
  return Promise.all(nodes.map((node) => siteOf(specification, node)))
}

async function siteOf(specification: Specification, node: FhirNode): Promise<Site> {
  const outer = node.parent === undefined ? undefined : await elementsOf(specification, node.parent.type.name)
  return {
    node,
    path: jsonPathOf(node),
    expression: pathOf(node),
    element: outer?.get(node.slot?.name ?? ''),
    inside: await elementsOf(specification, node.type.name),
    system: node.type.name === 'Coding' ? await systemOf(specification, node.value) : undefined,
  }
}

async function elementsOf({ definitions }: Specification, type: string): Promise<ReadonlyMap<string, JsonObject>> {
  const [definition] = await definitions.find('StructureDefinition', 'url', TYPE_URL + (type.split('.', 1)[0] ?? ''))
  const elements = objectsAt(objectAt(definition?.resource, 'snapshot'), 'element')
  return new Map(
    elements.flatMap((element) => {
      const path = stringAt(element, 'path') ?? ''
      const end = path.lastIndexOf('.')
      return path.slice(0, end) === type ? [[path.slice(end + 1).replace('[x]', ''), element] as const] : []
    }),
  )
}

async function systemOf({ definitions }: Specification, value: unknown): Promise<JsonObject | undefined> {
  const system = isObject(value) && stringAt(value, 'code') !== undefined ? stringAt(value, 'system') : undefined
  const [definition] = system === undefined ? [] : await definitions.find('CodeSystem', 'url', system)
  return definition?.resource['content'] === 'complete' ? definition.resource : undefined
}

/** The path of a node. Children of a primitive are in its sibling `_name`. */
function jsonPathOf({ parent, slot, index }: FhirNode, name: 'jsonName' | 'siblingName' = 'jsonName'): JsonPath {
  if (parent === undefined || slot === undefined) return []
  const outer = jsonPathOf(parent, parent.type.kind === 'primitive' ? 'siblingName' : 'jsonName')
  return [...outer, slot[name], ...(index < 0 ? [] : [index])]
}
