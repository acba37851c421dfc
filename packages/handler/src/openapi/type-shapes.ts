import { isObject, objectsAt, type JsonObject } from 'fhir-ops/internal/json'

/**
 * Rewrites the definitions of a JSON Schema of FHIR's types to what generators of code read as it is meant: members, lists and codes.
 * Conditions, such as that a choice has one type at most, become types without meaning (`unknown & { ... }`) or are refused, and names such as
 * `string` clash with those of languages; so conditions are left out, and primitive types stand where they are used.
 */
export function typeShapes(definitions: JsonObject): JsonObject {
  const primitives = new Map(
    Object.entries(definitions).flatMap(([name, one]) => (isPrimitive(one) ? [[name, shapeOf(one, new Map())]] : [])),
  )
  return Object.fromEntries(
    Object.entries(definitions).flatMap(([name, one]) => (primitives.has(name) ? [] : [[name, shapeOf(one, primitives)]])),
  )
}

type Primitives = ReadonlyMap<string, JsonObject>

/** True for a definition without members that is not a list of codes. */
function isPrimitive(definition: unknown): definition is JsonObject {
  return isObject(definition) && definition['properties'] === undefined && definition['enum'] === undefined
}

const DEFINITIONS = '#/$defs/'

/** Returns the schema that a reference of a JSON Schema has in the document. */
function referredTo(ref: string, primitives: Primitives): JsonObject {
  const name = ref.slice(DEFINITIONS.length)
  return primitives.get(name) ?? { $ref: `#/components/schemas/${name}` }
}

function shapeOf(schema: unknown, primitives: Primitives): JsonObject {
  if (!isObject(schema)) return {}
  const { $ref } = schema
  const codes = schema['enum'] ?? schema['const']
  if (codes !== undefined) return { type: 'string', ...('enum' in schema ? { enum: codes } : { const: codes }) }
  if (typeof $ref === 'string') return referredTo($ref, primitives)
  // The last is the narrowest: the codes of a binding come after the type.
  const shape = objectsAt(schema, 'allOf').findLast(hasShape)
  if (shape !== undefined) return shapeOf(shape, primitives)
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) =>
      CONDITIONS.has(keyword) ? [] : [[keyword, shapedKeyword(keyword, value, primitives)]],
    ),
  )
}

const CONDITIONS: ReadonlySet<string> = new Set(['allOf', 'not', 'minProperties', '$comment'])

/** True for what says what a value is, and not only which values or members go together. */
function hasShape(schema: JsonObject): boolean {
  return ['$ref', 'enum', 'type'].some((keyword) => keyword in schema) || objectsAt(schema, 'anyOf').some(hasShape)
}

function shapedKeyword(keyword: string, value: unknown, primitives: Primitives): unknown {
  if (keyword === 'items') return shapeOf(value, primitives)
  if (keyword === 'anyOf' && Array.isArray(value)) return value.map((one) => shapeOf(one, primitives))
  if (keyword !== 'properties' || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one, primitives)]))
}
