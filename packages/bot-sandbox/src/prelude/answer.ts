import { isBotResponse } from 'fhir-ops/execute'
import type { Hl7Part } from './host.js'

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

/** @param hl7 The HL7 part, when it was loaded. */
export function wireAnswer(returned: unknown, hl7: Hl7Part | undefined): WireAnswer {
  if (!isBotResponse(returned)) return wireValue(returned, hl7)
  const { status, headers, body } = returned
  return { ...wireValue(body, hl7), response: { status, headers } }
}

function wireValue(value: unknown, hl7: Hl7Part | undefined): WireAnswer {
  if (value === undefined || value === null) return { kind: 'nothing' }
  if (typeof value === 'string') return { kind: 'text', value }
  if (hl7?.isHl7Message(value)) return { kind: 'hl7', value: hl7.textOf(value) }
  return { kind: 'json', value }
}
