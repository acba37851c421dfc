import type { Pace } from 'fhir-ops/internal/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import type { FhirCaller } from './fhir-caller.js'

/** What a tool works with. */
export interface ToolContext {
  readonly ask: FhirCaller
  /** Of long work between what is asked and the result. */
  readonly pace: Pace
  /** Makes the JSON Schema of a type or profile. */
  readonly schemaOf: (url: string) => Promise<JsonObject>
}

/** A tool as the protocol describes it, and what it does. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** For the language model: when to use it, and what it answers. */
  readonly description: string
  readonly inputSchema: JsonObject & { readonly type: 'object' }
  readonly outputSchema: JsonObject & { readonly type: 'object' }
  /** False for a tool that may change something. */
  readonly isReadOnly: boolean
  /** @param input Checked by the `inputSchema`. */
  readonly run: (context: ToolContext, input: JsonObject) => Promise<JsonObject>
}

/** A schema of an object with these members and no others. */
export function objectOf(properties: JsonObject, required: readonly string[]): Tool['inputSchema'] {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** A schema of an answer: these members, and others where they help. */
export function answerOf(properties: JsonObject, required: readonly string[]): Tool['outputSchema'] {
  return { type: 'object', properties, required }
}

/** A text with what it means. */
export function text(description: string): JsonObject {
  return { type: 'string', minLength: 1, description }
}

/** How many items are answered at once. */
export const COUNT: JsonObject = { type: 'integer', minimum: 1, maximum: 200, default: 20, description: 'Most items of the answer' }

/** Why the answer is as it is, in sentences. */
export const EXPLANATION: JsonObject = { type: 'array', items: { type: 'string' }, description: 'Why the answer is as it is' }

/** A code, as tools take it. */
export const CODE: JsonObject = {
  system: text('Canonical of the code system, such as http://loinc.org'),
  code: text('The code'),
}

/** A member that is a text; `undefined` when it was left out. */
export function textIn(input: JsonObject, name: string): string | undefined {
  const value = input[name]
  return typeof value === 'string' ? value : undefined
}

/** A member that is a number, or what it is by default. */
export function numberIn(input: JsonObject, name: string, standard: number): number {
  const value = input[name]
  return typeof value === 'number' ? value : standard
}
