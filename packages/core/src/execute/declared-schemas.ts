import type { JsonObject } from '../json/index.js'

/** A problem of a value with a schema. */
export interface SchemaProblem {
  /** The member, in JavaScript notation: `weights[0].kg`; empty for the value itself. */
  readonly place: string
  readonly text: string
}

/** Returns the problem of a value; `undefined` when it conforms. */
export type SchemaCheck = (value: unknown) => SchemaProblem | undefined

/** Compiles JSON Schemas of bots, each once: `botSchemas()` of `@fhir-ops/bot-sandbox/schemas`. */
export interface BotSchemas {
  /**
   * @param isTrusted True for the schema of a function of the host; the cost of checking by a stored one is limited.
   * @throws {TypeError} for a value that is not a schema, or a schema that is not allowed, with the reason.
   */
  compile(schema: JsonObject, isTrusted: boolean): SchemaCheck
}

/** The schemas that a bot declares. */
export interface DeclaredSchemas {
  /** JSON Schema, draft 2020-12, of `event.input`; of an HL7 message, the text is checked. */
  readonly inputSchema?: JsonObject
  /** JSON Schema, draft 2020-12, of what the bot returns. Of a `botResponse`, the body is checked if the status is 2xx, and otherwise nothing. */
  readonly outputSchema?: JsonObject
}
