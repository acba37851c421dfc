import { OperationError } from '../errors/index.js'

/** The separators of a message, as its MSH segment declares them; each is one UTF-16 code unit. */
export interface Hl7Separators {
  readonly field: string
  readonly component: string
  readonly repetition: string
  readonly escape: string
  readonly subcomponent: string
}

const FIRST = 'MSH'.length
const DECLARED = 5
/** HL7 2.7 allows one more character in MSH-2, the truncation mark, which separates nothing. */
const WITH_TRUNCATION = 6

/** The beginning of nearly every message, with the usual separators. */
const COMMON = 'MSH|^~\\&|'
const COMMON_SEPARATORS: Hl7Separators = { field: '|', component: '^', repetition: '~', escape: '\\', subcomponent: '&' }

/**
 * Reads the separators that follow the letters `MSH`.
 *
 * @throws {OperationError} `body-invalid` when the text has no MSH segment or its separators are not five distinct marks.
 * @see HL7 v2.9 chapter 2.5.4 "Message delimiters"
 */
export function readSeparators(text: string): Hl7Separators {
  if (text.startsWith(COMMON)) return COMMON_SEPARATORS
  if (!text.startsWith('MSH')) throw new OperationError('body-invalid', 'The HL7 message does not begin with an MSH segment.')
  const marks = declaration(text).split('')
  const [field, component, repetition, escape, subcomponent] = marks
  if (
    field === undefined ||
    component === undefined ||
    repetition === undefined ||
    escape === undefined ||
    subcomponent === undefined ||
    new Set(marks).size < marks.length ||
    !marks.every(isMark)
  ) {
    throw new OperationError(
      'body-invalid',
      'The MSH segment does not declare five distinct separators that are neither letters nor digits.',
    )
  }
  return { field, component, repetition, escape, subcomponent }
}

/** Returns MSH-1 and MSH-2; empty when MSH-2 has an invalid length. */
function declaration(text: string): string {
  const field = text.charAt(FIRST)
  const rest = text.slice(FIRST + 1, FIRST + WITH_TRUNCATION + 1)
  const end = rest.split(field, 1)[0]?.split(/[\r\n]/, 1)[0]?.length ?? 0
  return end === DECLARED - 1 || end === WITH_TRUNCATION - 1 ? text.slice(FIRST, FIRST + 1 + end) : ''
}

function isMark(mark: string): boolean {
  return mark.length === 1 && /^[^\p{L}\p{N}\p{C}\p{Z}]$/u.test(mark)
}

/**
 * Decodes the escapes of a leaf: `\F\ \S\ \T\ \R\ \E\` become the separators, `\Xdd..\` the UTF-8 text of those bytes and
 * `\.br\` a line feed. Other escapes, and bytes that are not UTF-8, stay as written.
 *
 * @see HL7 v2.9 chapter 2.7 "Use of escape sequences in text fields"
 */
function decodeEscapes(text: string, separators: Hl7Separators): string {
  const mark = separators.escape
  let start = text.indexOf(mark)
  if (start < 0) return text
  let decoded = ''
  let done = 0
  while (start >= 0) {
    const end = text.indexOf(mark, start + 1)
    if (end < 0) break
    decoded += text.slice(done, start) + (meaningOf(text.slice(start + 1, end), separators) ?? text.slice(start, end + 1))
    done = end + 1
    start = text.indexOf(mark, done)
  }
  return decoded + text.slice(done)
}

/** The opposite of `decodeEscapes`: separators and control characters of `value` become escapes. */
export function encodeEscapes(value: string, separators: Hl7Separators): string {
  let encoded = ''
  let done = 0
  for (let at = 0; at < value.length; at++) {
    const escape = escapeOf(value.charAt(at), separators)
    if (escape === undefined) continue
    encoded += `${value.slice(done, at)}${separators.escape}${escape}${separators.escape}`
    done = at + 1
  }
  return encoded + value.slice(done)
}

