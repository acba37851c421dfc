import { once } from 'fhir-ops/internal/terminology'
import type { SnomedHeader, SectionReader } from './section-reader.js'

/** Ids of components in two columns of whole numbers: the last nine digits, and the digits before. */
export interface IdColumns {
  readonly high: Uint32Array
  readonly low: Uint32Array
}

/** Ids in ascending numeric order; the position of an id is its ordinal. */
export interface IdTable extends IdColumns {
  readonly size: number
  /** Returns the ordinal of an id; `undefined` if there is no such id. */
  find(id: string): number | undefined
  /** Returns the ordinals of all ids that begin with these digits, as ranges `[start, end)`. */
  startingWith(digits: string): readonly (readonly [number, number])[]
}

const HALF = 9
const MAX_DIGITS = 18

/** Returns the part of an id before its last nine digits. */
export function highOf(id: string): number {
  return id.length > HALF ? Number(id.slice(0, -HALF)) : 0
}

/** Returns the last nine digits of an id. */
export function lowOf(id: string): number {
  return Number(id.slice(-HALF))
}

/** Returns the id at a position. */
export function idAt({ high, low }: IdColumns, place: number): string {
  const before = high[place] ?? 0
  const rest = low[place] ?? 0
  return before === 0 ? String(rest) : `${before}${String(rest).padStart(HALF, '0')}`
}

/** Creates a table over sorted columns. */
export function idTable(columns: IdColumns): IdTable {
  const { high, low } = columns
  const firstFrom = (id: string): number => lowerBound(columns, highOf(id), lowOf(id))
  return {
    high,
    low,
    size: high.length,
    find(id) {
      if (!/^[1-9][0-9]{0,17}$/.test(id)) return undefined
      const place = firstFrom(id)
      return high[place] === highOf(id) && low[place] === lowOf(id) ? place : undefined
    },
    startingWith(digits) {
      if (!/^[1-9][0-9]{0,17}$/.test(digits)) return []
      const ranges: [number, number][] = []
      for (let length = digits.length; length <= MAX_DIGITS; length++) {
        const start = firstFrom(digits.padEnd(length, '0'))
        const last = digits.padEnd(length, '9')
        const end = lowerBound(columns, highOf(last), lowOf(last) + 1)
        if (start < end) ranges.push([start, end])
      }
      return ranges
    },
  }
}

function lowerBound({ high, low }: IdColumns, before: number, rest: number): number {
  let start = 0
  let end = high.length
  while (start < end) {
    const middle = (start + end) >>> 1
    const order = (high[middle] ?? 0) - before || (low[middle] ?? 0) - rest
    if (order < 0) start = middle + 1
    else end = middle
  }
  return start
}

/** Codes of other schemes that identify concepts. */
export interface IdentifierTable {
  /** Ids of the schemes. */
  readonly schemes: readonly string[]
  /** Returns the id of the concept that a code of a scheme identifies. */
  find(scheme: string, code: string): string | undefined
}

/** Opens the table; the codes of a scheme are read when first needed. */
export function identifierTable(reader: SectionReader, { schemes = [] }: Pick<SnomedHeader, 'schemes'>): IdentifierTable {
  const codes = new Map(schemes.map((scheme) => [scheme, once(() => readCodes(reader.bytes(`identifiers.${scheme}`)))]))
  return { schemes, find: (scheme, code) => codes.get(scheme)?.().get(code) }
}

function readCodes(bytes: Uint8Array): ReadonlyMap<string, string> {
  const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1)
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]))
}
