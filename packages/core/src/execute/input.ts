import { OperationError, quoted } from '../errors/index.js'
import { readableJsonType } from '../json/index.js'
import { textMap, uniquePairs, type TextMap } from './bot-function.js'
import { BOT_CONTENT_TYPES, type ParseJson } from './content-types.js'

/** The input of a bot from a request. */
export interface BotInput {
  readonly contentType: string
  /** A value, or a `LongInput`. */
  readonly input: unknown
}

/** Registered, because an application and its packages may each load their own copy of this module. */
const brand: unique symbol = Symbol.for('fhir-ops LongInput')

/** A long input as its JSON text, which takes less memory than its objects while the run waits, and which a runtime passes on as it is. */
interface LongInput {
  readonly [brand]: true
  /** Was parsed before. */
  readonly json: string
}

export function isLongInput(input: unknown): input is LongInput {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, brand)
}

/** Number of characters above which the text of an input is kept instead of its objects. */
const LONG = 64 * 1024

/** The query of a call: the address of the bot, and the parameters for it. */
export interface BotQuery {
  /** `system|value`, when given. */
  readonly identifier?: string
  /** All other parameters; for a GET they are the bot's input. */
  readonly query: TextMap
}

/** The media type of the input of a GET. */
export const QUERY_CONTENT_TYPE = 'application/x-www-form-urlencoded'

/**
 * Reads the body of a POST by its Content-Type.
 *
 * @param contentType The header as sent; `charset` may only be UTF-8.
 * @param parseJson The strict parser of the host; throws `body-invalid`.
 * @throws {OperationError} `media-type-unsupported`, `body-invalid` or `body-structure`.
 */
export function readBotInput(contentType: string | undefined, text: string, parseJson: ParseJson): BotInput {
  const [mediaType = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())
  const kind = BOT_CONTENT_TYPES.find((one) => one.mediaType === readableJsonType(mediaType))
  if (kind === undefined || !parameters.every(isUtf8OrOther)) {
    throw new OperationError('media-type-unsupported', `Bots do not read the Content-Type ${quoted(contentType ?? '')}.`)
  }
  const input = kind.read(text, parseJson)
  const isLong = kind.mediaType.endsWith('json') && text.length > LONG
  return { contentType: kind.mediaType, input: isLong ? ({ [brand]: true, json: text } satisfies LongInput) : input }
}

/**
 * Reads the decoded query of a call. `access_token` is never passed on. `identifier` is passed on only if a bot is called by its id, because it is a
 * parameter like any other then.
 *
 * @param call `byId` when the path has the id of the bot.
 * @throws {OperationError} `parameter-invalid` when a name is repeated.
 */
export function readBotQuery(pairs: Iterable<readonly [string, string]>, { byId }: { readonly byId: boolean }): BotQuery {
  const passed = uniquePairs([...pairs], 'parameter-invalid').filter(([name]) => name !== 'access_token')
  if (byId) return { query: textMap(passed) }
  const identifier = passed.find(([name]) => name === 'identifier')?.[1]
  return { query: textMap(passed.filter(([name]) => name !== 'identifier')), ...(identifier !== undefined && { identifier }) }
}

function isUtf8OrOther(parameter: string): boolean {
  return !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter)
}

/** Creates the error for an input that a caller in plain JavaScript gives, and that JSON cannot represent, such as a BigInt or an object that contains itself. */
export function unwritableInput(cause: unknown): OperationError {
  return new OperationError('parameter-value', 'input must be a value that can be written as JSON.', { expression: ['input'], cause })
}
