import type { FhirNode } from '../../fhirpath/index.js'
import { isObject } from '../../json/index.js'

/** Names of JSON members and positions in arrays that lead from a node to one below it. */
export type JsonPath = readonly (string | number)[]

/** An operation of a JSON Patch (RFC 6902); pointers (RFC 6901) are from the resource that is validated. */
export type PatchOperation =
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'move'; readonly from: string; readonly path: string }

/** A JSON Patch. */
export type JsonPatch = readonly PatchOperation[]

/** JSON Pointer of a node, or of what is at further steps below it. */
export function pointerOf(node: FhirNode, ...steps: JsonPath): string {
  return `${pointerTo(node, 'jsonName')}${steps.map(token).join('')}`
}

/** What is inside a primitive is in its sibling. */
function pointerTo(node: FhirNode, name: 'jsonName' | 'siblingName'): string {
  const { parent, slot, index } = node
  if (parent === undefined || slot === undefined) return ''
  const holder = pointerTo(parent, parent.type.kind === 'primitive' ? 'siblingName' : 'jsonName')
  return `${holder}${token(slot[name])}${index >= 0 ? token(index) : ''}`
}

function token(step: string | number): string {
  return `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Takes a member away that says nothing. */
export function removal(node: FhirNode, name: string): JsonPatch {
  return [{ op: 'remove', path: pointerOf(node, name) }]
}

/** Takes an item of a list away; of lists with siblings, in both. A list that would be empty goes as a whole. */
export function itemRemoval(node: FhirNode, names: readonly string[], index: number): JsonPatch {
  const holder = isObject(node.value) ? node.value : node.extra
  return names.flatMap((name): JsonPatch => {
    const list = holder?.[name]
    if (!Array.isArray(list) || index >= list.length) return []
    return [{ op: 'remove', path: list.length === 1 ? pointerOf(node, name) : pointerOf(node, name, index) }]
  })
}

/** Takes a node away that has no value; of a primitive there is its sibling, and in a list a null next to it. */
export function nodeRemoval({ parent, slot, index, value }: FhirNode): JsonPatch | undefined {
  if (parent === undefined || slot === undefined) return undefined
  if (index >= 0) return itemRemoval(parent, [slot.jsonName, slot.siblingName], index)
  return removal(parent, value === undefined ? slot.siblingName : slot.jsonName)
}

/** Gives a node another value. */
export function replacement(node: FhirNode, value: unknown): JsonPatch {
  return [{ op: 'replace', path: pointerOf(node), value }]
}

/** Gives a member another name, unless that is taken. */
export function renaming(node: FhirNode, from: string, to: string): JsonPatch | undefined {
  if (isObject(node.value) && Object.hasOwn(node.value, to)) return undefined
  return [{ op: 'move', from: pointerOf(node, from), path: pointerOf(node, to) }]
}

/** Puts a member into a list. It is moved, not repeated, so that numbers keep their digits and patches stay small. */
export function listing(node: FhirNode, name: string): JsonPatch | undefined {
  const aside = pointerOf(node, ASIDE)
  if (isObject(node.value) && Object.hasOwn(node.value, ASIDE)) return undefined
  return [
    { op: 'move', from: pointerOf(node, name), path: aside },
    { op: 'add', path: pointerOf(node, name), value: [] },
    { op: 'move', from: aside, path: pointerOf(node, name, 0) },
  ]
}

/** No property of FHIR has this name. */
const ASIDE = '#'

/** Takes the one item of a list out of it. */
export function unlisting(node: FhirNode, name: string, list: readonly unknown[]): JsonPatch | undefined {
  if (list.length !== 1 || list[0] === null || Array.isArray(list[0])) return undefined
  return [{ op: 'move', from: pointerOf(node, name, 0), path: pointerOf(node, name) }]
}
