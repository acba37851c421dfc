import { decodeEscapes, encodeEscapes, type Hl7Separators } from './separators.js'

/** One component: its subcomponents are the leaves of a message. */
export interface Hl7Component {
  /** As written. */
  readonly text: string
  /** At least one; escapes decoded. */
  readonly subcomponents: readonly string[]
}

/** One repetition of a field. */
export interface Hl7Repetition {
  /** As written. */
  readonly text: string
  /** At least one. */
  readonly components: readonly Hl7Component[]
}

/** A field; one that the segment does not have is the empty field. */
export interface Hl7Field {
  /** As written. */
  readonly text: string
  /** At least one. */
  readonly repetitions: readonly Hl7Repetition[]
}

/** Reads a field; its parts are parsed when they are read. */
function hl7Field(text: string, separators: Hl7Separators): Hl7Field {
  return {
    text,
    get repetitions() {
      return text.split(separators.repetition).map((part) => repetition(part, separators))
    },
  }
}

/** A field without structure and without escapes, as MSH-1 and MSH-2 are. */
function plainField(text: string): Hl7Field {
  return { text, repetitions: [{ text, components: [{ text, subcomponents: [text] }] }] }
}

function repetition(text: string, separators: Hl7Separators): Hl7Repetition {
  return {
    text,
    get components() {
      return text.split(separators.component).map((part) => component(part, separators))
    },
  }
}

function component(text: string, separators: Hl7Separators): Hl7Component {
  return {
    text,
    get subcomponents() {
      return text.split(separators.subcomponent).map((part) => decodeEscapes(part, separators))
    },
  }
}

/** One segment. */
export interface Hl7Segment {
  /** Its first three letters, for example `PID`. */
  readonly name: string
  /** As written, without its line end. */
  readonly text: string
  /** Number of its last field. */
  readonly size: number
  /** Field by its HL7 number, from 1; beyond `size` the empty field. */
  field(number: number): Hl7Field
}

/** Segments whose first field is the field separator itself. */
const HEADERS: ReadonlySet<string> = new Set(['MSH', 'FHS', 'BHS'])

/** Reads a segment; its fields are split when one is first read. */
export function hl7Segment(text: string, separators: Hl7Separators): Hl7Segment {
  const name = text.split(separators.field, 1)[0] ?? ''
  const isHeader = HEADERS.has(name)
  let split: readonly string[] | undefined
  const fields = () => (split ??= fieldTexts(text, separators.field, isHeader))
  return {
    name,
    text,
    get size() {
      return fields().length - 1
    },
    field(number) {
      const field = fields()[number] ?? ''
      return isHeader && number <= 2 ? plainField(field) : hl7Field(field, separators)
    },
  }
}

/** The position of a leaf in a message; every number counts from 1. */
export interface Hl7Path {
  readonly segment: string
  /** Number among the segments of that name. */
  readonly occurrence: number
  readonly field: number
  readonly repetition: number
  readonly component: number
  readonly subcomponent: number
}

const PATH = /^([A-Z][A-Z0-9]{2})(?:\[(\d{1,5})\])?[-.](\d{1,4})(?:\[(\d{1,4})\])?(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?$/

/**
 * Reads a path like `PID-3[2].4.1` or `PID.3[2].4.1`: segment, `[occurrence]`, field, `[repetition]`, component, subcomponent. A number
 * that is left out is 1, as HL7 lets a receiver that expects less structure read the first part.
 *
 * @throws {TypeError} When the path has another form or a number is 0.
 */
export function readPath(path: string): Hl7Path {
  const [, segment, occurrence = 1, field = 1, repetition = 1, component = 1, subcomponent = 1] = PATH.exec(path) ?? []
  const least = Math.min(Number(occurrence), Number(field), Number(repetition), Number(component), Number(subcomponent))
  if (segment === undefined || least === 0) throw new TypeError(`${JSON.stringify(path)} is not an HL7 path like PID-3[2].4.1.`)
  return {
    segment,
    occurrence: Number(occurrence),
    field: Number(field),
    repetition: Number(repetition),
    component: Number(component),
    subcomponent: Number(subcomponent),
  }
}

/** The decoded text of one leaf of a segment; `undefined` when it is absent or empty. */
export function leafOf(segment: string, path: Hl7Path, separators: Hl7Separators): string | undefined {
  const isHeader = HEADERS.has(path.segment)
  if (isHeader && path.field <= 2) return isFirst(path) ? fieldTexts(segment, separators.field, isHeader)[path.field] : undefined
  const field = partOf(segment, separators.field, isHeader ? path.field : path.field + 1)
  const repetition = partOf(field, separators.repetition, path.repetition)
  const component = partOf(repetition, separators.component, path.component)
  const leaf = partOf(component, separators.subcomponent, path.subcomponent)
  return leaf === '' ? undefined : decodeEscapes(leaf, separators)
}

/** One of the parts of a text, counted from 1; empty when there are fewer. The parts before it are passed over, not made. */
function partOf(text: string, separator: string, at: number): string {
  let start = 0
  for (let left = at; left > 1; left--) {
    const end = text.indexOf(separator, start)
    if (end < 0) return ''
    start = end + 1
  }
  const end = text.indexOf(separator, start)
  return end < 0 ? text.slice(start) : text.slice(start, end)
}

/** The segment's text with one leaf replaced; missing fields, repetitions, components and subcomponents before it are added empty. */
export function withLeaf(segment: Hl7Segment, path: Hl7Path, edit: { readonly value: string; readonly separators: Hl7Separators }): string {
  const { value, separators } = edit
  const isHeader = HEADERS.has(segment.name)
  if (isHeader && path.field <= 2) throw new TypeError(`${segment.name}-1 and ${segment.name}-2 declare the separators and cannot be set.`)
  const inComponent = (text: string) =>
    withPart(text, { separator: separators.subcomponent, at: path.subcomponent }, () => encodeEscapes(value, separators))
  const inRepetition = (text: string) => withPart(text, { separator: separators.component, at: path.component }, inComponent)
  const inField = (text: string) => withPart(text, { separator: separators.repetition, at: path.repetition }, inRepetition)
  // The text splits into the name and the fields from 1; in a header field 1 is the separator itself.
  return withPart(segment.text, { separator: separators.field, at: isHeader ? path.field : path.field + 1 }, inField)
}

function isFirst({ repetition, component, subcomponent }: Hl7Path): boolean {
  return repetition === 1 && component === 1 && subcomponent === 1
}

function fieldTexts(text: string, separator: string, isHeader: boolean): readonly string[] {
  const parts = text.split(separator)
  return isHeader ? [parts[0] ?? '', separator, ...parts.slice(1)] : parts
}

function withPart(text: string, place: { readonly separator: string; readonly at: number }, edit: (part: string) => string): string {
  const parts = text.split(place.separator)
  while (parts.length < place.at) parts.push('')
  parts[place.at - 1] = edit(parts[place.at - 1] ?? '')
  return parts.join(place.separator)
}
