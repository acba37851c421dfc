import { isHl7Message, parseHl7 } from '../hl7v2/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { textMap, uniquePairs, type TextMap } from './bot-function.js'
import { isObject, stringAt, readableJsonType } from '../json/index.js'
import { isResourceType } from '../storage/index.js'

/** Parses JSON text, or throws. It is the host's strict parser, so that all bodies have the same parser. */
export type ParseJson = (text: string) => unknown

/** A kind of input and output of bots. */
export interface BotContentType {
  /** Lower case, without parameters. */
  readonly mediaType: string
  /** Other media types that `Accept` may request for the same kind of value, with the way in which it is written then. */
  readonly also: readonly { readonly mediaType: string; readonly write: (value: unknown) => string | undefined }[]
  /**
   * Creates `event.input` from the text of the body.
   *
   * @throws {OperationError} `body-invalid` or `body-structure`.
   */
  readonly read: (text: string, parseJson: ParseJson) => unknown
  /**
   * The text of a value of this kind that a bot returned, `undefined` for values of other kinds. Throws for a value that JSON cannot represent.
   *
   * @param json Writes the value as JSON. Default: `JSON.stringify`.
   */
  readonly write: (value: unknown, json?: (value: unknown) => string) => string | undefined
}

/** `text/plain`: a string, whatever its content. */
const text: BotContentType = {
  mediaType: 'text/plain',
  also: [{ mediaType: 'application/json', write: (value) => JSON.stringify(value) }],
  read: (body) => body,
  write: (value) => (typeof value === 'string' ? value : undefined),
}

/** `x-application/hl7-v2+er7`: a pipe-delimited HL7 v2 message. */
const hl7v2: BotContentType = {
  mediaType: 'x-application/hl7-v2+er7',
  also: [{ mediaType: 'text/plain', write: textOf }],
  read: (body) => parseHl7(body),
  write: textOf,
}

function textOf(value: unknown): string | undefined {
  return isHl7Message(value) ? value.toString() : undefined
}

const MAX_PAIRS = 1_000

/** `application/x-www-form-urlencoded`: a map of string to string. Bots do not return forms. */
const form: BotContentType = {
  mediaType: 'application/x-www-form-urlencoded',
  also: [],
  read(body) {
    const pieces = body.split('&').filter((piece) => piece !== '')
    if (pieces.length > MAX_PAIRS) throw new OperationError('body-invalid', `The form has more than ${MAX_PAIRS} fields.`)
    return textMap(uniquePairs(pieces.map(pairOf), 'body-invalid'))
  },
  write: () => undefined,
}

function pairOf(piece: string): readonly [string, string] {
  const at = piece.indexOf('=')
  return at < 0 ? [decoded(piece), ''] : [decoded(piece.slice(0, at)), decoded(piece.slice(at + 1))]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new OperationError('body-invalid', `The form holds ${quoted(text)}, which is not percent-encoded UTF-8.`)
  }
}

/**
 * `application/fhir+json`: a FHIR resource of any type. An object without `resourceType` is accepted too, because clients send every object under this
 * type; an object that has one must be a resource.
 */
const fhirJson: BotContentType = {
  mediaType: 'application/fhir+json',
  also: [{ mediaType: 'application/json', write: (value) => JSON.stringify(value) }],
  read(body, parseJson) {
    const value = parseJson(body)
    if (!isObject(value)) throw new OperationError('body-structure', 'The body must be a JSON object.')
    if (Object.hasOwn(value, 'resourceType') && !isResource(value))
      throw new OperationError('body-structure', 'The resourceType must be a type of FHIR R4. Send other objects as application/json.', {
        expression: ['resourceType'],
      })
    return value
  },
  write: (value, json = JSON.stringify) => (isResource(value) ? json(value) : undefined),
}

function isResource(value: unknown): boolean {
  return isObject(value) && isResourceType(stringAt(value, 'resourceType') ?? '')
}

/** `application/json`: an object as input, any JSON value as output. */
const json: BotContentType = {
  mediaType: 'application/json',
  also: [],
  read(body, parseJson) {
    const value = parseJson(body)
    if (!isObject(value)) throw new OperationError('body-structure', 'The body must be a JSON object.')
    return value
  },
  write: (value, json = JSON.stringify) => json(value),
}

/** Every content type of bots. A returned value is of the first kind that can write it. */
export const BOT_CONTENT_TYPES: readonly BotContentType[] = [text, hl7v2, form, fhirJson, json]

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
