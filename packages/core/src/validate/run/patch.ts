import type { FhirNode } from '../../fhirpath/index.js'
import { isObject } from '../../json/index.js'

/** Names of JSON members and array indexes that lead from a node to a place below it. */
export type JsonPath = readonly (string | number)[]

/** An operation of a JSON Patch (RFC 6902); pointers (RFC 6901) start at the validated resource. */
export type PatchOperation =
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'move'; readonly from: string; readonly path: string }

/** A JSON Patch. */
export type JsonPatch = readonly PatchOperation[]

/** JSON Pointer of a node, or of a place below it. */
export function pointerOf(node: FhirNode, ...steps: JsonPath): string {
  return `${pointerTo(node, 'jsonName')}${steps.map(token).join('')}`
}

/** The members of a primitive are in its sibling, `_name`. */
function pointerTo(node: FhirNode, name: 'jsonName' | 'siblingName'): string {
  const { parent, slot, index } = node
  if (parent === undefined || slot === undefined) return ''
  const holder = pointerTo(parent, parent.type.kind === 'primitive' ? 'siblingName' : 'jsonName')
  return `${holder}${token(slot[name])}${index >= 0 ? token(index) : ''}`
}

function token(step: string | number): string {
  return `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Removes a member that carries no information. */
export function removal(node: FhirNode, name: string): JsonPatch {
  return [{ op: 'remove', path: pointerOf(node, name) }]
}

/** Removes an item from a list and from the lists of siblings in `names`. A list that would become empty is removed as a whole. */
export function itemRemoval(node: FhirNode, names: readonly string[], index: number): JsonPatch {
  const holder = isObject(node.value) ? node.value : node.extra
  return names.flatMap((name): JsonPatch => {
    const list = holder?.[name]
    if (!Array.isArray(list) || index >= list.length) return []
    return [{ op: 'remove', path: list.length === 1 ? pointerOf(node, name) : pointerOf(node, name, index) }]
  })
}

/** Removes a node without a value: in a list, its item and the one at the same index of the sibling list; otherwise the member that exists. */
export function nodeRemoval({ parent, slot, index, value }: FhirNode): JsonPatch | undefined {
  if (parent === undefined || slot === undefined) return undefined
  if (index >= 0) return itemRemoval(parent, [slot.jsonName, slot.siblingName], index)
  return removal(parent, value === undefined ? slot.siblingName : slot.jsonName)
}

/** Replaces the value of a node. */
export function replacement(node: FhirNode, value: unknown): JsonPatch {
  return [{ op: 'replace', path: pointerOf(node), value }]
}

/** Renames a member; `undefined` when the new name is taken. */
export function renaming(node: FhirNode, from: string, to: string): JsonPatch | undefined {
  if (isObject(node.value) && Object.hasOwn(node.value, to)) return undefined
  return [{ op: 'move', from: pointerOf(node, from), path: pointerOf(node, to) }]
}

/** Puts the value of a member into a list. The value is moved, not copied, so that numbers keep their digits and patches stay small. */
export function listing(node: FhirNode, name: string): JsonPatch | undefined {
  const aside = pointerOf(node, ASIDE)
  if (isObject(node.value) && Object.hasOwn(node.value, ASIDE)) return undefined
  return [
    { op: 'move', from: pointerOf(node, name), path: aside },
    { op: 'add', path: pointerOf(node, name), value: [] },
    { op: 'move', from: aside, path: pointerOf(node, name, 0) },
  ]
}

/** A temporary name that no element of FHIR has. */
const ASIDE = '#'

/** Replaces a list of one item with the item. */
export function unlisting(node: FhirNode, name: string, list: readonly unknown[]): JsonPatch | undefined {
  if (list.length !== 1 || list[0] === null || Array.isArray(list[0])) return undefined
  return [{ op: 'move', from: pointerOf(node, name, 0), path: pointerOf(node, name) }]
}
