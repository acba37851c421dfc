import { isObject, objectsAt, stringAt, type JsonObject } from '../../json/index.js'

/** FHIRPath of the first element of a compose that does not have the shape of R4; `undefined` when all have. */
export function malformedPlace(compose: JsonObject): string | undefined {
  const kinds = ['include', 'exclude']
  const broken = kinds.find((kind) => !isElementList(compose[kind]))
  if (broken !== undefined) return `ValueSet.compose.${broken}`
  const places = kinds.flatMap((kind) => objectsAt(compose, kind).map((part, i) => malformedPart(part, `ValueSet.compose.${kind}[${i}]`)))
  return places.find((place) => place !== undefined)
}

function malformedPart(part: JsonObject, path: string): string | undefined {
  const broken = ['concept', 'filter'].find((name) => !isElementList(part[name]))
  if (broken !== undefined) return `${path}.${broken}`
  const uncoded = objectsAt(part, 'concept').findIndex((concept) => stringAt(concept, 'code') === undefined)
  return uncoded < 0 ? undefined : `${path}.concept[${uncoded}].code`
}

function isElementList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isObject))
}
