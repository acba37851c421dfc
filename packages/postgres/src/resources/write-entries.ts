import { conditionalPuts } from 'fhir-ops/internal/storage'
import { CONTAINED_PARAM, DEFINITION_PARAM, isDefinitionEntry, type WriteEntry, type WriteResult } from 'fhir-ops/storage'
import type { Database, Executor } from '../database/database.js'
import { checkedVersions } from './conditional-writes.js'
import {
  columnNames,
  insertRows,
  unnested,
  ENTRIES,
  entryRows,
  type Column,
  addressesOf,
  checkTexts,
  writePlan,
  type Address,
  type Change,
  type VersionBefore,
  type WritePlan,
} from './write-plan.js'
import { revise } from './revision.js'
import { numberAt, textAt, prepared, sql, type Row, type Sql } from '../database/sql.js'

/** Options of a write. */
export interface Writing {
  /** Milliseconds since 1970, on the caller's clock. */
  readonly now: number
  /** True if replaced versions are stored. */
  readonly history: boolean
}

/** Applies puts and deletions in order: locks the ids, determines the new versions, and writes table by table. */
export async function writeEntries(
  db: Database,
  entries: readonly WriteEntry[],
  { now, history }: Writing,
): Promise<readonly WriteResult[]> {
  checkTexts(entries)
  if (entries.length === 0) return []
  const addresses = addressesOf(entries)
  const conditions = conditionalPuts(entries)
  return db.transaction(async (executor) => {
    const locked = (locking?: Sql): Promise<readonly VersionBefore[]> => lockedVersions(executor, addresses, locking)
    const before =
      conditions.length === 0 ? await locked() : await checkedVersions(executor, { conditions, entries, lockedVersions: locked })
    const { results, changes, passed } = writePlan(entries, before, now)
    if (history) await keepVersions(executor, { changes, passed })
    const replacesDefinitions = await applyChanges(executor, changes)
    if (replacesDefinitions || changes.some(({ entries: made }) => made.some(isDefinitionEntry))) await revise(executor)
    return results
  })
}

/**
 * Returns the last versions and locks them until the transaction ends. An id that does not exist cannot be locked: inserting it fails if another
 * transaction has inserted it.
 *
 * @param locking Query for other locks, which are taken before.
 */
async function lockedVersions(executor: Executor, addresses: readonly Address[], locking?: Sql): Promise<readonly VersionBefore[]> {
  const rowsLocked = (condition: Sql): Sql => sql`SELECT r.type, r.id, r.version, r.updated, r.text IS NOT NULL AS current
    FROM ${addressRows(addresses)} JOIN fhir_resource r ON r.type = w.type AND r.id = w.id WHERE ${condition} ORDER BY r.type, r.id FOR UPDATE OF r`
  // The condition is evaluated once, before any row is read.
  const statement =
    locking === undefined
      ? prepared('lock', rowsLocked(sql`TRUE`))
      : prepared('lock conditions', sql`WITH taken AS MATERIALIZED (${locking}) ${rowsLocked(sql`(SELECT count(lock) FROM taken) >= 0`)}`)
  return (await executor.rows(statement)).map(versionOf)
}

async function keepVersions(executor: Executor, { changes, passed }: Pick<WritePlan, 'changes' | 'passed'>): Promise<void> {
  const known = changes.filter((change) => change.known)
  const replaced = sql`SELECT r.type, r.id, r.version, r.updated, r.text
    FROM ${addressRows(known)} JOIN fhir_resource r ON r.type = w.type AND r.id = w.id`
  if (known.length > 0) await executor.rows(prepared('keep', sql`INSERT INTO fhir_version (${COLUMNS}) ${replaced}`))
  await insertRows(executor, { name: 'pass', table: sql`fhir_version`, columns: VERSION }, passed)
}

/** Applies the changes; returns true if definitions were replaced or deleted. */
async function applyChanges(executor: Executor, changes: readonly Change[]): Promise<boolean> {
  const known = changes.filter((change) => change.known)
  const added = changes.filter((change) => !change.known)
  const within = changes.flatMap((change) => change.contained.map((put): Change => ({ ...change, ...put, contained: [], known: false })))
  const replacesDefinitions = known.length > 0 && (await changeVersions(executor, known))
  await insertRows(executor, { name: 'add', table: sql`fhir_resource`, columns: VERSION }, [...added, ...within])
  await insertRows(executor, ENTRIES, [...changes, ...within].flatMap(entryRows))
  return replacesDefinitions
}

async function changeVersions(executor: Executor, changes: readonly Change[]): Promise<boolean> {
  const update = sql`UPDATE fhir_resource r SET version = w.version, updated = w.updated, text = w.text
    FROM ${unnested(VERSION, changes)} AS w (${COLUMNS}) WHERE r.type = w.type AND r.id = w.id`
  await executor.rows(prepared('change', update))
  const clear = sql`DELETE FROM fhir_entry e USING ${addressRows(changes)} WHERE e.type = w.type AND e.id = w.id RETURNING e.param, e.system, e.value`
  const cleared = await executor.rows(
    prepared(
      'clear',
      sql`WITH cleared AS (${clear}) SELECT * FROM cleared WHERE starts_with(param, ${DEFINITION_PARAM}) OR param = ${CONTAINED_PARAM}`,
    ),
  )
  const references = cleared.filter((row) => row['param'] === CONTAINED_PARAM)
  const contained = references.map((row) => ({ type: textAt(row, 'system'), id: textAt(row, 'value') }))
  if (contained.length > 0) await removeContained(executor, contained)
  return cleared.length > references.length
}

/** Removes contained resources together with the version of their container. */
async function removeContained(executor: Executor, contained: readonly Address[]): Promise<void> {
  for (const table of [sql`fhir_entry`, sql`fhir_resource`])
    await executor.rows(sql`DELETE FROM ${table} r USING ${addressRows(contained)} WHERE r.type = w.type AND r.id = w.id`)
}

const VERSION: readonly Column<Change>[] = [
  { name: sql`type`, arrayType: sql`text[]`, of: ({ type }) => type },
  { name: sql`id`, arrayType: sql`text[]`, of: ({ id }) => id },
  { name: sql`version`, arrayType: sql`integer[]`, of: ({ version }) => version },
  { name: sql`updated`, arrayType: sql`bigint[]`, of: ({ updated }) => updated },
  { name: sql`text`, arrayType: sql`text[]`, of: ({ text }) => text },
]
const COLUMNS = columnNames(VERSION)

function addressRows(addresses: readonly Address[]): Sql {
  return sql`unnest(${addresses.map(({ type }) => type)}::text[], ${addresses.map(({ id }) => id)}::text[]) AS w (type, id)`
}

function versionOf(row: Row): VersionBefore {
  return {
    type: textAt(row, 'type'),
    id: textAt(row, 'id'),
    version: numberAt(row, 'version'),
    updated: numberAt(row, 'updated'),
    current: row['current'] === true,
  }
}
