import type { Work } from '../work/index.js'
import { afterSpace, findValueEnd, isOpening, stringEnd } from './scan.js'

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
  if (afterSpace(text, end) < text.length) throw new SyntaxError('There is unexpected text after the value.')
  return value
}

interface Reading {
  readonly text: string
  readonly piece: number
  readonly depth: number
}

interface Found {
  readonly value: unknown
  /** Index after the value. */
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

interface GrowingContainer {
  readonly value: unknown
  readonly closing: string
  /** @param members Text of members with commas between them. */
  addRun(members: string): void
  /** Adds a long member. @returns Where it ends. */
  addLong(reading: Reading, at: number): Work<number>
}

function newList(): GrowingContainer {
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

function newObject(): GrowingContainer {
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
      const afterName = stringEnd(text, at) + 1
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
  const end = memberEnd(text, at, text.length) ?? text.length
  return { value: parsed(text.slice(at, end)), end }
}

/** Where the last of the members ends that end before the limit: at a comma or a closing bracket. `undefined` when the first goes further. */
function endOfRun(text: string, start: number, limit: number): number | undefined {
  let end = memberEnd(text, start, limit)
  for (let next = end; next !== undefined && text[next] === ','; next = memberEnd(text, next + 1, limit)) end = next
  return end
}

/** The comma or closing bracket after a member; `undefined` when there is none before the limit. */
function memberEnd(text: string, start: number, limit: number): number | undefined {
  const scan = { at: start, depth: 0 }
  return findValueEnd(scan, text, limit) ? scan.at : undefined
}

function parsed(text: string): unknown {
  return JSON.parse(text)
}
