import { objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'

/** A parameter or part of Parameters. */
export type Parameter = JsonObject

/** The parameters of a resource, or the parts of a parameter. */
export function partsOf(value: JsonObject | undefined): readonly Parameter[] {
  return objectsAt(value, value?.['resourceType'] === 'Parameters' ? 'parameter' : 'part')
}

/** The first part with the name. */
export function partAt(value: JsonObject | undefined, name: string): Parameter | undefined {
  return partsOf(value).find((part) => part['name'] === name)
}

/** All parts with the name. */
export function partsAt(value: JsonObject | undefined, name: string): readonly Parameter[] {
  return partsOf(value).filter((part) => part['name'] === name)
}

/** The primitive value of a parameter as text, whatever its type; `undefined` without one. */
export function textOf(parameter: JsonObject | undefined): string | undefined {
  const value = valueOf(parameter)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** The member `value[x]` of a parameter or an extension; also R4's lookup properties, where the engine names it `value`. */
export function valueOf(parameter: JsonObject | undefined): unknown {
  const name = Object.keys(parameter ?? {}).find((key) => key.startsWith('value'))
  return name === undefined ? undefined : parameter?.[name]
}

/** The text of the named part. */
export function textAt(value: JsonObject | undefined, name: string): string | undefined {
  return textOf(partAt(value, name))
}

/** A coding for people: `code 'display'`. */
export function codingText(coding: JsonObject): string {
  const display = stringAt(coding, 'display')
  const code = stringAt(coding, 'code') ?? ''
  return display === undefined ? code : `${code} · ${display}`
}
