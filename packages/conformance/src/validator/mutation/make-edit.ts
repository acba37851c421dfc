import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import type { Edit } from './edit.js'
import type { Site } from './site.js'

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
