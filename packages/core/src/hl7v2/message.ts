import { checkText, OperationError } from '../errors/index.js'
import { encodeEscapes, hl7Segment, leafOf, readPath, readSeparators, withLeaf, type Hl7Segment, type Hl7Separators } from './segment.js'

/** Registered, because an application and its packages may each load their own copy of this module. */
const brand: unique symbol = Symbol.for('fhir-ops Hl7Message')

/** An immutable HL7 v2 message: methods that change something return a new message, which is otherwise the same, character for character. */
export interface Hl7Message {
  readonly [brand]: true
  readonly separators: Hl7Separators
  /** Segments in order, MSH first. */
  readonly segments: readonly Hl7Segment[]
  /** Returns the first segment with this name, or a later one by its number from 1. */
  segment(name: string, occurrence?: number): Hl7Segment | undefined
  /**
   * Returns the decoded text at a path like `PID-5.1`, `PID-3[2].4.1` or `OBX[3]-5`; `undefined` when it is absent or empty. The HL7 null is
   * returned as written: `""`.
   *
   * @throws {TypeError} When the path is invalid.
   */
  get(path: string): string | undefined
  /**
   * Returns a message with this text at the path, escaped as needed.
   *
   * @throws {TypeError} When the path is invalid, or names MSH-1 or MSH-2.
   * @throws {OperationError} `unprocessable` when the message has no such segment.
   */
  set(path: string, value: string): Hl7Message
  /** Returns a message with this segment, as written, at its end: `add('NTE|1||text')`. */
  add(segment: string): Hl7Message
  /** Returns a message without the segments with this name. */
  without(name: string): Hl7Message
  /** Returns an acknowledgment of this message. */
  ack(options: Hl7AckOptions): Hl7Message
  /** Returns the message's text without MLLP framing. Parts that were not changed are the same as in the parsed text, character for character. */
  toString(): string
  /** As `toString`, so that a message inside other JSON is written as its text. */
  toJSON(): string
}

/**
 * Reads an HL7 v2 message in its pipe-delimited form (ER7), with any separators. Line ends may be CR, LF or CRLF; MLLP framing is
 * removed. Segments are found immediately, fields are parsed when they are read.
 *
 * @throws {OperationError} `body-invalid` when it has no MSH segment or no five distinct separators, `too-costly` beyond 4 Mi
 *   characters or 100,000 segments; `parameter-value` for anything but a text.
 */
export function parseHl7(text: string): Hl7Message {
  checkText('The message', text)
  const source = withoutFraming(text)
  return new ParsedMessage(source, readSeparators(source))
}

/** A class, because creating an object with its own getter takes longer than reading a message. */
class ParsedMessage implements Hl7Message, Parsed {
  readonly [brand] = true
  readonly source: string
  readonly separators: Hl7Separators
  #lines: Hl7Lines | undefined
  #segments: readonly Hl7Segment[] | undefined
  #last: FoundSegment | undefined

  constructor(source: string, separators: Hl7Separators) {
    this.source = source
    this.separators = separators
    if (source.length > 2 * MAX_SEGMENTS) this.#lines = findLines(source)
  }

  get lines(): Hl7Lines {
    this.#lines ??= findLines(this.source)
    return this.#lines
  }

  get segments(): readonly Hl7Segment[] {
    this.#segments ??= this.lines.starts.map((_, line) => segmentAt(this, line))
    return this.#segments
  }

  segment(name: string, occurrence = 1): Hl7Segment | undefined {
    const line = this.lineOf(name, occurrence)
    return line === undefined ? undefined : segmentAt(this, line)
  }

  lineOf(name: string, occurrence: number): number | undefined {
    const last = this.#last
    if (last !== undefined && last.name === name && last.occurrence === occurrence) return last.line
    const line = findSegment(this, name, occurrence)
    this.#last = { name, occurrence, line }
    return line
  }

  get(path: string): string | undefined {
    return leafAt(this, path)
  }

  set(path: string, value: string): Hl7Message {
    return parseHl7(withValue(this, path, value))
  }

  add(segment: string): Hl7Message {
    return parseHl7(withSegment(this.source, segment))
  }

  without(name: string): Hl7Message {
    return parseHl7(withoutSegments(this, name))
  }

  ack(options: Hl7AckOptions): Hl7Message {
    return parseHl7(ackText(this, options))
  }

  toString(): string {
    return this.source
  }

  toJSON(): string {
    return this.source
  }
}

/** True for a message of `parseHl7`. */
export function isHl7Message(value: unknown): value is Hl7Message {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, brand)
}

interface Parsed {
  readonly source: string
  readonly separators: Hl7Separators
  readonly lines: Hl7Lines
  /** Finds the line of a segment. The last one is remembered, because programs read several fields of a segment. */
  lineOf(name: string, occurrence: number): number | undefined
}

interface FoundSegment {
  readonly name: string
  readonly occurrence: number
  readonly line: number | undefined
}

function segmentAt(parsed: Parsed, line: number): Hl7Segment {
  return hl7Segment(textAt(parsed, line), parsed.separators)
}

