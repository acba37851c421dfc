import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import type { JsonPath, Site } from './site.js'

/** A change to a resource, and the expected place of the error. */
export interface Edit {
  readonly path: JsonPath
  /** The new value; `undefined` removes the element. */
  readonly value: unknown
  /** Replacement in the text, for changes that no JSON value can express. */
  readonly raw?: readonly [from: string, to: string]
  /** An error must have one of these expressions; `undefined` for an error without a place. */
  readonly expected: readonly (string | undefined)[]
}

/** A kind of damage. Returns its edits at a place; empty if it is not possible there. */
export type Damage = (site: Site) => readonly Edit[]

/** The text of a resource with a change. */
export function edited(resource: unknown, { path, value, raw }: Edit): string {
  const text = JSON.stringify(replaced(resource, path, value))
  return raw === undefined ? text : text.replace(...raw)
}

function replaced(target: unknown, [step, ...rest]: JsonPath, value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(target)) return target.map((item: unknown, index) => (index === step ? replaced(item, rest, value) : item))
  const members = isObject(target) ? target : {}
  return { ...members, [step]: replaced(members[step], rest, value) }
}

/** Replaces a value. */
export function here({ path, expression }: Site, value: unknown): Edit {
  return { path, value, expected: [expression] }
}

/** Changes or removes a member of an object. */
export function inside({ path }: Site, [name, value]: readonly [name: string, value: unknown], expected: Edit['expected']): Edit {
  return { path: [...path, name], value, expected }
}

/** Replaces a list. */
export function list({ path, expression }: Site, value: unknown): Edit {
  return { path: path.slice(0, -1), value, expected: [expression.slice(0, expression.lastIndexOf('['))] }
}

/** True for the resource itself. */
export function isRoot({ path }: Site): boolean {
  return path.length === 0
}

/** True for objects. */
export function isComplex({ node }: Site): boolean {
  return isObject(node.value)
}

/** Adds an item to a list. If an extension contains no extensions, the error is reported there. */
export function added({ node, path, expression }: Site, name: string, item: JsonObject): readonly Edit[] {
  if (!isObject(node.value) || !node.type.members.has(name)) return []
  const before: unknown = node.value[name]
  const items: readonly unknown[] = Array.isArray(before) ? before : []
  const place = `${expression}.${name}[${items.length}]`
  return [{ path: [...path, name], value: [...items, item], expected: node.type.name === 'Extension' ? [place, expression] : [place] }]
}
