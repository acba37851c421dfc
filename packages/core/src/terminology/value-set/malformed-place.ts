import { isObject, objectsAt, stringAt, type JsonObject } from '../../json/index.js'

type IsRight = (value: unknown) => boolean

/** What an include or exclude holds. A version that is passed over would give the codes of another one. */
const PART_MEMBERS: readonly (readonly [string, IsRight])[] = [
  ['system', isText],
  ['version', isText],
  ['valueSet', (value) => Array.isArray(value) && value.every(isText)],
  ['concept', isElementList],
  ['filter', isElementList],
]

const COMPOSE_MEMBERS: readonly (readonly [string, IsRight])[] = [
  ['inactive', (value) => typeof value === 'boolean'],
  ['include', isElementList],
  ['exclude', isElementList],
]

/** FHIRPath of the first element of a compose that does not have the shape of R4; `undefined` when all have. */
export function malformedPlace(compose: JsonObject): string | undefined {
  const broken = wrongMember(compose, COMPOSE_MEMBERS)
  if (broken !== undefined) return `ValueSet.compose.${broken}`
  const places = ['include', 'exclude'].flatMap((kind) =>
    objectsAt(compose, kind).map((part, i) => malformedPart(part, `ValueSet.compose.${kind}[${i}]`)),
  )
  return places.find((place) => place !== undefined)
}

function malformedPart(part: JsonObject, path: string): string | undefined {
  const broken = wrongMember(part, PART_MEMBERS)
  if (broken !== undefined) return `${path}.${broken}`
  const uncoded = objectsAt(part, 'concept').findIndex((concept) => stringAt(concept, 'code') === undefined)
  return uncoded < 0 ? undefined : `${path}.concept[${uncoded}].code`
}

function wrongMember(object: JsonObject, members: readonly (readonly [string, IsRight])[]): string | undefined {
  return members.find(([name, isRight]) => object[name] !== undefined && !isRight(object[name]))?.[0]
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isElementList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject)
}