function textAt({ source, lines }: Parsed, line: number): string {
  return source.slice(lines.starts[line], lines.ends[line])
}

function findSegment({ source, separators, lines }: Parsed, name: string, occurrence: number): number | undefined {
  let left = occurrence
  for (let line = 0; line < lines.starts.length; line++) {
    const start = lines.starts[line] ?? 0
    const behind = start + name.length
    if (!source.startsWith(name, start) || (behind !== lines.ends[line] && source.charAt(behind) !== separators.field)) continue
    left -= 1
    if (left === 0) return line
  }
  return undefined
}

function leafAt(parsed: Parsed, text: string): string | undefined {
  const path = readPath(text)
  const line = parsed.lineOf(path.segment, path.occurrence)
  if (line === undefined) return undefined
  return leafOf(textAt(parsed, line), path, parsed.separators)
}

function withValue(parsed: Parsed, text: string, value: string): string {
  const { source, separators, lines } = parsed
  const path = readPath(text)
  const line = parsed.lineOf(path.segment, path.occurrence)
  if (line === undefined) throw new OperationError('unprocessable', `The HL7 message has no segment ${path.segment}[${path.occurrence}].`)
  const changed = withLeaf(segmentAt(parsed, line), path, { value, separators })
  return source.slice(0, lines.starts[line]) + changed + source.slice(lines.ends[line])
}

function withSegment(source: string, segment: string): string {
  const end = source.endsWith('\r\n') ? '\r\n' : source.endsWith('\n') ? '\n' : '\r'
  return source.endsWith(end) ? `${source}${segment}${end}` : `${source}${end}${segment}`
}

function withoutSegments({ source, separators, lines }: Parsed, name: string): string {
  const kept: string[] = [source.slice(0, lines.starts[0])]
  for (const [line, start] of lines.starts.entries()) {
    const isNamed = hl7Segment(source.slice(start, lines.ends[line]), separators).name === name
    if (!isNamed) kept.push(source.slice(start, lines.starts[line + 1]))
  }
  return kept.join('')
}

/** Positions of the segments in the text of a message, in order. */
interface Hl7Lines {
  readonly starts: readonly number[]
  /** Index after the last character of each, before its line end. */
  readonly ends: readonly number[]
}

const MAX_LENGTH = 4 * 1024 * 1024
const MAX_SEGMENTS = 100_000

/**
 * Finds the segments; CR, LF and CRLF end one, empty lines are skipped.
 *
 * @throws {OperationError} `too-costly` beyond 4 Mi characters or 100,000 segments.
 */
function findLines(text: string): Hl7Lines {
  if (text.length > MAX_LENGTH) throw new OperationError('too-costly', `The HL7 message is longer than ${MAX_LENGTH} characters.`)
  const starts: number[] = []
  const ends: number[] = []
  let cr = text.indexOf('\r')
  let lf = text.indexOf('\n')
  for (let start = 0; start < text.length;) {
    const end = Math.min(cr < 0 ? text.length : cr, lf < 0 ? text.length : lf)
    if (end > start) {
      starts.push(start)
      ends.push(end)
    }
    start = end + 1
    if (end === cr) cr = text.indexOf('\r', start)
    if (end === lf) lf = text.indexOf('\n', start)
  }
  if (starts.length > MAX_SEGMENTS) throw new OperationError('too-costly', `The HL7 message has more than ${MAX_SEGMENTS} segments.`)
  return { starts, ends }
}

/** Removes MLLP framing (VT before, FS and CR after) if there is any. */
function withoutFraming(text: string): string {
  const start = text.charCodeAt(0) === 0x0b ? 1 : 0
  const { length } = text
  if (text.charCodeAt(length - 1) === 0x1c) return text.slice(start, length - 1)
  return text.slice(start, text.charCodeAt(length - 2) === 0x1c ? length - 2 : length)
}

/** The contents of an acknowledgment. */
export interface Hl7AckOptions {
  /** MSA-1: accepted, error or rejected, in original (`A`) or enhanced (`C`) mode. */
  readonly code: 'AA' | 'AE' | 'AR' | 'CA' | 'CE' | 'CR'
  /** MSH-10 of the acknowledgment. */
  readonly controlId: string
  /** MSH-7 of the acknowledgment, written in UTC. */
  readonly at: Date
  /** MSA-3, a message for people. */
  readonly text?: string
}

/** The parts of a message that its acknowledgment uses. */
interface AcknowledgedMessage {
  readonly separators: Hl7Separators
  readonly segments: readonly Hl7Segment[]
  get(path: string): string | undefined
}

/**
 * Writes the acknowledgment of a message: sender and receiver are swapped; separators, trigger event, processing id, version
 * and character set are those of the message.
 *
 * @see HL7 v2.9 chapter 2.9.2 "Acknowledgment"
 */
function ackText(message: AcknowledgedMessage, options: Hl7AckOptions): string {
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

/** Formats an HL7 date and time to the second, in UTC. */
function timestamp(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace(/[-:T]/g, '')}+0000`
}
