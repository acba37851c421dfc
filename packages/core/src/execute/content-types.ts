import { isHl7Message, parseHl7 } from '../hl7v2/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { textMap, uniquePairs } from './bot-function.js'
import { isObject, stringAt } from '../json/index.js'
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
