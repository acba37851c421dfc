import type { JsonObject } from '../json/index.js'

/** What is wrong with a value, by a schema. */
export interface SchemaProblem {
  /** The member, in the notation of JavaScript: `weights[0].kg`; empty for the value itself. */
  readonly place: string
  readonly text: string
}

/** Says what is wrong with a value; `undefined` when it conforms. */
export type SchemaCheck = (value: unknown) => SchemaProblem | undefined

/** Compiles JSON Schemas of bots, each once: `botSchemas()` of `@fhir-ops/bot-sandbox/schemas`. */
export interface BotSchemas {
  /**
   * @param isTrusted True for the schema of a function of the host; one that was stored has bounds on what checking by it can take.
   * @throws {TypeError} for what is not a schema, or one that is not allowed, with the reason.
   */
  compile(schema: JsonObject, isTrusted: boolean): SchemaCheck
}

/** The schemas that a bot declares. */
export interface DeclaredSchemas {
  /** JSON Schema, draft 2020-12, of `event.input`; of an HL7 message its text is checked. */
  readonly inputSchema?: JsonObject
  /** JSON Schema, draft 2020-12, of what the bot returns; of a `botResponse` with a status of 2xx its body, and of others nothing. */
  readonly outputSchema?: JsonObject
}
