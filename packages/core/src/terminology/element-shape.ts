import { isListOf, isObject, isString, type JsonObject } from '../json/index.js'

/** Tests for members of an element, for those that must not be read as absent when they are malformed. */
export type ElementShape = readonly (readonly [name: string, isRight: (value: unknown) => boolean])[]

/** Returns the name of the first member that does not have the shape of R4; `undefined` when all have. */
export function wrongMember(element: JsonObject, shape: ElementShape): string | undefined {
  return shape.find(([name, isRight]) => element[name] !== undefined && !isRight(element[name]))?.[0]
}

/** True for the value of a primitive that is a JSON string. */
export function isText(value: unknown): boolean {
  return isString(value)
}

/** True for the value of a repeating complex element. */
export function isElementList(value: unknown): boolean {
  return isListOf(value, isObject)
}
