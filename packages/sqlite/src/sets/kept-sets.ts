import { OperationError } from 'fhir-ops/errors'
import { LRUCache } from 'lru-cache'
import { type Bits, addBit, emptyBits, countBits, firstWhere, hasBit, membersOf, removeBit, withRoomFor } from 'fhir-ops/internal/bits'
import { createFrequency, satisfies } from 'fhir-ops/internal/storage'
import { numberOf, sql, type Sql, type SqliteDriver } from '../database/driver.js'
import { changesBetween, endOfLog, type LogPlace, type ChangedResource, type Changes } from './change-log.js'
import { type IdOrder, readIdOrder } from './id-order.js'
import {
  type ReferenceColumn,
  type Referrers,
  changedColumn,
  readColumn,
  type References,
  readReferrers,
  type Referring,
} from './reference-column.js'
import type { Condition, EntryTest } from 'fhir-ops/storage'
import { inTime, keysOfTest } from '../search/entry-sql.js'

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
    const found = leastBytes(part, limit) > maxBytes ? undefined : ifInTime(() => db.apart(readMs, () => readPart(db, part, limit)))
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
function ifInTime<T>(read: () => T): T | undefined {
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

/** A cached part from which queries are answered. */
export type Part = PartSet | PartOrder | ({ readonly kind: 'references' } & References) | PartReferrers

/** The order of a type's ids. */
interface PartOrder {
  readonly kind: 'order'
  readonly type: string
}

/** References between resources that meet a condition and their targets. */
export interface PartReferrers extends Referring {
  readonly kind: 'referrers'
  readonly where: Condition
}

type PartSet =
  /** The resources of a type. */
  | { readonly kind: 'type'; readonly type: string }
  /** The resources with an entry that passes the test. */
  | { readonly kind: 'test'; readonly type: string; readonly test: EntryTest }

/** A part in memory. */
type KeptPart = KeptSet | KeptColumn | KeptOrder | KeptReferrers

interface Kept {
  /** Memory usage in bytes. */
  bytes(): number
  /** Applies changes of the database. @returns False if they are too many. */
  take(changes: Changes): boolean
}

interface KeptSet extends Kept {
  readonly kind: 'set'
  /** The set, which callers must not modify. */
  bits(): Bits
}

interface KeptColumn extends Kept {
  readonly kind: 'column'
  /** Returns the column for the state of the database up to which changes were applied. */
  column(db: SqliteDriver): ReferenceColumn
}

interface KeptOrder extends Kept {
  readonly kind: 'order'
  readonly order: IdOrder
}

interface KeptReferrers extends Kept {
  readonly kind: 'referrers'
  readonly referrers: Referrers
}

/** Reads a part from the database. @param limit One more than the largest key. */
function readPart(db: SqliteDriver, part: Part, limit: number): KeptPart {
  switch (part.kind) {
    case 'references':
      return keptColumn(db, part)
    case 'referrers':
      return keptReferrers(db, part)
    case 'order':
      return keptOrder(db, part)
    default:
      return keptSet(db, part, limit)
  }
}

/** The minimum memory of a part. @param limit One more than the largest key. */
function leastBytes(part: Part, limit: number): number {
  switch (part.kind) {
    case 'type':
    case 'test':
      return limit / 8
    case 'referrers':
      return countBits(part.among) * Uint32Array.BYTES_PER_ELEMENT
    default:
      return limit * Uint32Array.BYTES_PER_ELEMENT
  }
}

function keptSet(db: SqliteDriver, part: PartSet, limit: number): KeptSet {
  const found = emptyBits(limit)
  db.visit(sql`SELECT key AS a, 0 AS b FROM (${keysOf(part)}) WHERE ${inTime(sql`key`)}`, (key) => addBit(found, key))
  const set = keySet(found)
  return {
    kind: 'set',
    bytes: () => set.bytes(),
    bits: () => set.bits(),
    take(changes) {
      set.put(Array.from(changes, ([key, changed]) => [key, isIn(part, changed)] as const))
      return true
    },
  }
}

function keysOf(part: PartSet): Sql {
  if (part.kind === 'test') return keysOfTest(part.type, part.test)
  return sql`SELECT key FROM resource INDEXED BY resource_id WHERE type = ${part.type}`
}

function isIn(part: PartSet, { address, entries }: ChangedResource): boolean {
  if (address?.type !== part.type) return false
  return part.kind === 'type' || entries.some((entry) => entry.param === part.test.param && satisfies(entry, part.test.all))
}

function keptOrder(db: SqliteDriver, { type }: PartOrder): KeptOrder {
  const order = readIdOrder(db, type)
  return { kind: 'order', order, bytes: () => order.bytes(), take: (changes) => order.take(changes) }
}

/** References are read again after any change, because only the pages of one scan need them. */
function keptReferrers(db: SqliteDriver, referring: Referring): KeptReferrers {
  const referrers = readReferrers(db, referring)
  return { kind: 'referrers', referrers, bytes: () => referrers.bytes, take: () => false }
}

/** Maximum number of changes that a column applies when it is used; beyond it, reading the column again is faster. */
const MAX_PENDING = 4_000

function keptColumn(db: SqliteDriver, references: References): KeptColumn {
  let column = readColumn(db, references)
  let pending = new Map<number, ChangedResource>()
  return {
    kind: 'column',
    bytes: () => column.bytes,
    column(asked) {
      if (pending.size > 0) column = changedColumn(asked, references, { column, changes: pending })
      pending = new Map()
      return column
    },
    take(changes) {
      for (const [key, changed] of changes) {
        const isNew = changed.isNew || pending.get(key)?.isNew === true
        pending.set(key, { ...changed, isNew })
      }
      return pending.size <= MAX_PENDING
    },
  }
}

/** A set of keys: a bitmap if there are many, a list if there are few. */
interface KeySet {
  /** Memory usage in bytes. */
  bytes(): number
  /** The set, which callers must not modify; the next `put` may change it. */
  bits(): Bits
  /** Adds or removes keys. */
  put(memberships: Iterable<readonly [key: number, isMember: boolean]>): void
}

/** @param found Must not be written to any longer. */
function keySet(found: Bits): KeySet {
  let bits = isLarge(found) ? found : undefined
  let list = bits === undefined ? Uint32Array.from(membersOf(found)) : NONE
  const has = (key: number): boolean => (bits === undefined ? isInList(list, key) : hasBit(bits, key))
  return {
    bytes: () => (bits ?? list).byteLength,
    bits: () => bits ?? bitsOfList(list),
    put(memberships) {
      const different = [...memberships].filter(([key, isMember]) => has(key) !== isMember)
      if (different.length === 0) return
      let changed = bits ?? bitsOfList(list)
      for (const [key, isMember] of different) {
        changed = withRoomFor(changed, key)
        if (isMember) addBit(changed, key)
        else removeBit(changed, key)
      }
      bits = bits !== undefined || isLarge(changed) ? changed : undefined
      list = bits === undefined ? Uint32Array.from(membersOf(changed)) : NONE
    },
  }
}

const NONE = new Uint32Array()

/** True if a bitmap takes less memory than a list. */
function isLarge(bits: Bits): boolean {
  return countBits(bits) > bits.length
}

function isInList(list: Uint32Array, key: number): boolean {
  return list[firstWhere(list.length, (index) => (list[index] ?? 0) >= key)] === key
}

function bitsOfList(list: Uint32Array): Bits {
  const bits = emptyBits((list.at(-1) ?? -1) + 1)
  for (const key of list) addBit(bits, key)
  return bits
}
