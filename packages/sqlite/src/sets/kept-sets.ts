import { OperationError } from 'fhir-ops/errors'
import { LRUCache } from 'lru-cache'
import type { Bits } from 'fhir-ops/internal/bits'
import { createFrequency } from 'fhir-ops/internal/storage'
import { numberOf, type SqliteDriver } from '../database/driver.js'
import { sql } from '../database/sql.js'
import { changesBetween, endOfLog, type LogPlace } from './change-log.js'
import type { IdOrder } from './id-order.js'
import { leastBytes, readPart, type KeptPart, type Part } from './kept-part.js'
import type { ReferenceColumn } from './reference-column.js'
import type { Referrers } from './referrers.js'

/** Parts by their keys, as of one state of the database. */
export interface Parts {
  bits(key: string): Bits
  column(key: string): ReferenceColumn
  order(key: string): IdOrder
  referrers(key: string): Referrers
}

/** Sets of keys that were asked for often, kept in memory and up to date with what anybody writes to the file. */
export interface KeptSets {
  /**
   * Updates what is kept to the state of the database. The caller asks within a snapshot.
   *
   * @param isOften Whether they are taken for parts that are asked for often.
   * @returns The parts; `undefined` while one of them is not asked for often, or is too large to be kept.
   */
  parts(db: SqliteDriver, wanted: ReadonlyMap<string, Part>, isOften?: boolean): Parts | undefined
}

/** What is kept. */
interface KeptSetsOptions {
  /** Bytes that all parts together take. Default 32 MB. */
  readonly maxBytes?: number
  /** A part is kept when it was asked for this many times. Default 2. */
  readonly times?: number
  /** How long a part may be read, besides the time of the search that is the first to need it; one that takes longer is not kept. Default 2,000. */
  readonly readMs?: number
}

const MAX_BYTES = 32 * 1024 * 1024
const OVERHEAD = 500
const READ_MS = 2_000
/** After this time it is tried again to read what took too long or was too large. */
const AGAIN_MS = 60_000
const MOST_COUNTED = 1_024

/** Makes sets for one file. */
export function createKeptSets({ maxBytes = MAX_BYTES, times = 2, readMs = READ_MS }: KeptSetsOptions = {}): KeptSets {
  const kept = new LRUCache<string, KeptPart>({ maxSize: maxBytes, sizeCalculation: (part) => part.bytes() + OVERHEAD })
  const tooLarge = new LRUCache<string, true>({ max: MOST_COUNTED, ttl: AGAIN_MS })
  const isFrequent = createFrequency({ times, most: MOST_COUNTED })
  let place: LogPlace | undefined
  const catchUp = (db: SqliteDriver): void => {
    const end = endOfLog(db)
    const changes = place !== undefined && end !== undefined && kept.size > 0 ? changesBetween(db, place, end) : undefined
    place = end
    if (changes === undefined) return kept.clear()
    // The one that was not used for longest comes first, and stays it.
    for (const key of changes.size === 0 ? [] : [...kept.rkeys()]) {
      const part = kept.peek(key)
      kept.delete(key)
      if (part?.take(changes) === true) kept.set(key, part)
    }
  }
  const read = (db: SqliteDriver, key: string, part: Part): KeptPart | undefined => {
    const limit = limitOf(db)
    const found = leastBytes(part, limit) > maxBytes ? undefined : inTime(() => db.apart(readMs, () => readPart(db, part, limit)))
    if (found === undefined || found.bytes() + OVERHEAD > maxBytes) tooLarge.set(key, true)
    else kept.set(key, found)
    return found
  }
  return {
    parts(db, wanted, isOften = false) {
      catchUp(db)
      if (place === undefined) return undefined
      const unknown = [...wanted.keys()].filter((key) => kept.get(key) === undefined)
      const asked = unknown.filter((key) => (isFrequent(key) || isOften) && !tooLarge.has(key))
      if (asked.length < unknown.length) return undefined
      const found = new Map<string, KeptPart>()
      for (const [key, part] of wanted) {
        const one = kept.get(key) ?? read(db, key, part)
        if (one === undefined) return undefined
        found.set(key, one)
      }
      return partsOf(db, found)
    },
  }
}

/** What takes too long is not kept, and the search goes another way. */
function inTime<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof OperationError && error.code === 'storage-timeout') return undefined
    throw error
  }
}

function partsOf(db: SqliteDriver, found: ReadonlyMap<string, KeptPart>): Parts {
  return {
    bits(key) {
      const part = found.get(key)
      if (part?.kind !== 'set') throw new TypeError(`${key} is not a set that was asked for.`)
      return part.bits()
    },
    column(key) {
      const part = found.get(key)
      if (part?.kind !== 'column') throw new TypeError(`${key} is not a column that was asked for.`)
      return part.column(db)
    },
    order(key) {
      const part = found.get(key)
      if (part?.kind !== 'order') throw new TypeError(`${key} is not an order that was asked for.`)
      return part.order
    },
    referrers(key) {
      const part = found.get(key)
      if (part?.kind !== 'referrers') throw new TypeError(`${key} was not asked for by those whom it refers to.`)
      return part.referrers
    },
  }
}

function limitOf(db: SqliteDriver): number {
  return numberOf(db.get(sql`SELECT coalesce(max(key), 0) + 1 FROM resource`)?.[0])
}

const SETS = new WeakMap<SqliteDriver, KeptSets>()

/** What is kept for searches over a connection. */
export function setsOf(db: SqliteDriver): KeptSets {
  const sets = SETS.get(db) ?? createKeptSets()
  SETS.set(db, sets)
  return sets
}

/** Continues with what one connection kept, as it is replaced by another to the same file. */
export function handOverSets(from: SqliteDriver, to: SqliteDriver): void {
  SETS.set(to, setsOf(from))
}
