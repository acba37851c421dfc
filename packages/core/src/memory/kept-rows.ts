import { addBit, createNumbers, emptyBits, withRoomFor, type Bits, type Numbers } from '../bits/index.js'
import { createFrequency, satisfies, testKey, type Comparison, type IndexEntry } from '../storage/index.js'

/** The rows of recent tests, kept up to date with the entries: many rows as a bitmap, few as a list. */
export interface KeptRows {
  /** The rows of a test; `undefined` when they are not kept. Must not be changed. */
  find(all: readonly Comparison[]): Bits | undefined
  keep(all: readonly Comparison[], rows: Numbers): void
  /** Whether a test is so frequent that its rows are better kept. */
  isFrequent(all: readonly Comparison[]): boolean
}

/** The entries of which rows are kept. */
export interface KeptOf {
  readonly entries: readonly IndexEntry[]
  /** The row of each entry, ascending. */
  readonly rowOf: Numbers
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
export function createKeptRows({ entries, rowOf }: KeptOf): KeptRows {
  const kept = new Map<string, Kept>()
  const isFrequent = createFrequency()
  const limit = (): number => (entries.length === 0 ? 0 : rowOf.at(entries.length - 1) + 1)
  const add = (one: Kept, row: number): void => {
    if (one.bits === undefined) return one.list.push(row)
    one.bits = withRoomFor(one.bits, row)
    addBit(one.bits, row)
  }
  const bitsOf = (one: Kept, all: readonly Comparison[]): Bits => {
    for (; one.upTo < entries.length; one.upTo++) if (satisfies(entries[one.upTo] ?? NO_ENTRY, all)) add(one, rowOf.at(one.upTo))
    return one.bits ?? bitsOfList(one.list, limit())
  }
  const isTooMuch = (): boolean => {
    const bytes = [...kept.values()].reduce((sum, { bits, list }) => sum + (bits?.byteLength ?? list.length() * 4), 0)
    return kept.size > MAX_KEPT || bytes > Math.max(MIN_BYTES, entries.length * 8)
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
      const isLarge = rows.length() * LARGE_PART > limit()
      const bits = isLarge ? bitsOfList(rows, limit()) : undefined
      kept.set(key, { bits, list: isLarge ? createNumbers() : rows, upTo: entries.length })
      while (kept.size > 1 && isTooMuch()) kept.delete(kept.keys().next().value ?? '')
    },
    isFrequent(all) {
      const key = testKey(all)
      return key !== undefined && isFrequent(key)
    },
  }
}

const NO_ENTRY: IndexEntry = { param: '' }

function bitsOfList(list: Numbers, limit: number): Bits {
  const bits = emptyBits(limit)
  for (let index = 0; index < list.length(); index++) addBit(bits, list.at(index))
  return bits
}
