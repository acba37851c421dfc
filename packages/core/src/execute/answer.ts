import type { Explained, Pace } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { isHl7Message } from '../hl7v2/index.js'
import { isObject, writeInPieces, type JsonObject } from '../json/index.js'
import { BOT_CONTENT_TYPES } from './content-types.js'
import { exceedsBytes } from './bot-function.js'
import { ANYTHING, checkOptions, inputShape, type InputShape } from '../input/index.js'

/** The answer of a bot. */
export interface ExecuteResult extends Explained {
  /** The status that the bot chose, or else 200, or 204 without a value. */
  readonly status: number
  /** Headers that the bot set with `botResponse`. */
  readonly headers: Readonly<Record<string, string>>
  /** A string, a JSON value or an `Hl7Message`; `undefined` for nothing. */
  readonly value: unknown
  /** The value as it is sent; absent without a value. */
  readonly content?: { readonly mediaType: string; readonly text: string }
}

const MAX_DEPTH = 128

/**
 * Creates the answer from what a bot returned: from its value, or from its `botResponse`.
 *
 * @throws {OperationError} `bot-failed` when the value cannot be sent, `bot-too-costly` when it is larger than `outputBytes`; as `Pace.run`.
 */
export async function answerOf(returned: unknown, { outputBytes, pace }: AnswerOptions): Promise<ExecuteResult> {
  if (isBotResponse(returned)) checkResponse(returned)
  const { status, headers, body } = isBotResponse(returned) ? returned : { status: undefined, headers: {}, body: returned }
  if (body === undefined || body === null) return { status: status ?? 204, headers, value: undefined }
  const content = contentOf(body, pace === undefined || !isData(body) ? undefined : await writtenData(body, pace))
  if (exceedsBytes(content.text, outputBytes))
    throw new OperationError('bot-too-costly', `The bot returned more than ${outputBytes} bytes.`)
  return { status: status ?? 200, headers, value: body, content }
}

/** Options of `answerOf`. */
interface AnswerOptions {
  readonly outputBytes: number
  /** Pace at which the answer is written, if it is plain data; a value of the host, which may have a `toJSON`, is written in one go. */
  readonly pace?: Pace | undefined
}

function isData(value: unknown): value is JsonObject | readonly unknown[] {
  return (isObject(value) || Array.isArray(value)) && !isHl7Message(value)
}

/** JSON text of plain data. */
async function writtenData(data: JsonObject | readonly unknown[], pace: Pace): Promise<string> {
  try {
    return await pace.run(writeInPieces(data))
  } catch (error) {
    // Nested too deep.
    throw error instanceof RangeError ? notSendable(error) : error
  }
}

interface Content {
  readonly mediaType: string
  readonly text: string
}

/** @param json JSON text of the value, if it has been written. */
function contentOf(value: unknown, json: string | undefined): Content {
  const content = firstContent(value, json)
  if (content.mediaType.endsWith('json') && depthOf(content.text) > MAX_DEPTH) {
    throw new OperationError('bot-failed', `The bot returned a value nested deeper than ${MAX_DEPTH} levels.`)
  }
  return content
}

/** Writes the value in the first content type that it has, and in no other: large values take long to write. */
function firstContent(value: unknown, json: string | undefined): Content {
  for (const { mediaType, write } of BOT_CONTENT_TYPES) {
    const text = written(value, (one) => write(one, (other) => json ?? JSON.stringify(other)))
    if (text !== undefined) return { mediaType, text }
  }
  throw notSendable()
}

function written(value: unknown, write: (value: unknown) => string | undefined): string | undefined {
  try {
    return write(value)
  } catch (error) {
    throw notSendable(error)
  }
}

function notSendable(cause?: unknown): OperationError {
  return new OperationError('bot-failed', 'The bot returned a value that cannot be written as JSON.', { cause })
}

/** How deep the objects and arrays of a JSON text are nested. */
function depthOf(json: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === QUOTE) inString = !inString
    else if (inString) at += char === BACKSLASH ? 1 : 0
    else if (char === BRACKET || char === BRACE) deepest = Math.max(deepest, ++depth)
    else if (char === BRACKET + 2 || char === BRACE + 2) depth -= 1
  }
  return deepest
}

const QUOTE = 34
const BRACKET = 91
const BACKSLASH = 92
const BRACE = 123

