import { encodeEscapes, type Hl7Separators } from './separators.js'
import type { Hl7Segment } from './segment.js'

/** The contents of an acknowledgment. */
export interface Hl7AckOptions {
  /** MSA-1: accepted, error or rejected, in original (`A`) or enhanced (`C`) mode. */
  readonly code: 'AA' | 'AE' | 'AR' | 'CA' | 'CE' | 'CR'
  /** MSH-10 of the acknowledgment. */
  readonly controlId: string
  /** MSH-7 of the acknowledgment, written in UTC. */
  readonly at: Date
  /** MSA-3, for people. */
  readonly text?: string
}

/** What an acknowledgment takes from the message that it answers. */
export interface AcknowledgedMessage {
  readonly separators: Hl7Separators
  readonly segments: readonly Hl7Segment[]
  get(path: string): string | undefined
}

/**
 * The text of the acknowledgment of a message: sender and receiver are swapped; separators, trigger event, processing id, version
 * and character set are those of the message.
 *
 * @see HL7 v2.9 chapter 2.9.2 "Acknowledgment"
 */
export function ackText(message: AcknowledgedMessage, options: Hl7AckOptions): string {
  const { separators } = message
  const { field, component } = separators
  const header = message.segments[0]
  const written = (number: number) => header?.field(number).text ?? ''
  const encoded = (value: string) => encodeEscapes(value, separators)
  const event = message.get('MSH-9.2')
  const type = event === undefined ? 'ACK' : ['ACK', encoded(event), 'ACK'].join(component)
  const msh = [written(2), written(5), written(6), written(3), written(4), timestamp(options.at), '', type, encoded(options.controlId)]
  const last = written(18) === '' ? [] : ['', '', '', '', '', written(18)]
  const msa = [options.code, written(10), ...(options.text === undefined ? [] : [encoded(options.text)])]
  return `${['MSH', ...msh, written(11), written(12), ...last].join(field)}\r${['MSA', ...msa].join(field)}\r`
}

/** An HL7 date and time to the second, in UTC. */
function timestamp(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace(/[-:T]/g, '')}+0000`
}
