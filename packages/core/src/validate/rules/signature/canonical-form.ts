import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import type { Run } from '../../run/run.js'
import { canonicalXml } from './canonical-xml.js'

/** Members that the canonical forms leave out of the signed Bundle, besides its signature. */
const LEFT_OUT: ReadonlyMap<string, readonly string[]> = new Map([
  ['', []],
  ['#document', ['id', 'meta']],
])

const METHOD = /^http:\/\/hl7\.org\/fhir\/canonicalization\/(json|xml)(#\w{1,20})?$/

/**
 * The text of a Bundle that its signature covers.
 *
 * @returns `undefined` for an unknown canonical form.
 */
export function canonicalForm(run: Run, bundle: FhirNode, method: string): string | undefined {
  const [, format, part = ''] = METHOD.exec(method) ?? []
  const without = LEFT_OUT.get(part)
  if (format === undefined || without === undefined || !isObject(bundle.value)) return undefined
  const omitted = ['signature', ...without]
  return format === 'xml' ? canonicalXml(run, bundle, omitted) : canonicalJson(run, bundle.value, omitted)
}

/** The canonical form of a Bundle whose signature names none. */
export function defaultMethod(format: 'json' | 'xml', bundleType: string | undefined): string {
  return `http://hl7.org/fhir/canonicalization/${format}${bundleType === 'document' ? '#document' : ''}`
}

/**
 * The JSON of a resource that its signature covers: names in order, no white space, numbers as they were written.
 *
 * @param omitted Names of members of the resource that are left out.
 * @see https://hl7.org/fhir/R4/json.html#canonical
 */
function canonicalJson({ numberText }: Run, resource: JsonObject, omitted: readonly string[]): string {
  return textOfObject(resource, omitted)

  function textOfObject(object: JsonObject, left: readonly string[]): string {
    const names = Object.keys(object).filter((name) => !left.includes(name))
    const members = names.toSorted().map((name) => `${JSON.stringify(name)}:${textOf(object[name], object, name)}`)
    return `{${members.join()}}`
  }

  function textOf(value: unknown, parent: object, key: string | number): string {
    if (Array.isArray(value)) return `[${value.map((item, index) => textOf(item, value, index)).join()}]`
    if (isObject(value)) return textOfObject(value, [])
    return (typeof value === 'number' ? numberText(parent, key) : undefined) ?? JSON.stringify(value)
  }
}
