import type { Work } from '../work/index.js'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const NINE = 0x39
const COLON = 0x3a
const BACKSLASH = 0x5c
const SPACE = 0x20
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
/** What a bracket lacks to be the brace of the same side. */
const TO_BRACE = 0x20

/** Characters that are scanned in one go. */
export const PIECE = 500_000

/** True for what opens an array or object. */
export function isOpening(code: number): boolean {
  return (code | TO_BRACE) === OPEN_BRACE
}

/** True for what closes an array or object. */
function isClosing(code: number): boolean {
  return (code | TO_BRACE) === CLOSE_BRACE
}

/** True for the white space of JSON. */
export function isSpace(code: number): boolean {
  return code === SPACE || code === 0x0a || code === 0x0d || code === 0x09
}

/** Index of the first character from `start` on that is not white space. */
export function afterSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

/** Index of the quote that ends the string whose opening quote is at `start`; the length of a text in which it has no end. */
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

/** How far the end of a value has been looked for. */
export interface ValueScan {
  /** The next character to look at; where the value ends, once it is found. */
  at: number
  /** Arrays and objects that are open. */
  depth: number
}

/**
 * Looks for the end of a value of well-formed JSON: the comma or closing bracket after it.
 *
 * @returns False when it is not before the limit; the same scan may continue from there.
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

/** The text without the white space between tokens. */
export function* compact(text: string): Work<string> {
  if (!/[ \n\r\t]/.test(text)) return text
  const compacting: Compacting = { text, kept: '', from: 0 }
  for (let at = compactFrom(compacting, 0); at < text.length; at = compactFrom(compacting, at)) yield
  return compacting.from === 0 ? text : compacting.kept + text.slice(compacting.from)
}

interface Compacting {
  readonly text: string
  kept: string
  /** What is after it is not kept yet. */
  from: number
}

/** Skips a piece. @returns Where the next one begins. */
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

/** What one skip a text shows of it, if it is JSON. */
export interface JsonMeasure {
  /** Deepest nesting of arrays and objects. */
  readonly depth: number
  /** Members of all objects together, those of equal names counted each. */
  readonly members: number
  /** Lists, empty ones too. */
  readonly lists: number
  /** Texts, numbers, booleans, nulls, and empty lists and objects, wherever they are. */
  readonly leaves: number
  /** Values of all kinds; at least as many as there are. */
  readonly values: number
  /** The numbers that JavaScript writes differently (`1.50`, `1e3`), by their position among all numbers; empty unless asked for. */
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

/** Measures a text that may not be JSON at all, before it is parsed. */
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

/** Index of the last character of a number. */
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

/** Digits, `-`, `+`, `.` and the `e` of an exponent, in any order: what is not a number is not JSON. */
function isInNumber(code: number): boolean {
  return (code >= 0x2b && code <= NINE && code !== COMMA) || code === 0x45 || code === 0x65
}