function meaningOf(escape: string, separators: Hl7Separators): string | undefined {
  switch (escape) {
    case 'F':
      return separators.field
    case 'S':
      return separators.component
    case 'T':
      return separators.subcomponent
    case 'R':
      return separators.repetition
    case 'E':
      return separators.escape
    case '.br':
      return '\n'
    default:
      return escape.startsWith('X') ? textOfBytes(escape.slice(1)) : undefined
  }
}

function textOfBytes(hex: string): string | undefined {
  if (hex.length === 0 || hex.length % 2 > 0 || !/^[0-9A-Fa-f]+$/.test(hex)) return undefined
  try {
    return decodeURIComponent(hex.replace(/../g, '%$&'))
  } catch {
    return undefined
  }
}

function escapeOf(char: string, separators: Hl7Separators): string | undefined {
  switch (char) {
    case separators.field:
      return 'F'
    case separators.component:
      return 'S'
    case separators.subcomponent:
      return 'T'
    case separators.repetition:
      return 'R'
    case separators.escape:
      return 'E'
    default:
      return char < ' ' ? `X${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}` : undefined
  }
}

/** A component. Its subcomponents are the leaves of a message. */
export interface Hl7Component {
  /** As written. */
  readonly text: string
  /** At least one; escapes decoded. */
  readonly subcomponents: readonly string[]
}

/** A repetition of a field. */
export interface Hl7Repetition {
  /** As written. */
  readonly text: string
  /** At least one. */
  readonly components: readonly Hl7Component[]
}

/** A field; an absent field is represented by an empty one. */
export interface Hl7Field {
  /** As written. */
  readonly text: string
  /** At least one. */
  readonly repetitions: readonly Hl7Repetition[]
}

/** Parts are parsed at each access. Classes, because creating an object with its own getter takes several times as long. */
class Field implements Hl7Field {
  readonly text: string
  readonly #separators: Hl7Separators

  constructor(text: string, separators: Hl7Separators) {
    this.text = text
    this.#separators = separators
  }

  get repetitions(): readonly Hl7Repetition[] {
    return partsOf(this.text, this.#separators.repetition).map((part) => new Repetition(part, this.#separators))
  }
}

class Repetition implements Hl7Repetition {
  readonly text: string
  readonly #separators: Hl7Separators

  constructor(text: string, separators: Hl7Separators) {
    this.text = text
    this.#separators = separators
  }

  get components(): readonly Hl7Component[] {
    return partsOf(this.text, this.#separators.component).map((part) => new Component(part, this.#separators))
  }
}

class Component implements Hl7Component {
  readonly text: string
  readonly #separators: Hl7Separators

  constructor(text: string, separators: Hl7Separators) {
    this.text = text
    this.#separators = separators
  }

  get subcomponents(): readonly string[] {
    return partsOf(this.text, this.#separators.subcomponent).map((part) => decodeEscapes(part, this.#separators))
  }
}

/** Splits a text. Most texts have one part, for which `split` takes several times as long as looking for the separator (bench `hl7v2`). */
function partsOf(text: string, separator: string): readonly string[] {
  return text.includes(separator) ? text.split(separator) : [text]
}

/** Creates a field without structure and escapes, such as MSH-1 and MSH-2. */
function plainField(text: string): Hl7Field {
  return { text, repetitions: [{ text, components: [{ text, subcomponents: [text] }] }] }
}

/** A segment of a message. */
export interface Hl7Segment {
  /** Name, for example `PID`. */
  readonly name: string
  /** Text as written, without line end. */
  readonly text: string
  /** Number of the last field. */
  readonly size: number
  /** Returns a field by its HL7 number, from 1; an empty field beyond `size`. */
  field(number: number): Hl7Field
}

/** Segments whose first field is the field separator itself. */
const HEADERS: ReadonlySet<string> = new Set(['MSH', 'FHS', 'BHS'])

/** Creates a segment from its text; fields are split when the first one is read. */
export function hl7Segment(text: string, separators: Hl7Separators): Hl7Segment {
  return new Segment(text, separators)
}

class Segment implements Hl7Segment {
  readonly name: string
  readonly text: string
  readonly #separators: Hl7Separators
  readonly #isHeader: boolean
  #fields: readonly string[] | undefined

