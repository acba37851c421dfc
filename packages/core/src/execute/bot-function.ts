import type { JsonObject } from '../json/index.js'
import { OperationError, quoted, type ErrorCode } from '../errors/index.js'

/** Texts by name, without a prototype, so that every name is data. */
export type TextMap = Readonly<Record<string, string>>

/** What a bot is called with. It has no access token. */
export interface BotEvent {
  /**
   * The parsed input: the text of `text/plain`, the object of `application/json`, the resource of
   * `application/fhir+json`, the map of a form or of a GET's query, or the `Hl7Message` of `x-application/hl7-v2+er7`.
   */
  readonly input: unknown
  /** Media type of the input without its parameters; for a GET `application/x-www-form-urlencoded`. */
  readonly contentType: string
  readonly method: 'GET' | 'POST'
  /** The query parameters of the call without `access_token`, and without the `identifier` that the bot was found by. */
  readonly query: TextMap
  /** Those request headers that say nothing about who calls, by lower-case name. */
  readonly headers: TextMap
  readonly bot: { readonly id: string }
  readonly requestId: string
}

/** Access to stored resources with the rights of the caller. Every promise may reject with an `OperationError`. */
export interface BotStorage {
  read(type: string, id: string): Promise<JsonObject | undefined>
  /** @param query For example `Observation?subject=Patient/1&_count=10`. */
  search(query: string): Promise<readonly JsonObject[]>
  /** Creates the resource, or updates it when it has an `id`; gives it as stored. */
  write(resource: JsonObject): Promise<JsonObject>
}

/** What a host may grant to a bot besides its input. Nothing by default. */
export interface BotCapabilities {
  readonly storage?: BotStorage
}

/** What a bot works with. */
export interface BotContext extends BotCapabilities {
  /** Writes a line to the operator's log; values that are not text are written as JSON. */
  readonly log: (...values: readonly unknown[]) => void
  /** Aborted when the caller has gone or time is up. Stored code does not see it: it is stopped. */
  readonly signal?: AbortSignal
}

/**
 * A bot: gives back a text, a FHIR resource, any other JSON value, an `Hl7Message`, a `botResponse`, or nothing. The same signature
 * holds for functions of the host and for the `handler` that stored code exports.
 */
export type BotFunction = (event: BotEvent, context: BotContext) => unknown

/** A map without a prototype from pairs whose names differ. */
export function textMap(pairs: Iterable<readonly [string, string]>): TextMap {
  const map: Record<string, string> = Object.create(null)
  for (const [name, value] of pairs) map[name] = value
  return map
}

/** The pairs as they are. @throws {OperationError} `code` when a name comes twice. */
export function uniquePairs(pairs: readonly (readonly [string, string])[], code: ErrorCode): readonly (readonly [string, string])[] {
  const names = new Set<string>()
  for (const [name] of pairs) {
    if (names.has(name)) throw new OperationError(code, `${quoted(name)} is given more than once.`)
    names.add(name)
  }
  return pairs
}
