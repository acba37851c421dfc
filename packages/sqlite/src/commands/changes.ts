import type { StorageChanges } from 'fhir-ops/storage'
import type { ChangedAddress } from 'fhir-ops/internal/storage'
import type { Command } from './command.js'
import { numberOf, snapshot, textOf, type Row, type SqliteDriver } from '../database/driver.js'
import { sql } from '../database/connection.js'
import { endOfLog, isInLog, MAX_CHANGES, type LogPlace } from '../sets/change-log.js'

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
