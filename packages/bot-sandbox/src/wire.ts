import { OperationError } from 'fhir-ops/errors'
import { botResponse, type BotEvent } from 'fhir-ops/execute'
import type { Pace } from 'fhir-ops/internal/context'
import { unwritableInput, type BotCapabilities, type BotTask } from 'fhir-ops/internal/execute'
import { isHl7Message, parseHl7 } from 'fhir-ops/hl7v2'
import { isObject, objectAt, parseInPieces, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Answered, Grants, WireEvent } from './protocol.js'

/**
 * JSON text of a `WireEvent`, in pieces: a long input is passed on as it is, and not copied.
 *
 * @throws {OperationError} `parameter-value` for an input that JSON cannot represent.
 */
export function writeEvent({ event, inputText }: Pick<BotTask, 'event' | 'inputText'>): readonly string[] {
  if (inputText !== undefined) {
    const { contentType, method, query, headers, bot, requestId } = event
    const others: Omit<BotEvent, 'input'> = { contentType, method, query, headers, bot, requestId }
    return ['{"event":{"input":', inputText, `,${JSON.stringify(others).slice(1)}}`]
  }
  const wire: WireEvent = isHl7Message(event.input) ? { event: { ...event, input: undefined }, hl7: event.input.toString() } : { event }
  try {
    return [JSON.stringify(wire)]
  } catch (error) {
    throw unwritableInput(error)
  }
}

/**
 * Rebuilds the result of a bot from the JSON texts of the sandbox. The bot controls these texts, so they may be anything.
 *
 * @throws {OperationError} `bot-failed` if they are not an answer; `aborted`.
 */
export async function readAnswer(answered: Answered, pace: Pace): Promise<unknown> {
  try {
    const head: unknown = JSON.parse(answered.head)
    if (!isObject(head)) throw new TypeError('The answer is not an object.')
    const value = await readValue(stringAt(head, 'kind'), answered.value, pace)
    const response = objectAt(head, 'response')
    return response === undefined ? value : botResponse({ ...readResponse(response), body: value })
  } catch (error) {
    if (error instanceof OperationError && error.code === 'aborted') throw error
    throw new OperationError('bot-failed', 'The bot returned a value that cannot be written as JSON.', { cause: error })
  }
}

/** The methods of each granted capability. */
export function grantsOf(capabilities: BotCapabilities): Grants {
  return Object.fromEntries(Object.entries(capabilities).map(([name, methods]) => [name, Object.keys(methods)]))
}

async function readValue(kind: string | undefined, text: string, pace: Pace): Promise<unknown> {
  if (kind === 'nothing') return undefined
  const value = await pace.run(parseInPieces(text))
  return kind === 'hl7' ? parseHl7(String(value)) : value
}

function readResponse(response: JsonObject): { readonly status: number; readonly headers: Readonly<Record<string, string>> } {
  const { status } = response
  const headers = Object.entries(objectAt(response, 'headers') ?? {}).map(
    ([name, value]) => [name, typeof value === 'string' ? value : '\n'] as const,
  )
  return { status: typeof status === 'number' ? status : 0, headers: Object.fromEntries(headers) }
}
