import type { JsonObject } from '../../../json/index.js'

/** A fixed value or a pattern, with the name of its member: `fixedCode`. */
export interface StatedValue {
  readonly name: string
  readonly value: unknown
}

/** The fixed value, or the pattern, of an ElementDefinition. */
export function statedIn(element: JsonObject, stem: 'fixed' | 'pattern'): StatedValue | undefined {
  const name = Object.keys(element).find((key) => key.startsWith(stem) && /^[A-Z]/.test(key.slice(stem.length)))
  return name === undefined ? undefined : { name, value: element[name] }
}
