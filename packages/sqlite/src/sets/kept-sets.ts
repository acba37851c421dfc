import { OperationError } from 'fhir-ops/errors'
import { LRUCache } from 'lru-cache'
import type { Bits } from 'fhir-ops/internal/bits'
import { createFrequency } from 'fhir-ops/internal/storage'
import { numberOf, type SqliteDriver } from '../database/driver.js'
import { sql } from '../database/connection.js'
import { changesBetween, endOfLog, type LogPlace } from './change-log.js'
import type { IdOrder } from './id-order.js'
import { leastBytes, readPart, type KeptPart, type Part } from './kept-part.js'
import type { ReferenceColumn, Referrers } from './reference-column.js'

/** Cached parts by key, for one state of the database. */
export interface Parts {
  bits(key: string): Bits
  column(key: string): ReferenceColumn
  order(key: string): IdOrder
  referrers(key: string): Referrers
}

/** A cache of frequently used sets of keys, kept up to date with all writes to the file, by any process. */
export interface KeptSets {
  /**
   * Brings the cache up to date and returns parts from it. Must be called within a snapshot.
   *
   * @param isOften True if the parts count as frequently used from the first call on.
   * @returns The parts; `undefined` if one of them is not used frequently enough, or is too large for the cache.
   */
  parts(db: SqliteDriver, wanted: ReadonlyMap<string, Part>, isOften?: boolean): Parts | undefined
  /** Brings the cache up to date and returns a part if it is cached. Must be called within a snapshot. */
  known(db: SqliteDriver, key: string): KeptPart | undefined
}

/** Options of the cache. */
interface KeptSetsOptions {
  /** Maximum memory of all parts, in bytes. Default 32 MB. */
  readonly maxBytes?: number
  /** Number of uses after which a part is cached. Default 2. */
  readonly times?: number
  /** Time limit for reading a part, in milliseconds, in addition to that of the search; a part that takes longer is not cached. Default 2,000. */
  readonly readMs?: number
}

const MAX_BYTES = 32 * 1024 * 1024
const OVERHEAD = 500
const READ_MS = 2_000
/** After this time, a part that was too large or took too long is tried again. */
const AGAIN_MS = 60_000
const MOST_COUNTED = 1_024

/** Creates the cache of a file. */
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
    // Starts with the least recently used part, so that the order of use is preserved.
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
    known(db, key) {
      catchUp(db)
      return kept.get(key)
    },
  }
}

/** Returns `undefined` after a time-out: the part is then not cached, and the search uses another strategy. */
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

/** One more than the largest key. */
export function limitOf(db: SqliteDriver): number {
  return numberOf(db.get(sql`SELECT coalesce(max(key), 0) + 1 FROM resource`)?.[0])
}

const SETS = new WeakMap<SqliteDriver, KeptSets>()

/** Returns the cache for searches over a connection. */
export function setsOf(db: SqliteDriver): KeptSets {
  const sets = SETS.get(db) ?? createKeptSets()
  SETS.set(db, sets)
  return sets
}

/** Hands the cache over to another connection to the same file, which replaces the first. */
export function handOverSets(from: SqliteDriver, to: SqliteDriver): void {
  SETS.set(to, setsOf(from))
}
