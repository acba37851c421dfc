import type { JsonObject } from '../json/index.js'
import { OperationError, quoted, type ErrorCode } from '../errors/index.js'

/** Texts by name, without a prototype, so that every name is data. */
export type TextMap = Readonly<Record<string, string>>

/** The first argument of a bot: its input. It contains no access token. */
export interface BotEvent {
  /**
   * The parsed input: the text of `text/plain`, the object of `application/json`, the resource of
   * `application/fhir+json`, the map of a form or of a GET's query, or the `Hl7Message` of `x-application/hl7-v2+er7`.
   */
  readonly input: unknown
  /** Media type of the input without its parameters; for a GET `application/x-www-form-urlencoded`. */
  readonly contentType: string
  /** HTTP method of the call; `POST` for a call in process that names none. */
  readonly method: 'GET' | 'POST'
  /** The query parameters of the call, without `access_token` and without the `identifier` by which the bot was found. */
  readonly query: TextMap
  /** Request headers that do not identify the caller, by lower-case name. */
  readonly headers: TextMap
  readonly bot: { readonly id: string }
  /** Id of the request, for logs. */
  readonly requestId: string
}

/** Access to stored resources with the rights of the caller. Every promise may reject with an `OperationError`. */
export interface BotStorage {
  read(type: string, id: string): Promise<JsonObject | undefined>
  /** @param query For example `Observation?subject=Patient/1&_count=10`. */
  search(query: string): Promise<readonly JsonObject[]>
  /** Creates the resource, or updates it when it has an `id`; returns it as stored. */
  write(resource: JsonObject): Promise<JsonObject>
}

/** Capabilities that a host may grant to a bot. None by default. */
export interface BotCapabilities {
  readonly storage?: BotStorage
}

/** The second argument of a bot: its capabilities, log and signal. */
export interface BotContext extends BotCapabilities {
  /** Writes a line to the operator's log; values that are not text are written as JSON. */
  readonly log: (...values: readonly unknown[]) => void
  /** Aborted when the caller disconnects or the time limit is exceeded. Stored code does not get it: it is stopped. */
  readonly signal?: AbortSignal
}

/**
 * A bot. It returns a text, a FHIR resource, any other JSON value, an `Hl7Message`, a `botResponse`, or nothing. Functions of the host, and the
 * `handler` that stored code exports, have the same signature.
 */
export type BotFunction = (event: BotEvent, context: BotContext) => unknown

/** Creates a map without a prototype from pairs with different names. */
export function textMap(pairs: Iterable<readonly [string, string]>): TextMap {
  const map: Record<string, string> = Object.create(null)
  for (const [name, value] of pairs) map[name] = value
  return map
}

/** Returns the pairs unchanged. @throws {OperationError} `code` when a name occurs twice. */
export function uniquePairs(pairs: readonly (readonly [string, string])[], code: ErrorCode): readonly (readonly [string, string])[] {
  const names = new Set<string>()
  for (const [name] of pairs) {
    if (names.has(name)) throw new OperationError(code, `${quoted(name)} is given more than once.`)
    names.add(name)
  }
  return pairs
}

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
