import { OperationError, quoted } from '../errors/index.js'
import { isObject } from '../json/index.js'
import { ANYTHING, checkOptions, inputShape, type InputShape } from '../input/index.js'

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
export function checkResponse({ status, headers }: BotResponse): void {
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
