import { checkLaidOut, containedPuts, type DeleteEntry, type PutEntry, type WriteEntry } from 'fhir-ops/storage'
import type { SqliteValue } from '../database/connection.js'

/** Values of an index entry: its parameter, then the columns of its row. */
export const FIELDS = 6

/**
 * A put as it goes to the thread that writes: its index entries are one flat list, `FIELDS` values each. Objects with names of members would take three
 * times as long on both sides (`npm run bench first-load`).
 */
export interface PackedPut extends Omit<PutEntry, 'entries' | 'contained'> {
  readonly values: readonly SqliteValue[]
  /** What is within it. */
  readonly contained: readonly PackedPut[]
}

/** A deletion. */
export type PackedDelete = DeleteEntry

/** A change as it goes to the thread that writes. */
export type PackedEntry = PackedPut | PackedDelete

/** @throws {OperationError} as `checkLaidOut`. */
export function packedEntry(entry: WriteEntry): PackedEntry {
  checkLaidOut(entry)
  return entry.op === 'delete' ? entry : packedPut(entry)
}

function packedPut(entry: PutEntry): PackedPut {
  const { op, type, id, text, entries, ifVersion } = entry
  const values: SqliteValue[] = []
  for (const { param, system, value, text: words, low, high } of entries)
    values.push(param, system ?? null, value ?? null, words ?? null, low ?? null, high ?? null)
  const contained = containedPuts(entry).map(packedPut)
  return { op, type, id, text, values, contained, ...(ifVersion !== undefined && { ifVersion }) }
}
