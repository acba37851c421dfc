import { pushChildren, pushSlot, type ElementSlot, type FhirNode } from '../../fhirpath/index.js'
import { isObject, stringAt } from '../../json/index.js'
import type { JsonPath } from './patch.js'
import type { Run } from './run.js'

/** All nodes of one element in one parent. */
export interface ElementNodes {
  readonly parent: FhirNode
  readonly slot: ElementSlot
  readonly nodes: readonly FhirNode[]
  /** Indexes of forbidden nulls in the list, ascending; there are no nodes for these. */
  readonly nulls: readonly number[]
}

/** The children of a node with a FHIRPath name, in document order. */
export function childrenOf({ model }: Run, node: FhirNode, name: string): readonly FhirNode[] {
  const into: FhirNode[] = []
  pushChildren(model, node, { name, into })
  return into
}

/** The text of a member of a node; `undefined` when it is absent or not a string. */
export function textOf({ value }: FhirNode, name: string): string | undefined {
  return isObject(value) ? stringAt(value, name) : undefined
}

/** True for a resource that R5 calls a CanonicalResource: one with a url and a status, or a NamingSystem. */
export function isCanonicalResource({ type }: FhirNode): boolean {
  return (
    type.kind === 'resource' &&
    type.elements.has('status') &&
    (type.name === 'NamingSystem' || type.elements.get('url')?.[0]?.type === 'uri')
  )
}

/** The node at a path below another. If the types do not know a member on the way, the nearest node above it, with the remaining steps. */
export function nodeAlong({ model }: Run, from: FhirNode, path: JsonPath): { readonly node: FhirNode; readonly rest: JsonPath } {
  let node = from
  for (const [place, step] of path.entries()) {
    if (typeof step === 'number') continue
    const slot = node.type.members.get(step)
    const into: FhirNode[] = []
    if (slot !== undefined) pushSlot(model, node, { slot, into })
    const next = path[place + 1]
    const child = into[typeof next === 'number' ? next : 0]
    if (child === undefined) return { node, rest: path.slice(place) }
    node = child
  }
  return { node, rest: [] }
}

/** The digits of a number as they were written, where that is known. */
export function numberTextOf(run: Run, { parent, slot, index }: FhirNode, value: number): string {
  const text = String(value)
  if (parent === undefined || slot === undefined || !isObject(parent.value)) return text
  const list = parent.value[slot.jsonName]
  const source = Array.isArray(list) ? run.numberText(list, index) : run.numberText(parent.value, slot.jsonName)
  return source ?? text
}
