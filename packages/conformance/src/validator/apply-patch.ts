import type { JsonPatch } from 'fhir-ops/validate'

/** Applies a JSON Patch (RFC 6902) of remove, add, replace and move to a copy. */
export function applyPatch(document: unknown, patch: JsonPatch): unknown {
  const root = { '': structuredClone(document) }
  for (const operation of patch) {
    const value = operation.op === 'move' ? at(root, operation.from) : 'value' in operation ? operation.value : undefined
    if (operation.op === 'move') remove(root, operation.from)
    if (operation.op === 'remove' || operation.op === 'replace') remove(root, operation.path)
    if (operation.op !== 'remove') add(root, operation.path, value)
  }
  return root['']
}

type Container = Record<string, unknown> | unknown[]

function at(root: Container, pointer: string): unknown {
  const { holder, key } = placeOf(root, pointer)
  const value: unknown = Reflect.get(holder, key)
  if (value === undefined) throw new Error(`There is nothing at ${pointer}.`)
  return value
}

function remove(root: Container, pointer: string): void {
  at(root, pointer)
  const { holder, key } = placeOf(root, pointer)
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else Reflect.deleteProperty(holder, key)
}

function add(root: Container, pointer: string, value: unknown): void {
  const { holder, key } = placeOf(root, pointer)
  if (Array.isArray(holder)) holder.splice(Number(key), 0, value)
  else Reflect.set(holder, key, value)
}

function placeOf(root: Container, pointer: string): { holder: Container; key: string } {
  const keys = pointer.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  let holder: unknown = root
  for (const key of keys.slice(0, -1)) holder = isContainer(holder) ? Reflect.get(holder, key) : undefined
  if (!isContainer(holder)) throw new Error(`There is nothing to hold ${pointer}.`)
  return { holder, key: keys.at(-1) ?? '' }
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}
