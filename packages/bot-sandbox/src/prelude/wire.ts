import { parseHl7, isHl7Message } from 'fhir-ops/hl7v2'
import type { WireEvent } from '../protocol.js'
import { isBotResponse } from 'fhir-ops/execute'

const { parse } = JSON

/** Builds the event in the bot's own realm. Maps of texts have no prototype, so that every name is data. */
export function readEvent(text: string): object {
  const { event, hl7 }: WireEvent = parse(text)
  const built: Record<string, unknown> = { ...event }
  for (const name of ['query', 'headers']) built[name] = bare(built[name])
  if (built['contentType'] === 'application/x-www-form-urlencoded') built['input'] = bare(built['input'])
  if (hl7 !== undefined) built['input'] = parseHl7(hl7)
  return built
}

function bare(map: unknown): unknown {
  return typeof map === 'object' && map !== null ? Object.setPrototypeOf(map, null) : map
}

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
