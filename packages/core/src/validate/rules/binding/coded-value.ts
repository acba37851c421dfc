import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import type { GivenCode } from '../../facts/codes.js'

/** The codes of a node of a type that can be bound; a code alone has no system. */
export function codesOf({ value, type }: FhirNode): readonly GivenCode[] {
  if (typeof value === 'string') return [{ code: value }]
  if (!isObject(value)) return []
  if (type.name === 'CodeableConcept') return objectsAt(value, 'coding').flatMap(codeIn)
  return codeIn(value)
}

/** A Coding or Quantity without system has no known code: nothing tells where the code comes from. */
function codeIn(coding: JsonObject): readonly GivenCode[] {
  const code = stringAt(coding, 'code')
  const system = stringAt(coding, 'system')
  return code === undefined ? [] : [{ code, system: system ?? '', version: stringAt(coding, 'version') }]
}
