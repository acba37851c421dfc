import { createNumbers, hasBit, type Bits } from 'fhir-ops/internal/bits'
import { numberOf, sql, textOf, type Row, type SqliteDriver } from '../database/driver.js'
import { inTime } from '../search/entry-sql.js'
import type { Cut } from '../search/rows-in-turn.js'
import type { Changes } from './change-log.js'

/** The keys of a type's resources, ordered by id. */
export interface IdOrder {
  bytes(): number
  /** Applies changes. @returns False if too many resources were created. */
  take(changes: Changes): boolean
  /** Returns the first members of a set, as rows of key and id; `undefined` if the position to start after is not known here. */
  first(db: SqliteDriver, members: Bits, cut: Cut): readonly Row[] | undefined
}

/** Maximum number of new resources that are listed separately, with their ids; beyond it, reading the order again is faster. */
const MAX_APART = 4_000

/** Reads the order of a type's ids. */
export function readIdOrder(db: SqliteDriver, type: string): IdOrder {
  const keys = keysInOrder(db, type)
  const apart = new Map<number, string>()
  const startAfter = (asked: SqliteDriver, after: Cut['after']): number | undefined => {
    if (after === undefined) return 0
    const key = asked.get(sql`SELECT key FROM resource WHERE type = ${type} AND id = ${after.id}`)?.[0]
    if (typeof key !== 'number' || apart.has(key)) return undefined
    return keys.indexOf(key) + 1
  }
  return {
    bytes: () => keys.byteLength,
    take(changes) {
      for (const [key, { isNew, address }] of changes) if (isNew && address?.type === type) apart.set(key, address.id)
      return apart.size <= MAX_APART
    },
    first(asked, members, { after, limit }) {
      const start = startAfter(asked, after)
      if (start === undefined) return undefined
      const found: number[] = []
      for (let at = start; at < keys.length && found.length < limit; at++) {
        const key = keys[at] ?? 0
        if (hasBit(members, key) && !apart.has(key)) found.push(key)
      }
      const rows = withIds(asked, found)
      const others = [...apart].filter(([key, id]) => hasBit(members, key) && (after === undefined || id > after.id))
      if (others.length === 0) return rows
      return [...rows, ...others].sort(([, a], [, b]) => (textOf(a) < textOf(b) ? -1 : 1)).slice(0, limit)
    },
  }
}

/** Reads the keys in the order of the index. */
function keysInOrder(db: SqliteDriver, type: string): Uint32Array {
  const keys = createNumbers()
  db.visit(
    sql`SELECT key AS a, 0 AS b FROM resource INDEXED BY resource_id WHERE type = ${type} AND ${inTime(sql`key`)} ORDER BY id`,
    (key) => keys.push(key),
  )
  return Uint32Array.from({ length: keys.length() }, (_, at) => keys.at(at))
}

/** Returns rows of key and id, in the order of the keys. */
function withIds(db: SqliteDriver, keys: readonly number[]): readonly Row[] {
  const rows = db.all(sql`SELECT r.key, r.id FROM json_each(${JSON.stringify(keys)}) AS j CROSS JOIN resource AS r WHERE r.key = j.value`)
  const ids = new Map(rows.map(([key, id]) => [numberOf(key), textOf(id)]))
  return keys.map((key) => [key, ids.get(key) ?? gone(key)])
}

function gone(key: number): never {
  throw new TypeError(`The resource with the key ${key} is in a set, but not in the database.`)
}
