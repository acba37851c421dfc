import type { Work } from '../work/index.js'
import { afterSpace, measureJson, type JsonMeasure } from './scan.js'
import {
  isQuote,
  JsonFault,
  readString,
  readWord,
  skipSpace,
  valueOfWord,
  type JsonProblem,
  type JsonProblemKind,
  type SourceReader,
} from './source-tokens.js'
import { parseInPieces } from './parse.js'
import { isObject } from './narrow.js'

/** A parsed JSON text, with the information that `JSON.parse` loses. */
export interface JsonSource {
  readonly text: string
  /** Offset of the value in the text. */
  readonly start: number
  /** The result of `JSON.parse`; of equal names the last wins. `undefined` after a fault. */
  readonly value: unknown
  /** Problems that were repaired, in the order of the text. */
  readonly repairs: readonly JsonProblem[]
  /** The problem that could not be repaired, if any. */
  readonly fault?: JsonProblem
  /** The original text of a number (`1.50`, `1e3`); `undefined` if JavaScript writes it the same way. */
  readonly numberText: (parent: object, key: string | number) => string | undefined
  /** Offset of each value, by parent object or array and by name or index; only with the option `positions`. */
  readonly positions: ReadonlyMap<object, ReadonlyMap<string | number, number>>
}

/** Options of `readJsonSource`. */
export interface JsonSourceOptions {
  /** Maximum nesting of objects and arrays. Default 128. */
  readonly maxDepth?: number
  /** Maximum number of members and items. Default 1,000,000. */
  readonly maxMembers?: number
  /** Whether one byte order mark may precede the value. Default true; false for a text whose decoder has already removed it. */
  readonly byteOrderMark?: boolean
  /** Whether to keep the position of each value. Default false. */
  readonly positions?: boolean
}

type JsonContainer = { [name: string]: unknown } | unknown[]

/** An object or array that is not yet closed. */
interface Frame {
  readonly container: JsonContainer
  /** Its name or index in the frame below. */
  readonly key: string | number
  readonly outer: Frame | undefined
  readonly depth: number
  /** The state of the container, which determines what may come next besides the closing bracket. */
  expects: 'first' | 'comma' | 'member'
}

interface Building extends SourceReader {
  frame: Frame | undefined
  /** Name or index in the frame of the value that is being read. */
  key: string | number | undefined
  root: unknown
  start: number
  members: number
  /** Comments since the last value. They belong to the next value or, if none follows, to the last one. */
  comments: Pick<JsonProblem, 'offset' | 'token'>[]
  /** Assigns those comments to a member or item of the frame, or without a key to the frame's container. */
  readonly placeComments: (key: string | number | undefined) => void
  readonly limits: Required<JsonSourceOptions>
  readonly numbers: Map<object, Map<string | number, string>>
  readonly offsets: Map<object, Map<string | number, number>>
}

const COMMENT: JsonProblemKind = 'comment'
const MAX_REPAIRS = 1000
/** Number of members that are read in one go. */
const STEPS = 1000
const BYTE_ORDER_MARK = 0xfeff
const COMMA = 44
const COLON = 58
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Reads a JSON text, and repairs problems wherever the meaning is clear. Never throws, whatever the text. */
export function* readJsonSource(text: string, options: JsonSourceOptions = {}): Work<JsonSource> {
  const limits = { maxDepth: 128, maxMembers: 1_000_000, positions: false, byteOrderMark: true, ...options }
  const exact = limits.positions ? undefined : yield* exactJson(text, limits)
  return exact === undefined ? yield* repairedSource(text, limits) : sourceOf(text, exact)
}

function sourceOf(text: string, { value, numbers }: ExactJson): JsonSource {
  return {
    text,
    start: afterSpace(text, 0),
    value,
    repairs: [],
    numberText: (parent, key) => numbers.get(parent)?.get(key),
    positions: new Map(),
  }
}

/** Reads a text with a parser of its own, which knows the position of each value and repairs problems. */
function* repairedSource(text: string, limits: Required<JsonSourceOptions>): Work<JsonSource> {
  const repairs: JsonProblem[] = []
  const building: Building = {
    text,
    at: limits.byteOrderMark && text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0,
    repair: (kind, offset, token) => {
      if (kind === 'comment') building.comments.push({ offset, token })
      else repairs.push({ kind, offset, token, path: pathOf(building) })
      if (repairs.length + building.comments.length >= MAX_REPAIRS) throw new JsonFault('too-many', offset)
    },
    placeComments: (key) => {
      const path = [...pathOf(building), ...(key === undefined || building.frame === undefined ? [] : [key])]
      repairs.push(...building.comments.map((comment) => ({ ...comment, kind: COMMENT, path })))
      building.comments = []
    },
    frame: undefined,
    key: undefined,
    root: undefined,
    start: 0,
    members: 0,
    comments: [],
    limits,
    numbers: new Map(),
    offsets: new Map(),
  }
  const fault = yield* build(building)
  return {
    text,
    start: building.start,
    value: fault === undefined ? building.root : undefined,
    repairs,
    ...(fault !== undefined && { fault }),
    numberText: (parent, key) => building.numbers.get(parent)?.get(key),
    positions: building.offsets,
  }
}

