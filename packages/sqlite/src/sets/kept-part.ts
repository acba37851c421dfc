import { addBit, emptyBits, type Bits, countBits, firstWhere, hasBit, membersOf, removeBit, withRoomFor } from 'fhir-ops/internal/bits'
import { satisfies } from 'fhir-ops/internal/storage'
import type { Condition, EntryTest } from 'fhir-ops/storage'
import type { SqliteDriver } from '../database/driver.js'
import { sql, type Sql } from '../database/connection.js'
import { inTime, keysOfTest } from '../search/entry-sql.js'
import type { ChangedResource, Changes } from './change-log.js'
import { readIdOrder, type IdOrder } from './id-order.js'
import {
  changedColumn,
  readColumn,
  type ReferenceColumn,
  type References,
  readReferrers,
  type Referrers,
  type Referring,
} from './reference-column.js'

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
export type KeptPart = KeptSet | KeptColumn | KeptOrder | KeptReferrers

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
export function readPart(db: SqliteDriver, part: Part, limit: number): KeptPart {
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
export function leastBytes(part: Part, limit: number): number {
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
