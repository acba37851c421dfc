import { OperationError } from '../errors/index.js'
import { BOT_CONTENT_TYPES } from './content-types/registry.js'
import { exceedsBytes } from './limits.js'
import { checkResponse, isBotResponse } from './response.js'

/** What a bot answered. */
export interface BotAnswer {
  /** 200, or 204 without a value, or what the bot chose. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A string, a JSON value or an `Hl7Message`; `undefined` for nothing. */
  readonly value: unknown
  /** The value as it is sent; absent for nothing. */
  readonly content?: { readonly mediaType: string; readonly text: string }
}

const MAX_DEPTH = 128

/**
 * Makes the answer of what a bot returned: by its value, or as its `botResponse` says.
 *
 * @throws {OperationError} `bot-failed` when the value cannot be sent, `bot-too-costly` when it is larger than `outputBytes`.
 */
export function answerOf(returned: unknown, { outputBytes }: { readonly outputBytes: number }): BotAnswer {
  if (isBotResponse(returned)) checkResponse(returned)
  const { status, headers, body } = isBotResponse(returned) ? returned : { status: undefined, headers: {}, body: returned }
  if (body === undefined || body === null) return { status: status ?? 204, headers, value: undefined }
  const content = contentOf(body)
  if (exceedsBytes(content.text, outputBytes))
    throw new OperationError('bot-too-costly', `The bot returned more than ${outputBytes} bytes.`)
  return { status: status ?? 200, headers, value: body, content }
}

function contentOf(value: unknown): { readonly mediaType: string; readonly text: string } {
  const [content] = BOT_CONTENT_TYPES.flatMap(({ mediaType, write }) => {
    const text = written(value, write)
    return text === undefined ? [] : [{ mediaType, text }]
  })
  if (content === undefined) throw notSendable()
  if (content.mediaType.endsWith('json') && depthOf(content.text) > MAX_DEPTH) {
    throw new OperationError('bot-failed', `The bot returned a value nested deeper than ${MAX_DEPTH} levels.`)
  }
  return content
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
