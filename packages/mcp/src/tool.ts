import type { Pace } from 'fhir-ops/internal/context'
import { type JsonObject, extensionAt, objectAt, objectsAt, stringAt } from 'fhir-ops/internal/json'
import { EXPLANATION } from 'fhir-ops/internal/explain'
import type { FhirCaller } from './fhir-caller.js'

/** What a tool can use. */
export interface ToolContext {
  readonly ask: FhirCaller
  /** Pace of long work between the call and the result. */
  readonly pace: Pace
  /** Returns the JSON Schema of a type or profile. */
  readonly schemaOf: (url: string) => Promise<JsonObject>
}

/** A tool: its description in the protocol, and its function. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** For the language model: when to use the tool, and what it returns. */
  readonly description: string
  readonly inputSchema: JsonObject & { readonly type: 'object' }
  readonly outputSchema: JsonObject & { readonly type: 'object' }
  /** False for a tool that may change something. */
  readonly isReadOnly: boolean
  /** @param input Arguments, validated against `inputSchema`. */
  readonly run: (context: ToolContext, input: JsonObject) => Promise<JsonObject>
}

/** Schema of an object with exactly these members allowed. */
export function objectOf(properties: JsonObject, required: readonly string[]): Tool['inputSchema'] {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Schema of an answer with these members, and possibly others. */
export function answerOf(properties: JsonObject, required: readonly string[]): Tool['outputSchema'] {
  return { type: 'object', properties, required }
}

/** Schema of a non-empty string with a description. */
export function text(description: string): JsonObject {
  return { type: 'string', minLength: 1, description }
}

/** Schema of the number of items in an answer. */
export const COUNT: JsonObject = { type: 'integer', minimum: 1, maximum: 200, default: 20, description: 'Most items of the answer' }

/** Schema of the sentences that explain an answer. */
export const REASONS: JsonObject = { type: 'array', items: { type: 'string' }, description: 'Why the answer is as it is' }

/** Schemas of the members that identify a code. */
export const CODE: JsonObject = {
  system: text('Canonical of the code system, such as http://loinc.org'),
  code: text('The code'),
}

/** Returns a string member; `undefined` if it is absent. */
export function textIn(input: JsonObject, name: string): string | undefined {
  const value = input[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns a number member, or the default. */
export function numberIn(input: JsonObject, name: string, standard: number): number {
  const value = input[name]
  return typeof value === 'number' ? value : standard
}

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
