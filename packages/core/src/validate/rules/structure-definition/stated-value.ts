import type { JsonObject } from '../../../json/index.js'

/** A fixed value or a pattern, with the name of its member: `fixedCode`. */
export interface StatedValue {
  readonly name: string
  readonly value: unknown
}

/** The fixed value, or the pattern, of an ElementDefinition. */
export function statedIn(element: JsonObject, stem: 'fixed' | 'pattern'): StatedValue | undefined {
  for (const name of Object.keys(element))
    if (name.startsWith(stem) && isCapital(name.charCodeAt(stem.length))) return { name, value: element[name] }
  return undefined
}

/** `A-Z` */
function isCapital(code: number): boolean {
  return code >= 65 && code <= 90
}
