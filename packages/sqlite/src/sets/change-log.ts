import type { IndexEntry, StorageChanges } from 'fhir-ops/storage'
import type { ChangedAddress } from 'fhir-ops/internal/storage'
import { numberOf, snapshot, sql, textOf, type Row, type Sql, type SqliteDriver } from '../database/driver.js'
import type { Command } from '../commands/command.js'

/** A position in the log of changes. `mark` distinguishes the log from that of a restored copy that has been continued. */
export interface LogPlace {
  readonly seq: number
  readonly mark: number
}

/** The state of a resource after changes. */
export interface ChangedResource {
  /** Absent if there is no longer a resource under this key. */
  readonly address?: { readonly type: string; readonly id: string }
  /** True if there was no resource, or another one, under this key before. */
  readonly isNew: boolean
  readonly entries: readonly IndexEntry[]
}

/** Changed resources, by key. */
export type Changes = ReadonlyMap<number, ChangedResource>

/** Returns the end of the log; `undefined` while a first load omits the log. */
export function endOfLog(db: SqliteDriver): LogPlace | undefined {
  const last = db.get(sql`SELECT seq, mark FROM change ORDER BY seq DESC LIMIT 1`)
  return last && { seq: numberOf(last[0]), mark: numberOf(last[1]) }
}

/** Maximum number of changes to read: beyond it, rebuilding dependent sets is faster. */
const MAX_CHANGES = 4_000

/** Returns the changes between two positions; `undefined` if they are too many, or if the log does not go back that far. */
export function changesBetween(db: SqliteDriver, from: LogPlace, to: LogPlace): Changes | undefined {
  if (to.seq === from.seq && to.mark === from.mark) return new Map()
  if (to.seq < from.seq || to.seq - from.seq > MAX_CHANGES || !isInLog(db, from)) return undefined
  const behind = sql`SELECT resource FROM change WHERE seq > ${from.seq}`
  const entries = Map.groupBy(db.all(entriesSql(behind)), ([key]) => numberOf(key))
  const changed = db.all(sql`SELECT c.resource, max(c.is_new), r.type, r.id FROM change AS c LEFT JOIN resource AS r ON r.key = c.resource
    WHERE c.seq > ${from.seq} GROUP BY c.resource`)
  return new Map(changed.map((row) => [numberOf(row[0]), changedOf(row, entries.get(numberOf(row[0])) ?? [])]))
}

/** True if the log contains the position. */
function isInLog(db: SqliteDriver, { seq, mark }: LogPlace): boolean {
  return db.get(sql`SELECT 1 FROM change WHERE seq = ${seq} AND mark = ${mark}`) !== undefined
}

function entriesSql(keys: Sql): Sql {
  return sql`SELECT e.resource, p.name, e.system, e.value, e.text, e.low, e.high FROM (SELECT DISTINCT resource AS key FROM (${keys})) AS k
    CROSS JOIN entry AS e CROSS JOIN param AS p WHERE e.resource = k.key AND p.key = e.param`
}

function changedOf([, isNew, type, id]: Row, entries: readonly Row[]): ChangedResource {
  return {
    isNew: isNew === 1,
    ...(typeof type === 'string' && { address: { type, id: textOf(id) } }),
    entries: entries.map(entryOf),
  }
}

function entryOf([, param, system, value, text, low, high]: Row): IndexEntry {
  return {
    param: textOf(param),
    ...(typeof system === 'string' && { system }),
    ...(typeof value === 'string' && { value }),
    ...(typeof text === 'string' && { text }),
    ...(typeof low === 'number' && { low }),
    ...(typeof high === 'number' && { high }),
  }
}

/** Reads what was put or deleted since a mark, from a log written by triggers. It is complete, whichever program writes and however long that takes. */
export const readChanges: Command<string | undefined, StorageChanges> = {
  name: 'changes',
  lane: 'point',
  run: (db, since) => snapshot(db, () => changesSince(db, since)),
}

function changesSince(db: SqliteDriver, since: string | undefined): StorageChanges {
  const to = endOfLog(db)
  // During a first load, no log is written. The mark returned here matches no log.
  if (to === undefined) return { mark: '', changed: 'unknown' }
  const mark = `${to.seq} ${to.mark}`
  const from = readMark(since)
  if (from === undefined || to.seq < from.seq || to.seq - from.seq > MAX_CHANGES || !isInLog(db, from)) return { mark, changed: 'unknown' }
  return { mark, changed: addressesAfter(db, from) }
}

function readMark(mark: string | undefined): LogPlace | undefined {
  const [, seq, own] = /^(\d{1,15}) (\d{1,15})$/.exec(mark ?? '') ?? []
  return seq === undefined || own === undefined ? undefined : { seq: Number(seq), mark: Number(own) }
}

/** The log contains keys of resources. If the resource of a key was deleted, or the key was reused, its former address is unknown. */
function addressesAfter(db: SqliteDriver, { seq }: LogPlace): StorageChanges['changed'] {
  const rows = db.all(sql`SELECT c.resource, c.is_new, r.type, r.id FROM change AS c LEFT JOIN resource AS r ON r.key = c.resource
    WHERE c.seq > ${seq} ORDER BY c.seq`)
  const changed: ChangedAddress[] = []
  for (const [, steps] of Map.groupBy(rows, ([key]) => numberOf(key))) {
    const address = addressOf(steps)
    if (address === 'unknown') return 'unknown'
    if (address !== undefined) changed.push(address)
  }
  return changed
}

/** @param steps Changes under one key, in order. */
function addressOf(steps: readonly Row[]): ChangedAddress | 'unknown' | undefined {
  const [first = [], ...later] = steps
  const wasThere = first[1] !== 1
  if (wasThere && later.some(([, isNew]) => isNew === 1)) return 'unknown'
  const [, , type, id] = first
  if (typeof type === 'string') return { type, id: textOf(id) }
  return wasThere ? 'unknown' : undefined
}
