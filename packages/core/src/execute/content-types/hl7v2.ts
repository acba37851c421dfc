import { isHl7Message, parseHl7 } from '../../hl7v2/index.js'
import type { BotContentType } from './content-type.js'

/** `x-application/hl7-v2+er7`: a pipe-delimited HL7 v2 message. */
export const hl7v2: BotContentType = {
  mediaType: 'x-application/hl7-v2+er7',
  also: [{ mediaType: 'text/plain', write: textOf }],
  read: (body) => parseHl7(body),
  write: textOf,
}

function textOf(value: unknown): string | undefined {
  return isHl7Message(value) ? value.toString() : undefined
}
