import type { JsonObject } from '../json/index.js'
import { OperationError, quoted, type ErrorCode } from '../errors/index.js'
import { utf8Length } from '../text/index.js'

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

/** Limits of one run of a bot. */
export interface BotLimits {
  /** Elapsed time in milliseconds. Default 10,000. A bot also waits no longer than this for its turn. */
  readonly timeoutMs: number
  /** Memory of the code's own objects, for stored bots. Default 64 MiB. */
  readonly memoryBytes: number
  /** Size of the result, in bytes of UTF-8. Default 4 MiB. */
  readonly outputBytes: number
  /** Size of the log, in bytes of UTF-8, for stored bots. Default 64 KiB. */
  readonly logBytes: number
  /** Size of the source, in bytes of UTF-8. Default 256 KiB. */
  readonly sourceBytes: number
}

/** The default limits of bots. */
export const DEFAULT_BOT_LIMITS: BotLimits = {
  timeoutMs: 10_000,
  memoryBytes: 64 * 1024 * 1024,
  outputBytes: 4 * 1024 * 1024,
  logBytes: 64 * 1024,
  sourceBytes: 256 * 1024,
}

/** True when a text has more bytes in UTF-8 than the limit. */
export function exceedsBytes(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return false
  return text.length > limit || utf8Length(text) > limit
}

/** One run of stored code. */
export interface BotTask {
  /** JavaScript source. */
  readonly code: string
  readonly event: BotEvent
  /** JSON text of `event.input`, if it is long; `event.input` is then parsed each time that it is read. */
  readonly inputText?: string | undefined
  readonly capabilities: BotCapabilities
  readonly limits: BotLimits
  /** Receives the lines that the code logs. */
  readonly log: (level: BotLogLevel, text: string) => void
  readonly signal?: AbortSignal | undefined
}

/** The severity of a line of the log, from the lowest. */
export type BotLogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Runs stored code isolated from the host: only the task's data goes in, and only data comes out. */
export interface BotRuntime {
  /** Number of runs at the same time. */
  readonly concurrency: number
  /** Number of further runs that it accepts, so that it goes from one to the next without a wait. Default 0. */
  readonly ahead?: number
  /**
   * @returns The result of the code's `handler`, rebuilt from data: a string, a JSON value, an `Hl7Message`, a `botResponse` or `undefined`.
   * @throws {OperationError} `bot-failed`, `bot-timeout` or `bot-too-costly`, with the bot's own message in `detail.diagnostics`;
   *   `aborted` when `signal` is.
   */
  run(task: BotTask): Promise<unknown>
  /** Ends its threads. */
  close(): Promise<void>
}
