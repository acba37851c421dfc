import type { Work } from '../work/index.js'

/** Characters that are parsed in one go. */
const PIECE = 64 * 1024

/** How deep long lists and objects are taken apart; what is deeper is parsed in one go. */
const DEEPEST = 64

/**
 * What `JSON.parse` gives for a long text, parsed in pieces: it yields in between, so that other work can run.
 *
 * @param piece About how many characters are parsed in one go; default 65,536. A single string that is longer is parsed as a whole.
 * @throws {SyntaxError} when the text is not JSON.
 */
export function* parseInPieces(text: string, piece: number = PIECE): Work<unknown> {
  const start = afterSpace(text, 0)
  if (text.length <= piece || !isOpening(text.charCodeAt(start))) return parsed(text)
  const { value, end } = yield* container({ text, piece, depth: 1 }, start)
  if (afterSpace(text, end) < text.length) throw new SyntaxError('There is more behind the value.')
  return value
}

interface Reading {
  readonly text: string
  readonly piece: number
  readonly depth: number
}

interface Found {
  readonly value: unknown
  /** Behind the value. */
  readonly end: number
}

/** A list or an object, several members at a time. */
function* container(reading: Reading, start: number): Work<Found> {
  const { text, piece } = reading
  const made = text[start] === '[' ? newList() : newObject()
  const first = afterSpace(text, start + 1)
  if (text[first] === made.closing) return { value: made.value, end: first + 1 }
  let at = start
  do {
    yield
    const end = endOfRun(text, at + 1, at + piece)
    if (end === undefined) at = yield* made.addLong(reading, afterSpace(text, at + 1))
    else {
      made.addRun(text.slice(at + 1, end))
      at = end
    }
  } while (text[at] === ',')
  if (text[at] !== made.closing) throw new SyntaxError('A list or object is not closed.')
  return { value: made.value, end: at + 1 }
}

interface Container {
  readonly value: unknown
  readonly closing: string
  /** @param members Text of members with commas between them. */
  addRun(members: string): void
  /** Adds a long member. @returns Where it ends. */
  addLong(reading: Reading, at: number): Work<number>
}

function newList(): Container {
  const value: unknown[] = []
  return {
    value,
    closing: ']',
    addRun(members) {
      const items = parsed(`[${members}]`)
      if (!Array.isArray(items) || items.length === 0) throw new SyntaxError('An item is missing.')
      for (const item of items) value.push(item)
    },
    *addLong(reading, at) {
      const found = yield* longValue(reading, at)
      value.push(found.value)
      return afterSpace(reading.text, found.end)
    },
  }
}

function newObject(): Container {
  const value = {}
  const add = (name: string, member: unknown): void => {
    Object.defineProperty(value, name, { value: member, configurable: true, enumerable: true, writable: true })
  }
  return {
    value,
    closing: '}',
    addRun(members) {
      const entries = Object.entries(Object(parsed(`{${members}}`)))
      if (entries.length === 0) throw new SyntaxError('A member is missing.')
      for (const [name, member] of entries) add(name, member)
    },
    *addLong(reading, at) {
      const { text } = reading
      const afterName = endOfString(text, at)
      const colon = afterSpace(text, afterName)
      if (text[at] !== '"' || text[colon] !== ':') throw new SyntaxError('A name is missing.')
      const found = yield* longValue(reading, afterSpace(text, colon + 1))
      add(String(parsed(text.slice(at, afterName))), found.value)
      return afterSpace(text, found.end)
    },
  }
}

function* longValue(reading: Reading, at: number): Work<Found> {
  const { text, depth } = reading
  if (depth < DEEPEST && isOpening(text.charCodeAt(at))) return yield* container({ ...reading, depth: depth + 1 }, at)
  const end = endOfMember(text, at, text.length) ?? text.length
  return { value: parsed(text.slice(at, end)), end }
}

/** Where the last of the members ends that end before the limit: at a comma or a closing bracket. `undefined` when the first goes further. */
function endOfRun(text: string, start: number, limit: number): number | undefined {
  let end = endOfMember(text, start, limit)
  for (let next = end; next !== undefined && text[next] === ','; next = endOfMember(text, next + 1, limit)) end = next
  return end
}

/** The comma or closing bracket behind a member; `undefined` when there is none before the limit. */
function endOfMember(text: string, start: number, limit: number): number | undefined {
  let depth = 0
  for (let at = start; at < limit && at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at) - 1
    else if (isOpening(code)) depth++
    else if (isClosing(code) && depth-- === 0) return at
    else if (code === COMMA && depth === 0) return at
  }
  return undefined
}

const QUOTE = 0x22
const COMMA = 0x2c

function isOpening(code: number): boolean {
  return code === 0x5b || code === 0x7b
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d
}

/** Behind the closing quote of the string that opens here. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let from = quote
    while (text[from - 1] === '\\') from--
    if ((quote - from) % 2 === 0) return quote + 1
  }
  throw new SyntaxError('A string is not closed.')
}

function afterSpace(text: string, start: number): number {
  let at = start
  while (SPACE.has(text[at] ?? '')) at++
  return at
}

const SPACE: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r'])

function parsed(text: string): unknown {
  return JSON.parse(text)
}
