import { isObject, type JsonObject } from '../../../json/index.js'
import type { Run } from '../../run/run.js'

/** The canonical form that is meant when a signature names none. */
export const DEFAULT_CANONICALIZATION = 'http://hl7.org/fhir/canonicalization/json'

/** What the canonical forms leave out of the Bundle that is signed, besides its signature. */
const LEFT_OUT: ReadonlyMap<string, readonly string[]> = new Map([
  [DEFAULT_CANONICALIZATION, []],
  [`${DEFAULT_CANONICALIZATION}#document`, ['id', 'meta']],
])

/**
 * The text of a Bundle that its signature is over: names in order, no white space, numbers as they are written.
 *
 * @returns `undefined` for a canonical form that is not known.
 * @see https://hl7.org/fhir/R4/json.html#canonical
 */
export function canonicalJson({ numberText }: Run, bundle: JsonObject, method: string): string | undefined {
  const without = LEFT_OUT.get(method)
  return without && textOfObject(bundle, ['signature', ...without])

  function textOfObject(object: JsonObject, omitted: readonly string[]): string {
    const names = Object.keys(object).filter((name) => !omitted.includes(name))
    const members = names.toSorted().map((name) => `${JSON.stringify(name)}:${textOf(object[name], object, name)}`)
    return `{${members.join()}}`
  }

  function textOf(value: unknown, parent: object, key: string | number): string {
    if (Array.isArray(value)) return `[${value.map((item, index) => textOf(item, value, index)).join()}]`
    if (isObject(value)) return textOfObject(value, [])
    return (typeof value === 'number' ? numberText(parent, key) : undefined) ?? JSON.stringify(value)
  }
}
