import { parseHl7 } from 'fhir-ops/hl7v2'
import type { WireEvent } from '../protocol.js'

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
