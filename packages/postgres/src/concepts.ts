import { randomUUID } from 'node:crypto'
import { isBytes } from 'fhir-ops/internal/json'
import { OperationError } from 'fhir-ops/errors'
import type { ConceptStore, StoredSystem, SystemSections, SystemToStore } from 'fhir-ops/storage'
import type { StagedSystem } from 'fhir-ops/internal/storage'
import type { Database, Executor } from './database/database.js'
import { revise } from './resources/revision.js'
import { numberAt, textAt, prepared, sql, type Row } from './database/sql.js'

const COLUMNS = sql`key, url, version, format, concepts, header`

/** Creates the store of imported code systems in a database. */
export function conceptsIn(db: Database): ConceptStore {
  return {
    async systems() {
      const rows = await db.rows(sql`SELECT ${COLUMNS} FROM fhir_system WHERE state = 'published' ORDER BY url, version`)
      return rows.map(systemOf)
    },
    open: async (key) => sectionsOf(db, key),
    stage: async (system) => stageSystem(db, { ...system, key: randomUUID() }),
    remove: async (key) => removeSystem(db, key),
  }
}

/** Reads all sections of a version, one after the other, because later accesses are synchronous. */
async function sectionsOf(db: Database, key: string): Promise<SystemSections> {
  const names = await db.rows(sql`SELECT s.name FROM fhir_system y LEFT JOIN fhir_section s ON s.system = y.key WHERE y.key = ${key}`)
  if (names.length === 0) throw removedError()
  const sections = new Map<string, Uint8Array>()
  for (const { name } of names) {
    if (typeof name === 'string') sections.set(name, await sectionBytes(db, key, name))
  }
  return {
    section(name) {
      const bytes = sections.get(name)
      if (bytes === undefined) throw new OperationError('storage-damaged', `The code system has no section ${name}.`)
      return bytes
    },
  }
}

async function sectionBytes(db: Database, key: string, name: string): Promise<Uint8Array> {
  const [row] = await db.rows(prepared('section', sql`SELECT bytes FROM fhir_section WHERE system = ${key} AND name = ${name}`))
  const bytes = row?.['bytes']
  if (isBytes(bytes)) return bytes
  throw removedError()
}

function removedError(): OperationError {
  return new OperationError('storage-unavailable', 'The version of the code system was removed.')
}

async function stageSystem(db: Database, system: StoredSystem): Promise<StagedSystem> {
  await db.transaction(async (executor) => addStaged(executor, system))
  return {
    put: async (name, bytes) => putSection(db, { system: system.key, name, bytes }),
    async publish() {
      await db.transaction(async (executor) => publish(executor, system))
      return system
    },
    discard: async () => removeSystem(db, system.key),
  }
}

/**
 * Removes what unfinished imports of the version left behind, and everything that was replaced or abandoned. An import that has not finished
 * after a day is considered abandoned; a running one takes minutes.
 */
async function addStaged(executor: Executor, { key, url, version, format, concepts, header }: StoredSystem): Promise<void> {
  const isGivenUp = sql`staged_at < now() - interval '1 day'`
  const old = sql`state = 'replaced' OR state = 'staged' AND (url = ${url} AND version = ${version} OR ${isGivenUp})`
  await executor.rows(sql`DELETE FROM fhir_section WHERE system IN (SELECT key FROM fhir_system WHERE ${old})`)
  await executor.rows(sql`DELETE FROM fhir_system WHERE ${old}`)
  await executor.rows(sql`INSERT INTO fhir_system (${COLUMNS}, state)
    VALUES (${key}, ${url}, ${version}, ${format}, ${concepts}, ${header}, 'staged')`)
}

async function putSection(
  db: Database,
  { system, name, bytes }: { readonly system: string; readonly name: string; readonly bytes: Uint8Array },
): Promise<void> {
  const put = sql`INSERT INTO fhir_section (system, name, bytes)
    SELECT key, ${name}, ${bytes} FROM fhir_system WHERE key = ${system} AND state = 'staged'
    ON CONFLICT (system, name) DO UPDATE SET bytes = excluded.bytes RETURNING 1`
  if ((await db.rows(prepared('put_section', put))).length === 0) throw overtakenError()
}

/** The previous version keeps its sections until the next import, for processes that are about to read them. */
async function publish(executor: Executor, { key, url, version }: SystemToStore & { readonly key: string }): Promise<void> {
  await executor.rows(sql`UPDATE fhir_system SET state = 'replaced' WHERE url = ${url} AND version = ${version} AND state = 'published'`)
  const published = await executor.rows(sql`UPDATE fhir_system SET state = 'published' WHERE key = ${key} AND state = 'staged' RETURNING 1`)
  if (published.length === 0) throw overtakenError()
  await revise(executor)
}

function overtakenError(): OperationError {
  return new OperationError('conflict', 'Another import of the same version has begun.')
}

async function removeSystem(db: Database, key: string): Promise<void> {
  await db.transaction(async (executor) => {
    await executor.rows(sql`DELETE FROM fhir_section WHERE system = ${key}`)
    await executor.rows(sql`DELETE FROM fhir_system WHERE key = ${key}`)
    await revise(executor)
  })
}

function systemOf(row: Row): StoredSystem {
  return {
    key: textAt(row, 'key'),
    url: textAt(row, 'url'),
    version: textAt(row, 'version'),
    format: textAt(row, 'format'),
    concepts: numberAt(row, 'concepts'),
    header: textAt(row, 'header'),
  }
}