  constructor(text: string, separators: Hl7Separators) {
    const end = text.indexOf(separators.field)
    this.name = end < 0 ? text : text.slice(0, end)
    this.text = text
    this.#separators = separators
    this.#isHeader = HEADERS.has(this.name)
  }

  get #split(): readonly string[] {
    this.#fields ??= fieldTexts(this.text, this.#separators.field, this.#isHeader)
    return this.#fields
  }

  get size(): number {
    return this.#split.length - 1
  }

  field(number: number): Hl7Field {
    const field = this.#split[number] ?? ''
    return this.#isHeader && number <= 2 ? plainField(field) : new Field(field, this.#separators)
  }
}

/** The position of a leaf in a message; every number counts from 1. */
interface Hl7Path {
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
 * Parses a path like `PID-3[2].4.1` or `PID.3[2].4.1`: segment, `[occurrence]`, field, `[repetition]`, component, subcomponent. An omitted number
 * is 1, because in HL7 a receiver that expects less structure reads the first part.
 *
 * @throws {TypeError} When the path has another form or a number is 0.
 */
export function readPath(path: string): Hl7Path {
  const known = PATHS.get(path)
  if (known !== undefined) return known
  const read = pathOf(path)
  if (PATHS.size >= MAX_PATHS) PATHS.clear()
  PATHS.set(path, read)
  return read
}

/** Parsed paths, by text: a program uses few different paths. */
const PATHS = new Map<string, Hl7Path>()
const MAX_PATHS = 1_000

function pathOf(path: string): Hl7Path {
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

/** Returns the decoded text of a leaf of a segment, which is given by its text; `undefined` when it is absent or empty. */
export function leafOf(segment: string, path: Hl7Path, separators: Hl7Separators): string | undefined {
  const isHeader = HEADERS.has(path.segment)
  if (isHeader && path.field <= 2) return isFirst(path) ? fieldTexts(segment, separators.field, isHeader)[path.field] : undefined
  const field = partOf(segment, separators.field, isHeader ? path.field : path.field + 1)
  const repetition = partOf(field, separators.repetition, path.repetition)
  const component = partOf(repetition, separators.component, path.component)
  const leaf = partOf(component, separators.subcomponent, path.subcomponent)
  return leaf === '' ? undefined : decodeEscapes(leaf, separators)
}

/**
 * Finds a part by its number from 1, without creating the parts before it; empty when there are fewer. It uses `indexOf`, because the engine of the bot
 * sandbox interprets: a loop over the characters takes several times as long there.
 */
function partOf(text: string, separator: string, at: number): string {
  let start = 0
  for (let left = at; left > 1; left--) {
    const end = text.indexOf(separator, start)
    if (end < 0) return ''
    start = end + 1
  }
  const end = text.indexOf(separator, start)
  return text.slice(start, end < 0 ? text.length : end)
}

/** Returns the segment's text with one leaf replaced; missing fields, repetitions, components and subcomponents before it are added empty. */
export function withLeaf(segment: Hl7Segment, path: Hl7Path, edit: { readonly value: string; readonly separators: Hl7Separators }): string {
  const { value, separators } = edit
  const isHeader = HEADERS.has(segment.name)
  if (isHeader && path.field <= 2) throw new TypeError(`${segment.name}-1 and ${segment.name}-2 declare the separators and cannot be set.`)
  const inComponent = (text: string) =>
    withPart(text, { separator: separators.subcomponent, at: path.subcomponent }, () => encodeEscapes(value, separators))
  const inRepetition = (text: string) => withPart(text, { separator: separators.component, at: path.component }, inComponent)
  const inField = (text: string) => withPart(text, { separator: separators.repetition, at: path.repetition }, inRepetition)
  // The text splits into the name and the fields from 1; in a header, field 1 is the separator itself.
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
