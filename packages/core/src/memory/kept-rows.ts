import { addBit, countBits, createNumbers, emptyBits, visitMembers, withRoomFor, type Bits, type Numbers } from '../bits/index.js'
import { createFrequency, testKey, type Comparison } from '../storage/index.js'
import type { EntryColumns } from './entry-columns.js'

/** The rows of recent tests, kept up to date with the entries: many rows as a bitmap, few as a list. */
export interface KeptRows {
  /** The rows of a test; `undefined` when they are not kept. Must not be changed. */
  find(all: readonly Comparison[]): Bits | undefined
  keep(all: readonly Comparison[], rows: Bits): void
  /** Whether a test is so frequent that its rows are better kept. */
  isFrequent(all: readonly Comparison[]): boolean
}

interface Kept {
  /** `undefined` when the rows are few. */
  bits: Bits | undefined
  readonly list: Numbers
  /** Number of entries examined. */
  upTo: number
}

/** Maximum number of bytes of all kept rows, unless eight bytes per entry are more. */
const MIN_BYTES = 4 * 1024 * 1024
const MAX_KEPT = 256
/** A bitmap is shorter than a list if more than one in this many rows satisfies a test. */
const LARGE_PART = 32

/** Keeps rows for the entries of one search parameter, at first none. */
export function createKeptRows(columns: EntryColumns): KeptRows {
  const kept = new Map<string, Kept>()
  const isFrequent = createFrequency()
  const add = (one: Kept, row: number): void => {
    if (one.bits === undefined) return one.list.push(row)
    one.bits = withRoomFor(one.bits, row)
    addBit(one.bits, row)
  }
  const bitsOf = (one: Kept, all: readonly Comparison[]): Bits => {
    const holds = columns.test(all)
    for (; one.upTo < columns.length(); one.upTo++) if (holds(one.upTo)) add(one, columns.rowOf.at(one.upTo))
    return one.bits ?? bitsOfList(one.list, columns.rowLimit())
  }
  const isTooMuch = (): boolean => {
    const bytes = [...kept.values()].reduce((sum, { bits, list }) => sum + (bits?.byteLength ?? list.length() * 4), 0)
    return kept.size > MAX_KEPT || bytes > Math.max(MIN_BYTES, columns.length() * 8)
  }
  return {
    find(all) {
      const key = testKey(all)
      const found = key === undefined ? undefined : kept.get(key)
      if (key === undefined || found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      return bitsOf(found, all)
    },
    keep(all, rows) {
      const key = testKey(all)
      if (key === undefined) return
      const isLarge = countBits(rows) * LARGE_PART > columns.rowLimit()
      const list = createNumbers()
      if (!isLarge) visitMembers(rows, (row) => list.push(row))
      kept.set(key, { bits: isLarge ? rows : undefined, list, upTo: columns.length() })
      while (kept.size > 1 && isTooMuch()) kept.delete(kept.keys().next().value ?? '')
    },
    isFrequent(all) {
      const key = testKey(all)
      return key !== undefined && isFrequent(key)
    },
  }
}

function bitsOfList(list: Numbers, limit: number): Bits {
  const bits = emptyBits(limit)
  for (let index = 0; index < list.length(); index++) addBit(bits, list.at(index))
  return bits
}
