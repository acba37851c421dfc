import { parseHl7, isHl7Message } from 'fhir-ops/hl7v2'
import { isBotResponse } from 'fhir-ops/execute'

const { parse, stringify } = JSON
const { setPrototypeOf } = Object

/** Builds the event in the bot's realm. Maps of texts have no prototype, so that every name is data. */
export function readEvent(text: string): object {
  const { event, hl7 }: { readonly event: Record<string, unknown>; readonly hl7?: string } = parse(text)
  bare(event['query'])
  bare(event['headers'])
  if (event['contentType'] === 'application/x-www-form-urlencoded') bare(event['input'])
  if (hl7 !== undefined) event['input'] = parseHl7(hl7)
  return event
}

function bare(map: unknown): void {
  if (typeof map === 'object' && map !== null) setPrototypeOf(map, null)
}

/** The result of a bot without its value. */
export interface WireHead {
  readonly kind: 'nothing' | 'text' | 'hl7' | 'json'
  /** Present when the bot answered with `botResponse`. */
  readonly response?: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
}

/** The result of a bot as text: a line with the `WireHead`, followed by the value. */
export function answerText(returned: unknown): string {
  if (!isBotResponse(returned)) return headOf(kindOf(returned)) + valueText(returned)
  const { status, headers, body } = returned
  return stringify({ kind: kindOf(body), response: { status, headers } }) + '\n' + valueText(body)
}

function kindOf(value: unknown): WireHead['kind'] {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value === 'string') return 'text'
  return isHl7Message(value) ? 'hl7' : 'json'
}

/** Avoids a template literal, because the engine evaluates it with a method that bots may replace. */
function headOf(kind: WireHead['kind']): string {
  return '{"kind":"' + kind + '"}\n'
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return stringify(isHl7Message(value) ? value.toString() : value) ?? ''
}
