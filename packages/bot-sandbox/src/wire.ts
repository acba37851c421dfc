import { OperationError } from 'fhir-ops/errors'
import { botResponse, type BotCapabilities, type BotEvent } from 'fhir-ops/execute'
import { isHl7Message, parseHl7 } from 'fhir-ops/hl7v2'
import { isObject, objectAt, stringAt, type JsonObject } from 'fhir-ops/json'
import type { Grants, WireEvent } from './protocol.js'

/** JSON text of an event. */
export function writeEvent(event: BotEvent): string {
  const wire: WireEvent = isHl7Message(event.input) ? { event: { ...event, input: undefined }, hl7: event.input.toString() } : { event }
  return JSON.stringify(wire)
}

/**
 * Rebuilds what a bot returned from the JSON text that came out of the sandbox. The text is a bot's and may be anything.
 *
 * @throws {OperationError} `bot-failed` when it is not an answer.
 */
export function readAnswer(text: string): unknown {
  try {
    const answer: unknown = JSON.parse(text)
    if (!isObject(answer)) throw new TypeError('The answer is not an object.')
    const value = readValue(answer)
    const response = objectAt(answer, 'response')
    return response === undefined ? value : botResponse({ ...readResponse(response), body: value })
  } catch (error) {
    throw new OperationError('bot-failed', 'The bot returned a value that cannot be written as JSON.', { cause: error })
  }
}

/** The methods of each capability that is granted. */
export function grantsOf(capabilities: BotCapabilities): Grants {
  return Object.fromEntries(Object.entries(capabilities).map(([name, methods]) => [name, Object.keys(methods)]))
}

function readValue(answer: JsonObject): unknown {
  switch (stringAt(answer, 'kind')) {
    case 'nothing':
      return undefined
    case 'text':
      return stringAt(answer, 'value') ?? ''
    case 'hl7':
      return parseHl7(stringAt(answer, 'value') ?? '')
    default:
      if (!Object.hasOwn(answer, 'value')) throw new TypeError('The answer has no value.')
      return answer['value']
  }
}

function readResponse(response: JsonObject): { readonly status: number; readonly headers: Readonly<Record<string, string>> } {
  const { status } = response
  const headers = Object.entries(objectAt(response, 'headers') ?? {}).map(
    ([name, value]) => [name, typeof value === 'string' ? value : '\n'] as const,
  )
  return { status: typeof status === 'number' ? status : 0, headers: Object.fromEntries(headers) }
}