/** A plain HTTP answer. */
export interface BotHttpAnswer {
  readonly status: number
  /** Header names in the case they are usually written in; `Content-Type` among them when there is a body. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Statuses that HTTP forbids a body for. */
const BODILESS: ReadonlySet<number> = new Set([204, 205])

/**
 * Writes a bot's answer for HTTP. The bot's value decides the type. `Accept` may choose another type in which the value can be written, and is ignored
 * otherwise, because the bot has already run.
 *
 * @param accept The header as sent.
 */
export function writeBotOutput({ status, headers, value, content }: ExecuteResult, accept?: string): BotHttpAnswer {
  if (content === undefined || BODILESS.has(status)) return { status, headers }
  const also = BOT_CONTENT_TYPES.find(({ mediaType }) => mediaType === content.mediaType)?.also ?? []
  const forms = [
    { mediaType: content.mediaType, text: () => content.text },
    ...also.map(({ mediaType, write }) => ({ mediaType, text: () => write(value) ?? content.text })),
  ]
  const wanted = parseAccept(accept ?? '*/*')
  const form = forms.reduce((best, one) => (quality(wanted, one.mediaType) > quality(wanted, best.mediaType) ? one : best))
  return { status, headers: { ...headers, 'Content-Type': `${form.mediaType}; charset=utf-8` }, body: form.text() }
}

interface AcceptRange {
  readonly range: string
  readonly q: number
}

function parseAccept(accept: string): readonly AcceptRange[] {
  return accept.split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return { range, q: q >= 0 && q <= 1 ? q : 0 }
  })
}

/** The quality of the most specific range that covers the media type; 0 when none does. */
function quality(wanted: readonly AcceptRange[], mediaType: string): number {
  const covering = [mediaType, `${mediaType.split('/', 1)[0]}/*`, '*/*']
  const found = covering.map((range) => wanted.find((one) => one.range === range)).find((one) => one !== undefined)
  return found?.q ?? 0
}

/** Registered, because an application and its packages may each load their own copy of this module. */
const brand: unique symbol = Symbol.for('fhir-ops BotResponse')

/** A bot's answer with a status or headers of its own. */
export interface BotResponse {
  readonly [brand]: true
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Options of `botResponse`. */
export interface BotResponseOptions {
  /** From 200 to 299 or from 400 to 499. Default 200, or 204 without a body. */
  readonly status?: number
  /** Only Content-Language, ETag, Last-Modified, Location and Retry-After. */
  readonly headers?: Readonly<Record<string, string>>
  /** The value, as a bot could return it by itself. */
  readonly body?: unknown
}

const HEADERS: ReadonlySet<string> = new Set(['content-language', 'etag', 'last-modified', 'location', 'retry-after'])

const SHAPE: InputShape = inputShape<BotResponseOptions>({ status: ANYTHING, headers: ANYTHING, body: ANYTHING })

/**
 * Creates an answer of a bot with its own status or headers, which are checked after the bot has ended.
 *
 * @throws {TypeError} for an unknown option.
 */
export function botResponse(options: BotResponseOptions): BotResponse {
  checkOptions('botResponse', SHAPE, options)
  const nothing = options.body === undefined || options.body === null
  return { [brand]: true, status: options.status ?? (nothing ? 204 : 200), headers: options.headers ?? {}, body: options.body }
}

/** True for a value from `botResponse`. */
export function isBotResponse(value: unknown): value is BotResponse {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, brand)
}

/** @throws {OperationError} `bot-failed` for a status or header that a bot may not set. */
function checkResponse({ status, headers }: BotResponse): void {
  const family = Number.isInteger(status) ? Math.floor(status / 100) : 0
  if (family !== 2 && family !== 4) throw new OperationError('bot-failed', 'The bot answered with a status that is neither 2xx nor 4xx.')
  if (!isObject(headers)) throw new OperationError('bot-failed', 'The bot answered with headers that are not an object.')
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADERS.has(name.toLowerCase()))
      throw new OperationError('bot-failed', `The bot set the header ${quoted(name)}, which bots may not set.`)
    if (typeof value !== 'string' || !/^[\x20-\x7e]{0,1024}$/.test(value)) {
      throw new OperationError('bot-failed', `The bot set the header ${quoted(name)} to a value that is not short printable text.`)
    }
  }
}
