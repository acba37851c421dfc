import type { Work } from '../work/index.js'
import { afterSpace, findValueEnd, isOpening, stringEnd } from './scan.js'

/** Number of characters that are parsed in one go. */
const PIECE = 16 * 1024

/** Depth to which long lists and objects are parsed in pieces; deeper values are parsed in one go. */
const DEEPEST = 64

/**
 * Parses a long text in pieces, with the result of `JSON.parse`. Yields between pieces, so that other work can run.
 *
 * @param piece Approximate number of characters that are parsed in one go; default 16,384. A single longer string is parsed as a whole.
 * @throws {SyntaxError} if the text is not JSON.
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

/** Parses a list or an object, several members at a time. */
function* container(reading: Reading, start: number): Work<Found> {
  const { text, piece } = reading
  const made = text[start] === '[' ? newList() : newObject()
  const first = afterSpace(text, start + 1)
  if (text[first] === made.closing) return { value: made.value, end: first + 1 }
  let at = start
  do {
    yield
    const end = endOfRun(text, at + 1, at + piece)
    if (end === undefined) {
      const member = made.memberAt(text, afterSpace(text, at + 1))
      const isOpen = reading.depth < DEEPEST && isOpening(text.charCodeAt(member.value))
      const found = isOpen ? yield* container({ ...reading, depth: reading.depth + 1 }, member.value) : wholeValue(text, member.value)
      made.add(member.name, found.value)
      at = afterSpace(text, found.end)
    } else {
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
  /** Adds short members. @param members Text of members with commas between them. */
  addRun(members: string): void
  /** Reads the name of a long member, the colon, and the space after it. */
  memberAt(text: string, at: number): MemberStart
  add(name: string, value: unknown): void
}

interface MemberStart {
  /** Empty for an item of a list. */
  readonly name: string
  /** Index of the value. */
  readonly value: number
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
    memberAt: (_, at) => ({ name: '', value: at }),
    add: (_, item) => void value.push(item),
  }
}

function newObject(): GrowingContainer {
  const value: Record<string, unknown> = {}
  const add = (name: string, member: unknown): void => {
    // An assignment, which is several times as fast, would set the prototype.
    if (name === '__proto__') Object.defineProperty(value, name, { value: member, configurable: true, enumerable: true, writable: true })
    else value[name] = member
  }
  return {
    value,
    closing: '}',
    addRun(members) {
      const entries = Object.entries(Object(parsed(`{${members}}`)))
      if (entries.length === 0) throw new SyntaxError('A member is missing.')
      for (const [name, member] of entries) add(name, member)
    },
    memberAt(text, at) {
      const afterName = stringEnd(text, at) + 1
      const colon = afterSpace(text, afterName)
      if (text[at] !== '"' || text[colon] !== ':') throw new SyntaxError('A name is missing.')
      return { name: String(parsed(text.slice(at, afterName))), value: afterSpace(text, colon + 1) }
    },
    add,
  }
}

function wholeValue(text: string, at: number): Found {
  const end = memberEnd(text, at, text.length) ?? text.length
  return { value: parsed(text.slice(at, end)), end }
}

/** End of the last member that ends before the limit, which is a comma or closing bracket; `undefined` if the first member exceeds the limit. */
function endOfRun(text: string, start: number, limit: number): number | undefined {
  let end = memberEnd(text, start, limit)
  for (let next = end; next !== undefined && text[next] === ','; next = memberEnd(text, next + 1, limit)) end = next
  return end
}

/** Index of the comma or closing bracket after a member; `undefined` if it is not before the limit. */
function memberEnd(text: string, start: number, limit: number): number | undefined {
  const scan = { at: start, depth: 0 }
  return findValueEnd(scan, text, limit) ? scan.at : undefined
}

function parsed(text: string): unknown {
  return JSON.parse(text)
}
