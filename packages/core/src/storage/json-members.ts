import { stringEnd } from '../json/index.js'
import { finished, type Work } from '../work/index.js'

/** A member of a JSON object in its own text. */
export interface JsonMember {
  readonly name: string
  /** The value's text without blanks between tokens. */
  readonly value: string
}

/**
 * The members of a JSON object, in order, without parsing their values: a number keeps its digits.
 *
 * @param text A JSON object, known to be well-formed.
 */
export function jsonMembers(text: string): readonly JsonMember[] {
  return finished(readingMembers(text))
}

/** Members that are read in one go. */
const STEPS = 1_000

/** The same, while other work runs in between. */
export function* readingMembers(text: string): Work<readonly JsonMember[]> {
  const json = withoutBlanks(text)
  const members: JsonMember[] = []
  let at = 1
  while (json[at] === '"') {
    const colon = stringEnd(json, at) + 1
    const end = valueEnd(json, colon + 1)
    members.push({ name: nameIn(json.slice(at, colon)), value: json.slice(colon + 1, end) })
    at = end + 1
    if (members.length % STEPS === 0) yield
  }
  return members
}

/**
 * The items of a JSON array, in order, in their own text without blanks between tokens.
 *
 * @param text A JSON array, known to be well-formed.
 */
export function jsonItems(text: string): readonly string[] {
  const json = withoutBlanks(text)
  const items: string[] = []
  for (let at = 1; at < json.length - 1;) {
    const end = valueEnd(json, at)
    items.push(json.slice(at, end))
    at = end + 1
  }
  return items
}

function nameIn(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

/** Drops the blanks outside strings. */
function withoutBlanks(json: string): string {
  let kept = ''
  let from = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(json, at)
    if (code > SPACE) continue
    kept += json.slice(from, at)
    from = at + 1
  }
  return kept + json.slice(from)
}

/** The index after a value that starts at `start`: that of the comma, brace or bracket behind it. */
function valueEnd(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(json, at)
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (depth === 0 && (code === COMMA || closes(code))) return at
    else if (closes(code)) depth--
  }
  return json.length
}

function closes(code: number): boolean {
  return code === CLOSE_BRACE || code === CLOSE_BRACKET
}

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
