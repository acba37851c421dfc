import { isBotResponse } from 'fhir-ops/execute'
import { isHl7Message } from 'fhir-ops/hl7v2'

/** What a bot returned beside its value, as data. */
export interface WireHead {
  readonly kind: 'nothing' | 'text' | 'hl7' | 'json'
  /** Present when the bot answered with `botResponse`. */
  readonly response?: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
}

/** What a bot returned, as data. */
export interface WireAnswer extends WireHead {
  /** Absent when the value is nothing. */
  readonly value?: unknown
}

/** What a bot returned, as data. */
export function wireAnswer(returned: unknown): WireAnswer {
  if (!isBotResponse(returned)) return wireValue(returned)
  const { status, headers, body } = returned
  return { ...wireValue(body), response: { status, headers } }
}

function wireValue(value: unknown): WireAnswer {
  if (value === undefined || value === null) return { kind: 'nothing' }
  if (typeof value === 'string') return { kind: 'text', value }
  if (isHl7Message(value)) return { kind: 'hl7', value: value.toString() }
  return { kind: 'json', value }
}
