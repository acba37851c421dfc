import type { Work } from '../work/index.js'
import { COMMA, compact, findValueEnd, isClosing, isOpening, PIECE, stringEnd, type ValueScan } from './scan.js'

/** A member of a JSON object with the original text of its value. */
export interface JsonMember {
  readonly name: string
  /** The text of the value without white space between tokens. */
  readonly value: string
}

/** The values of members by name; of equal names, the last. */
export function valuesByName(members: readonly JsonMember[]): ReadonlyMap<string, string> {
  return new Map(members.map(({ name, value }) => [name, value]))
}

/** Returns the value of a member if it is a string. */
export function stringValue(values: ReadonlyMap<string, string>, name: string): string | undefined {
  const value: unknown = JSON.parse(values.get(name) ?? 'null')
  return typeof value === 'string' ? value : undefined
}

/** Number of members or items that are read in one go. */
const STEPS = 1_000

/**
 * Returns the members of a JSON object, in order, without parsing their values: numbers keep their digits, and equal names are separate members.
 *
 * @param text A JSON object, known to be well-formed.
 */
export function* jsonMembers(text: string): Work<readonly JsonMember[]> {
  const json = yield* compact(text)
  const members: JsonMember[] = []
  for (let at = 1; json[at] === '"';) {
    const start = stringEnd(json, at) + 2
    const scan = { at: start, depth: 0 }
    while (!isPassed(scan, json)) yield
    members.push({ name: nameIn(json.slice(at, start - 1)), value: json.slice(start, scan.at) })
    at = scan.at + 1
    if (members.length % STEPS === 0) yield
  }
  return members
}

/**
 * Returns the items of a JSON array, in order, as original text without white space between tokens.
 *
 * @param text A JSON array, known to be well-formed.
 */
export function* jsonItems(text: string): Work<readonly string[]> {
  const json = yield* compact(text)
  const items: string[] = []
  for (let at = 1; at < json.length - 1;) {
    const scan = { at, depth: 0 }
    while (!isPassed(scan, json)) yield
    items.push(json.slice(at, scan.at))
    at = scan.at + 1
    if (items.length % STEPS === 0) yield
  }
  return items
}

/** What becomes of a member: it is omitted or kept, its value is replaced by another text, or its object, or each object in its list, gets fewer members. */
export type MemberChoice = 'omitted' | 'kept' | { readonly replaced: (value: string) => Work<string> } | { readonly reduced: MemberChooser }
/** Chooses by the name of a member. */
export type MemberChooser = (name: string) => MemberChoice

/** Number of characters after which other work may run. */
const STRETCH = 50_000

/**
 * Returns a JSON object with fewer members, in one pass that does not look into values to be omitted or kept. A value to be reduced that is neither an
 * object nor a list is kept.
 *
 * @param text A JSON object, known to be well-formed.
 */
export function* selectMembers(text: string, choose: MemberChooser): Work<string> {
  const json = yield* compact(text)
  const open: Open[] = [{ choose, isList: false, isEmpty: true }]
  const scan = { at: 1, depth: 0 }
  let [written, pause] = ['{', STRETCH]
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (scan.at > pause) {
      pause = scan.at + STRETCH
      yield
    }
    const next = json.charCodeAt(scan.at)
    if (isClosing(next)) written += closed(open, next)
    if (next === COMMA || isClosing(next)) scan.at++
    else {
      const { start, value, choice, inner } = memberAt(json, scan.at, top)
      scan.at = inner === undefined ? value : value + 1
      while (inner === undefined && !isPassed(scan, json)) yield
      if (choice === 'omitted') continue
      written += top.isEmpty ? '' : ','
      top.isEmpty = false
      if (inner !== undefined) open.push(inner)
      const isReplaced = typeof choice === 'object' && 'replaced' in choice
      written += isReplaced ? json.slice(start, value) + (yield* choice.replaced(json.slice(value, scan.at))) : json.slice(start, scan.at)
    }
  }
  return written
}

/** An object or list that is being reduced. */
interface Open {
  readonly choose: MemberChooser
  readonly isList: boolean
  /** True until something of it is written. */
  isEmpty: boolean
}

function closed(open: Open[], bracket: number): string {
  open.pop()
  return String.fromCharCode(bracket)
}

/** A member, or an item of a list. */
interface Part {
  readonly start: number
  /** Index of its value, which is after the name. */
  readonly value: number
  readonly choice: MemberChoice
  /** Present if the value is to be reduced. */
  readonly inner: Open | undefined
}

function memberAt(json: string, start: number, { choose, isList }: Open): Part {
  const value = isList ? start : stringEnd(json, start) + 2
  const choice = isList ? { reduced: choose } : choose(nameIn(json.slice(start, value - 1)))
  const isReduced = typeof choice === 'object' && 'reduced' in choice && isOpening(json.charCodeAt(value))
  const inner = isReduced ? { choose: choice.reduced, isList: json[value] === '[', isEmpty: true } : undefined
  return { start, value, choice, inner }
}

function nameIn(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

/** Scans a piece of a value. Returns true at the end of the value. */
function isPassed(scan: ValueScan, json: string): boolean {
  return findValueEnd(scan, json, scan.at + PIECE) || scan.at >= json.length
}
