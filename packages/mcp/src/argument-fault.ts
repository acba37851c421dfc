import { isObject, isString, type JsonObject } from 'fhir-ops/internal/json'

/** Checks one keyword of a schema; returns what is wrong with the value, without its place. */
type Check = (wanted: unknown, value: unknown) => string | undefined

/** Keywords about the value itself. Each applies to values of one type, as in JSON Schema. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['type', (type, value) => (isOfType(type, value) ? undefined : `must be ${String(type)}`)],
  ['required', faultOfMissing],
  [
    'anyOf',
    (schemas, value) =>
      list(schemas).some((one) => isObject(one) && faultOf(one, value, '') === undefined) ? undefined : alternatives(schemas),
  ],
  [
    'minLength',
    (least, text) => (isString(text) && text.length < Number(least) ? `must NOT have fewer than ${String(least)} characters` : undefined),
  ],
  [
    'maxLength',
    (most, text) => (isString(text) && text.length > Number(most) ? `must NOT have more than ${String(most)} characters` : undefined),
  ],
  ['minimum', (least, number) => (typeof number === 'number' && number < Number(least) ? `must be >= ${String(least)}` : undefined)],
  ['maximum', (most, number) => (typeof number === 'number' && number > Number(most) ? `must be <= ${String(most)}` : undefined)],
  [
    'pattern',
    (source, text) =>
      isString(text) && !new RegExp(String(source), 'u').test(text) ? `must match pattern "${String(source)}"` : undefined,
  ],
])

/** Keywords that check nothing, or are checked with the members. */
const OTHERS: ReadonlySet<string> = new Set(['properties', 'additionalProperties', 'title', 'description', 'default'])

/**
 * Describes the first fault of a tool's arguments by the part of JSON Schema that the tools use; `undefined` if there is none. A validator that compiles
 * schemas to code cannot be loaded where code may not be made from strings.
 */
export function argumentFault(schema: JsonObject, input: JsonObject): string | undefined {
  return faultOf(schema, input, 'arguments')
}

/** @throws {TypeError} for a keyword that is not checked here. */
export function checkKeywords(schema: JsonObject): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (!CHECKS.has(keyword) && !OTHERS.has(keyword)) throw new TypeError(`The keyword ${keyword} of a tool's schema is not checked.`)
    const parts = keyword === 'properties' && isObject(value) ? Object.values(value) : keyword === 'anyOf' ? list(value) : []
    for (const part of parts) if (isObject(part)) checkKeywords(part)
  }
}

function faultOf(schema: JsonObject, value: unknown, place: string): string | undefined {
  for (const [keyword, wanted] of Object.entries(schema)) {
    const words = CHECKS.get(keyword)?.(wanted, value)
    if (words !== undefined) return `${place} ${words}`
  }
  const members = schema['properties']
  if (!isObject(members) || !isObject(value)) return undefined
  for (const [name, member] of Object.entries(members)) {
    const fault = Object.hasOwn(value, name) && isObject(member) ? faultOf(member, value[name], `${place}/${name}`) : undefined
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Returns the first argument that the schema does not have, if it has all that are allowed. */
export function unknownArgument({ properties, additionalProperties }: JsonObject, input: JsonObject): string | undefined {
  if (additionalProperties !== false || !isObject(properties)) return undefined
  return Object.keys(input).find((name) => !Object.hasOwn(properties, name))
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === 'object') return isObject(value)
  if (type === 'array') return Array.isArray(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function faultOfMissing(names: unknown, value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  const missing = list(names).find((name) => isString(name) && !Object.hasOwn(value, name))
  return isString(missing) ? `must have required property '${missing}'` : undefined
}

/** The tools use `anyOf` for arguments of which one is needed. */
function alternatives(schemas: unknown): string {
  const names = list(schemas).flatMap((one) => (isObject(one) ? list(one['required']) : []))
  return `must have one of the properties ${names.map((name) => `'${String(name)}'`).join(', ')}`
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
