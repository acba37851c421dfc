import type { Work } from '../work/index.js'

const QUOTE = 0x22
export const COMMA = 0x2c
const MINUS = 0x2d
const NINE = 0x39
const COLON = 0x3a
const BACKSLASH = 0x5c
const SPACE = 0x20
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
/** The bit that turns a bracket into the brace of the same side. */
const TO_BRACE = 0x20

/** Number of characters that are scanned in one go. */
export const PIECE = 500_000

/** True for a character that opens an array or object. */
export function isOpening(code: number): boolean {
  return (code | TO_BRACE) === OPEN_BRACE
}

/** True for a character that closes an array or object. */
export function isClosing(code: number): boolean {
  return (code | TO_BRACE) === CLOSE_BRACE
}

/** True for the white space of JSON. */
export function isSpace(code: number): boolean {
  return code === SPACE || code === 0x0a || code === 0x0d || code === 0x09
}

/** Index of the first character at or after `start` that is not white space. */
export function afterSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

/** Index of the closing quote of the string that opens at `start`; the length of the text if the string is not closed. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, quote: number): boolean {
  let at = quote - 1
  while (text.charCodeAt(at) === BACKSLASH) at--
  return (quote - at) % 2 === 0
}

/** State of the search for the end of a value. */
export interface ValueScan {
  /** Index of the next character; the end of the value once it is found. */
  at: number
  /** Number of open arrays and objects. */
  depth: number
}

/**
 * Searches for the end of a value of well-formed JSON: the comma or closing bracket after it.
 *
 * @returns False if the end is not before the limit; the same scan may continue from there.
 */
export function findValueEnd(scan: ValueScan, text: string, limit: number): boolean {
  const end = Math.min(limit, text.length)
  let { at, depth } = scan
  for (; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    else if (code === COMMA ? depth === 0 : isClosing(code) && depth-- === 0) {
      scan.at = at
      return true
    } else if (isOpening(code)) depth++
  }
  scan.at = at
  scan.depth = depth
  return false
}

/** Removes the white space between tokens. */
export function* compact(text: string): Work<string> {
  if (!/[ \n\r\t]/.test(text)) return text
  const compacting: Compacting = { text, kept: '', from: 0 }
  for (let at = compactFrom(compacting, 0); at < text.length; at = compactFrom(compacting, at)) yield
  return compacting.from === 0 ? text : compacting.kept + text.slice(compacting.from)
}

interface Compacting {
  readonly text: string
  kept: string
  /** Index of the first character that is not yet in `kept`. */
  from: number
}

/** Compacts a piece. @returns Where the next one begins. */
function compactFrom(compacting: Compacting, start: number): number {
  const { text } = compacting
  const end = Math.min(text.length, start + PIECE)
  let at = start
  for (; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    if (code > SPACE) continue
    if (compacting.from < at) compacting.kept += text.slice(compacting.from, at)
    compacting.from = at + 1
  }
  return at
}

/** Measurements of a JSON text, from one pass over it. Meaningless if the text is not JSON. */
export interface JsonMeasure {
  /** Maximum nesting of arrays and objects. */
  readonly depth: number
  /** Total number of members of all objects, including duplicate names. */
  readonly members: number
  /** Number of lists, including empty ones. */
  readonly lists: number
  /** Number of strings, numbers, booleans, nulls, and empty lists and objects. */
  readonly leaves: number
  /** Upper bound of the number of values of all kinds. */
  readonly values: number
  /** Numbers that JavaScript would write differently (`1.50`, `1e3`), by their position among all numbers; empty unless requested. */
  readonly numbers: ReadonlyMap<number, string>
}

interface Measuring {
  depth: number
  open: number
  members: number
  lists: number
  objects: number
  leaves: number
  count: number
  readonly numbers: Map<number, string> | undefined
}

/** Measures a text, which need not be JSON, before it is parsed. */
export function* measureJson(text: string, { numbers }: { readonly numbers: boolean }): Work<JsonMeasure> {
  const texts = new Map<number, string>()
  const measuring: Measuring = {
    depth: 0,
    open: 0,
    members: 0,
    lists: 0,
    objects: 0,
    leaves: 1,
    count: 0,
    numbers: numbers ? texts : undefined,
  }
  for (let at = measureFrom(measuring, text, 0); at < text.length; at = measureFrom(measuring, text, at)) yield
  const { depth, members, lists, objects, leaves } = measuring
  return { depth, members, lists, leaves, values: leaves + lists + objects, numbers: texts }
}

/** Measures a piece. @returns Where the next one begins. */
function measureFrom(measuring: Measuring, text: string, start: number): number {
  const end = Math.min(text.length, start + PIECE)
  const { numbers } = measuring
  let at = start
  for (; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    else if (code === COMMA) measuring.leaves++
    else if (code === COLON) measuring.members++
    else if (code > NINE) measureBracket(measuring, code)
    else if (code >= MINUS && numbers !== undefined) at = passNumber(numbers, text, { start: at, index: measuring.count++ })
  }
  return at
}

function measureBracket(measuring: Measuring, code: number): void {
  if (isClosing(code)) measuring.open--
  if (!isOpening(code)) return
  if (code === OPEN_BRACE) measuring.objects++
  else measuring.lists++
  if (++measuring.open > measuring.depth) measuring.depth = measuring.open
}

/** Scans a number, and records it if JavaScript would write it differently. @returns Index of its last character. */
function passNumber(
  numbers: Map<number, string>,
  text: string,
  { start, index }: { readonly start: number; readonly index: number },
): number {
  let end = start + 1
  while (isInNumber(text.charCodeAt(end))) end++
  const word = text.slice(start, end)
  if (String(Number(word)) !== word) numbers.set(index, word)
  return end - 1
}

/** True for digits, `-`, `+`, `.` and the `e` of an exponent. Their order is not checked, because the parser rejects malformed numbers. */
function isInNumber(code: number): boolean {
  return (code >= 0x2b && code <= NINE && code !== COMMA) || code === 0x45 || code === 0x65
}
