import { Hl7Message } from '@medplum/core'
import { parseHl7 } from 'fhir-ops/hl7v2'
import { markdownTable } from '../markdown.js'
import { median } from '../timing.js'

const ADT = [
  'MSH|^~\\&|ADT1|HOSP|LABADT|HOSP|202401011200||ADT^A01|MSG00001|P|2.5',
  'EVN|A01|202401011200||',
  'PID|1||100~200^^^MR||DOE^JOHN^A||19800101|M||C|1 MAIN^^CITY^ST^12345|||||S||100|123456789',
  'NK1|1|DOE^JANE|WIFE||||',
  'PV1|1|I|2000^2012^01||||004777^LEBAUER^S||SUR||||ADM|A0',
].join('\r')

const ROUNDS = 5
const CALLS = 50_000

interface Row {
  readonly name: string
  readonly ours: () => unknown
  readonly peer: () => unknown
}

const ROWS: readonly Row[] = [
  {
    name: 'parse ADT, read one component',
    ours: () => parseHl7(ADT).get('PID-5.1'),
    peer: () => Hl7Message.parse(ADT).getSegment('PID')?.getField(5)?.getComponent(1),
  },
  {
    name: 'parse ADT, read every component',
    ours: () =>
      parseHl7(ADT).segments.map((segment) => Array.from({ length: segment.size }, (_, at) => componentsOf(segment.field(at + 1)))),
    peer: () => Hl7Message.parse(ADT).segments.map(({ fields }) => fields.map(({ components }) => components)),
  },
]

function componentsOf({ repetitions }: ReturnType<ReturnType<typeof parseHl7>['segments'][number]['field']>): unknown {
  return repetitions.map(({ components }) => components.map(({ text }) => text))
}

/** Processor time of parsing an HL7 v2 message, compared with `@medplum/core`, in turns in one process. */
export async function hl7v2(): Promise<string> {
  const rows = ROWS.map(({ name, ours, peer }) => {
    const rounds = Array.from({ length: ROUNDS }, () => [microsOf(ours), microsOf(peer)] as const)
    const [own, other] = [median(rounds.map(([micros]) => micros)), median(rounds.map(([, micros]) => micros))]
    return [name, own.toFixed(2), other.toFixed(2), (other / own).toFixed(1)]
  })
  return markdownTable(['HL7 v2', 'µs', '@medplum/core µs', '@medplum/core : fhir-ops'], rows)
}

function microsOf(call: () => unknown): number {
  const before = process.cpuUsage()
  for (let at = 0; at < CALLS; at++) call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}
