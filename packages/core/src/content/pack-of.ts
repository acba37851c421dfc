import { isObject, stringAt, type JsonObject } from '../json/index.js'

/** Texts by which definitions are found without parsing them; so are guides by what they say of all resources of a type (`global`). */
const HEAD = ['resourceType', 'url', 'version', 'status', 'type', 'baseDefinition', 'valueSet', 'supplements'] as const

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
  const texts = Object.fromEntries(HEAD.flatMap((name) => (stringAt(resource, name) === undefined ? [] : [[name, resource[name]]])))
  const { global } = resource
  return global === undefined ? texts : { ...texts, global }
}
