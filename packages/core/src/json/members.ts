import type { Work } from '../work/index.js'
import { compact, findValueEnd, PIECE, stringEnd, type ValueScan } from './scan.js'

/** A member of a JSON object with the original text of its value. */
export interface JsonMember {
  readonly name: string
  /** The text of the value without white space between tokens. */
  readonly value: string
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

function nameIn(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

/** Scans a piece of a value. Returns true at the end of the value. */
function isPassed(scan: ValueScan, json: string): boolean {
  return findValueEnd(scan, json, scan.at + PIECE) || scan.at >= json.length
}
