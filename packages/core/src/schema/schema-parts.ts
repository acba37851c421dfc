import { isObject, type JsonObject } from '../json/index.js'

/** One schema that demands what all of them do. */
export function oneSchema(parts: readonly JsonObject[]): JsonObject | undefined {
  const [first, ...others] = parts
  if (first === undefined || others.length === 0) return first
  const names = parts.flatMap((part) => Object.keys(part))
  return new Set(names).size === names.length ? Object.assign({}, ...parts) : { allOf: parts }
}

/** A value that has at least what the pattern has: members of objects, and for each item of a list one that fits. */
export function patternSchema(pattern: unknown): JsonObject {
  if (Array.isArray(pattern)) return { allOf: pattern.map((item) => ({ contains: patternSchema(item) })) }
  if (!isObject(pattern)) return { const: pattern }
  const properties = Object.fromEntries(Object.entries(pattern).map(([name, value]) => [name, patternSchema(value)]))
  return { required: Object.keys(pattern), properties }
}
