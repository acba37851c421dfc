import { isObject, stringAt, type JsonObject } from '../json/index.js'

/** Members by which definitions are found without parsing them. */
const HEAD = ['resourceType', 'url', 'version', 'status', 'type', 'baseDefinition', 'valueSet', 'supplements', 'global'] as const

/** The bytes of a pack, as `packLayer` reads it, that holds definitions, given as JSON texts, in their order. */
export function packOf(definitions: readonly string[]): Uint8Array {
  const encoder = new TextEncoder()
  const records = definitions.map((text) => encoder.encode(text))
  const heads = definitions.map((text, position) => ({ ...headOf(JSON.parse(text)), bytes: records[position]?.length }))
  const index = encoder.encode(JSON.stringify(heads))
  const parts = [encoder.encode(`fhir-ops-pack 1 ${index.length}\n`), index, ...records]
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function headOf(resource: unknown): JsonObject {
  if (!isObject(resource)) return {}
  const isShort = (name: string): boolean => name === 'global' || stringAt(resource, name) !== undefined
  return Object.fromEntries(HEAD.flatMap((name) => (isShort(name) ? [[name, resource[name]]] : [])))
}
