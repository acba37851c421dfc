import { addBit, emptyBits, type Bits, countBits, firstWhere, hasBit, membersOf, removeBit, withRoomFor } from 'fhir-ops/internal/bits'
import { satisfies } from 'fhir-ops/internal/storage'
import type { Condition, EntryTest } from 'fhir-ops/storage'
import type { SqliteDriver } from '../database/driver.js'
import { sql, type Sql } from '../database/sql.js'
import { inTime, keysOfTest } from '../search/entry-sql.js'
import type { ChangedResource, Changes } from './change-log.js'
import { readIdOrder, type IdOrder } from './id-order.js'
import { changedColumn, readColumn, type ReferenceColumn, type References } from './reference-column.js'
import { readReferrers, type Referrers, type Referring } from './referrers.js'

/** What a query is answered from. */
export type Part = PartSet | PartOrder | ({ readonly kind: 'references' } & References) | PartReferrers

/** The ids of a type. */
interface PartOrder {
  readonly kind: 'order'
  readonly type: string
}

/** What of those who meet a condition refers to whom. */
export interface PartReferrers extends Referring {
  readonly kind: 'referrers'
  readonly where: Condition
}

type PartSet =
  /** The resources of a type. */
  | { readonly kind: 'type'; readonly type: string }
  /** Those with an entry that passes. */
  | { readonly kind: 'test'; readonly type: string; readonly test: EntryTest }

/** A part in memory. */
export type KeptPart = KeptSet | KeptColumn | KeptOrder | KeptReferrers

interface Kept {
  /** Memory that it takes. */
  bytes(): number
  /** Takes changes of the database. @returns False when they are too many. */
  take(changes: Changes): boolean
}

interface KeptSet extends Kept {
  readonly kind: 'set'
  /** Do not change it. */
  bits(): Bits
}

interface KeptColumn extends Kept {
  readonly kind: 'column'
  /** As of the state of the database from which the last changes were taken. */
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

/** Reads a part. @param limit One more than the largest key. */
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

/** The least memory that a part may take. @param limit One more than the largest key. */
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

/** Whatever changes, they are read again: pages of one scan ask for them. */
function keptReferrers(db: SqliteDriver, referring: Referring): KeptReferrers {
  const referrers = readReferrers(db, referring)
  return { kind: 'referrers', referrers, bytes: () => referrers.bytes, take: () => false }
}

/** Changes that a column takes at once when it is used; with more, reading it again is faster. */
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

/** Keys of resources: many as a bitmap, few as a list. */
interface KeySet {
  /** Memory that it takes. */
  bytes(): number
  /** Do not change it; the next `put` may. */
  bits(): Bits
  /** Puts keys in, or takes them out. */
  put(memberships: Iterable<readonly [key: number, isMember: boolean]>): void
}

/** @param found No longer written to. */
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

/** Whether a bitmap takes less than a list. */
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