function* build(building: Building): Work<JsonProblem | undefined> {
  try {
    const first = skipSpace(building)
    building.start = building.at
    if (first === BYTE_ORDER_MARK) throw new JsonFault('unexpected', building.at)
    readValue(building, '')
    for (let steps = 1; building.frame !== undefined; steps++) {
      readNext(building, building.frame)
      if (steps % STEPS === 0) yield
    }
    if (!Number.isNaN(skipSpace(building))) throw new JsonFault('unexpected', building.at)
    building.placeComments(undefined)
    return undefined
  } catch (caught) {
    if (!(caught instanceof JsonFault)) throw caught
    building.placeComments(undefined)
    const { kind, offset } = caught
    return { kind, offset, token: building.text.charAt(offset), path: pathOf(building) }
  }
}

function readNext(building: Building, frame: Frame): void {
  const code = skipSpace(building)
  if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) return close(building, frame, code)
  if (code === COMMA) return passComma(building, frame)
  if (frame.expects === 'comma') {
    building.key = Array.isArray(frame.container) ? frame.container.length : undefined
    building.repair('comma-missing', building.at, building.text.charAt(building.at))
    building.key = undefined
  }
  frame.expects = 'comma'
  return Array.isArray(frame.container) ? readValue(building, frame.container.length) : readMember(building, frame.container)
}

function close(building: Building, frame: Frame, code: number): void {
  if (Array.isArray(frame.container) !== (code === CLOSE_ARRAY)) throw new JsonFault('unexpected', building.at)
  if (frame.expects === 'member') building.repair('comma-extra', building.at, building.text.charAt(building.at))
  if (building.comments.length > 0) building.placeComments(lastKey(frame))
  building.at++
  building.frame = frame.outer
}

function lastKey({ container }: Frame): string | number | undefined {
  return Array.isArray(container) ? (container.length > 0 ? container.length - 1 : undefined) : Object.keys(container).at(-1)
}

function passComma(building: Building, frame: Frame): void {
  if (frame.expects !== 'comma') building.repair('comma-extra', building.at, ',')
  frame.expects = 'member'
  building.at++
}

function readMember(building: Building, object: object): void {
  const start = building.at
  const quoted = isQuote(building.text.charCodeAt(start))
  const name = quoted ? readString(building) : readWord(building)
  if (!quoted) building.repair('name-unquoted', start, name)
  if (skipSpace(building) !== COLON) throw new JsonFault('unexpected', building.at)
  building.at++
  if (Object.hasOwn(object, name)) building.repair('duplicate-name', start, name)
  readValue(building, name)
}

function readValue(building: Building, key: string | number): void {
  const code = skipSpace(building)
  const start = building.at
  if (building.comments.length > 0) building.placeComments(key)
  if (++building.members > building.limits.maxMembers) throw new JsonFault('too-many', start)
  if (building.limits.positions) keep(building.offsets, building, { key, value: start })
  if (code === OPEN_OBJECT || code === OPEN_ARRAY) return open(building, key, code === OPEN_ARRAY ? [] : {})
  building.key = building.frame === undefined ? undefined : key
  attach(building, key, isQuote(code) ? readString(building) : readBare(building, key))
  building.key = undefined
}

function readBare(building: Building, key: string | number): unknown {
  const start = building.at
  const word = readWord(building)
  const value = valueOfWord(building, word, start)
  // A text that consists of one word was not meant to be JSON.
  if (building.frame === undefined && typeof value === 'string') throw new JsonFault('unexpected', start)
  if (typeof value === 'number' && String(value) !== word) keep(building.numbers, building, { key, value: word })
  return value
}

function open(building: Building, key: string | number, container: JsonContainer): void {
  const depth = (building.frame?.depth ?? 0) + 1
  if (depth > building.limits.maxDepth) throw new JsonFault('too-deep', building.at)
  attach(building, key, container)
  building.at++
  building.frame = { container, key, outer: building.frame, depth, expects: 'first' }
}

function attach(building: Building, key: string | number, value: unknown): void {
  const container = building.frame?.container
  if (container === undefined) building.root = value
  else if (Array.isArray(container)) container.push(value)
  else if (key === '__proto__') Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true })
  else container[key] = value
}

