import type { Parameter } from './parameter.js'

/** The inputs of an operation called by GET: decoded name and value pairs in their order. */
export function parametersFromQuery(pairs: Iterable<readonly [string, string]>): readonly Parameter[] {
  return Array.from(pairs, ([name, value]) => ({ name, value, parts: [], expression: name }))
}
