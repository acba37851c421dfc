import { isObject, isString, type JsonObject } from '../json/index.js'

/** What members of an element may be, for those whose meaning would be lost if they were read as absent. */
export type ElementShape = readonly (readonly [name: string, isRight: (value: unknown) => boolean])[]

/** The name of the first member that does not have the shape of R4; `undefined` when all have. */
export function wrongMember(element: JsonObject, shape: ElementShape): string | undefined {
  return shape.find(([name, isRight]) => element[name] !== undefined && !isRight(element[name]))?.[0]
}

/** True for the value of a primitive that is written as text. */
export function isText(value: unknown): boolean {
  return isString(value)
}

/** True for an element that repeats. */
export function isElementList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject)
}
