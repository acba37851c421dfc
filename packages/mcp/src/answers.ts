import { EXPLANATION } from 'fhir-ops/internal/explain'
import { extensionAt, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'

/** Returns the first parameter with a name. */
export function parameterAt(answer: JsonObject, name: string): JsonObject | undefined {
  return parametersAt(answer, name)[0]
}

/** Returns all parameters with a name. */
export function parametersAt(answer: JsonObject, name: string): readonly JsonObject[] {
  return objectsAt(answer, 'parameter').filter((parameter) => stringAt(parameter, 'name') === name)
}

/** Returns a part of a parameter. */
export function partAt(parameter: JsonObject | undefined, name: string): JsonObject | undefined {
  return objectsAt(parameter, 'part').find((part) => stringAt(part, 'name') === name)
}

/** Returns the value of a parameter or part, of any type. */
export function valueIn(parameter: JsonObject | undefined): unknown {
  return Object.entries(parameter ?? {}).find(([name]) => name.startsWith('value'))?.[1]
}

/** Returns the sentences of the explanation in an answer; empty if it has none. */
export function explanationIn(answer: JsonObject): readonly string[] {
  const holder = parameterAt(answer, 'explanation') ?? extensionAt(objectAt(answer, 'expansion'), EXPLANATION)
  return itemsIn(holder).flatMap((item) => {
    const text = stringAt(itemNamed(item, 'text'), 'valueString')
    return text === undefined ? [] : [text]
  })
}

function itemsIn(element: JsonObject | undefined): readonly JsonObject[] {
  return [...objectsAt(element, 'part'), ...objectsAt(element, 'extension')]
}

function itemNamed(element: JsonObject, name: string): JsonObject | undefined {
  return itemsIn(element).find((item) => (stringAt(item, 'name') ?? stringAt(item, 'url')) === name)
}

/** Reduces a coding to system, code and display. */
export function shortCoding(coding: JsonObject | undefined): JsonObject {
  const { system, code, display } = coding ?? {}
  return { ...(system !== undefined && { system }), ...(code !== undefined && { code }), ...(display !== undefined && { display }) }
}

/** Removes the narrative, and metadata that the service adds, from a resource. */
export function compact(resource: JsonObject): JsonObject {
  const { text: _narrative, meta, ...others } = resource
  const profile = objectAt({ meta }, 'meta')?.['profile']
  return { ...others, ...(profile !== undefined && { meta: { profile } }) }
}
