import { isHl7Message } from 'fhir-ops/hl7v2'

export { isHl7Message, parseHl7 } from 'fhir-ops/hl7v2'

/** The text of a message, empty for all else. */
export function textOf(message: unknown): string {
  return isHl7Message(message) ? message.toString() : ''
}