function keep<T>(kept: Map<object, Map<string | number, T>>, { frame }: Building, entry: { key: string | number; value: T }): void {
  if (frame === undefined) return
  const known = kept.get(frame.container)
  if (known === undefined) kept.set(frame.container, new Map([[entry.key, entry.value]]))
  else known.set(entry.key, entry.value)
}

function pathOf({ frame, key }: Building): readonly (string | number)[] {
  const path = key === undefined ? [] : [key]
  for (let open = frame; open?.outer !== undefined; open = open.outer) path.push(open.key)
  return path.reverse()
}

/** The first violation of the JSON grammar in a text, whether or not it could be repaired; `undefined` for valid JSON. */
export function firstProblem({ fault, repairs: [repair] }: Pick<JsonSource, 'fault' | 'repairs'>): JsonProblem | undefined {
  // A repaired problem may be the cause of a later fault.
  return fault === undefined || (repair !== undefined && repair.offset < fault.offset) ? repair : fault
}

/** A position in a text as editors show it: lines and columns from 1, columns in UTF-16 code units. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** The line and column of an offset. Lines end with LF. */
export function placeIn(text: string, offset: number): TextPlace {
  let line = 1
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', start)) {
    line++
    start = end + 1
  }
  return { line, column: offset - start + 1 }
}

/** The result of `JSON.parse`, with the text of numbers that JavaScript would write differently, by parent object or array and by name or index. */
interface ExactJson {
  readonly value: unknown
  readonly numbers: ReadonlyMap<object, ReadonlyMap<string | number, string>>
}

/** Limits of `exactJson`. */
interface ExactLimits {
  readonly maxDepth: number
  readonly maxMembers: number
}

/**
 * Reads well-formed JSON within the limits and without duplicate names, in a third of the time of the reader that repairs
 * problems (bench `validate`). Returns `undefined` for any other text.
 */
function* exactJson(text: string, { maxDepth, maxMembers }: ExactLimits): Work<ExactJson | undefined> {
  const seen = yield* measureJson(text, { numbers: true })
  if (seen.depth > maxDepth || seen.values > maxMembers) return undefined
  yield
  let value: unknown
  try {
    value = yield* parseInPieces(text)
  } catch {
    return undefined
  }
  const counting: Counting = { texts: seen.numbers, numbers: new Map(), number: 0, members: 0, isInOrder: true }
  yield* count(counting, value)
  return counting.members === seen.members && (counting.isInOrder || seen.numbers.size === 0)
    ? { value, numbers: counting.numbers }
    : undefined
}

/** Number of members that are counted in one go. */
const COUNTED = 5_000

interface Counting {
  /** Numbers that JavaScript would write differently, by their position among all numbers. */
  readonly texts: JsonMeasure['numbers']
  readonly numbers: Map<object, Map<string | number, string>>
  /** Count of numbers so far. */
  number: number
  members: number
  /** False if members may be in another order than in the text, because JavaScript puts names that are array indexes first. */
  isInOrder: boolean
}

/** A list or object whose members are being counted. */
interface OpenValue {
  readonly holder: object
  /** Absent for a list. */
  readonly names: readonly string[] | undefined
  readonly size: number
  readonly valueAt: (index: number) => unknown
  next: number
}

/** Counts the members of a value, and records the numbers that are written differently. */
function* count(counting: Counting, whole: unknown): Work<void> {
  const open: OpenValue[] = []
  enter(open, whole)
  let counted = 0
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    if (inner.next === inner.size) open.pop()
    else {
      countNext(counting, open, inner)
      inner.next++
    }
    if (++counted % COUNTED === 0) yield
  }
}

function enter(open: OpenValue[], value: unknown): void {
  if (Array.isArray(value)) open.push({ holder: value, names: undefined, size: value.length, valueAt: (index) => value[index], next: 0 })
  else if (isObject(value)) {
    const names = Object.keys(value)
    open.push({ holder: value, names, size: names.length, valueAt: (index) => value[names[index] ?? ''], next: 0 })
  }
}

function countNext(counting: Counting, open: OpenValue[], { holder, names, valueAt, next }: OpenValue): void {
  const name = names?.[next]
  if (name !== undefined) {
    counting.members++
    if (name.charCodeAt(0) <= 0x39) counting.isInOrder = false
  }
  const value = valueAt(next)
  if (typeof value === 'object') enter(open, value)
  else if (typeof value === 'number') countNumber(counting, holder, name ?? next)
}

function countNumber(counting: Counting, holder: object, key: string | number): void {
  const text = counting.texts.get(counting.number++)
  if (text === undefined) return
  const known = counting.numbers.get(holder)
  if (known === undefined) counting.numbers.set(holder, new Map([[key, text]]))
  else known.set(key, text)
}
