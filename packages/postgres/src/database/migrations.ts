import { setTimeout as after } from 'node:timers/promises'
import { OperationError } from 'fhir-ops/errors'
import type { Database, Executor } from './database.js'
import { isLockTimeout, isUnsupported } from './failure.js'
import { numberAt, sql, type Sql } from './sql.js'

const RANGES = sql`CREATE INDEX IF NOT EXISTS fhir_entry_range ON fhir_entry (type, param, low, high, value, system, id)
      WHERE low IS NOT NULL OR high IS NOT NULL`
const ENDS = sql`CREATE INDEX IF NOT EXISTS fhir_entry_high ON fhir_entry (type, param, high, id) WHERE high IS NOT NULL`
const VALUES = sql`CREATE INDEX IF NOT EXISTS fhir_entry_by_value ON fhir_entry (type, param, value, id, system)`
const TEXTS = sql`CREATE INDEX IF NOT EXISTS fhir_entry_by_text ON fhir_entry (type, param, text, id, system) WHERE text IS NOT NULL`
const LONG = sql`CREATE INDEX IF NOT EXISTS fhir_entry_long ON fhir_entry (type, param) WHERE whole_value IS NOT NULL OR whole_text IS NOT NULL`

/** Search parameters of which a resource has several entries: if there are none, entries can be counted directly. */
const AGAIN = sql`CREATE INDEX IF NOT EXISTS fhir_entry_again ON fhir_entry (type, param, n) WHERE n > 0`

/** Indexes on search parameters in the newest schema, by name. A first load omits them until it ends. */
const ENTRY_INDEXES: ReadonlyMap<string, Sql> = new Map([
  ['fhir_entry_range', RANGES],
  ['fhir_entry_high', ENDS],
  ['fhir_entry_by_value', VALUES],
  ['fhir_entry_by_text', TEXTS],
  ['fhir_entry_long', LONG],
  ['fhir_entry_again', AGAIN],
])

/** Statements that run in one transaction. */
export type Step = readonly Sql[]

/**
 * Stores in each row the transaction that wrote it, whichever program writes, including older processes. If another program removes a row, its address is
 * recorded, except for contained resources. Other engines may have these functions without such transaction ids; the first statements check that the id
 * in a row just changed is the one that the function returns.
 */
const TRANSACTIONS: Step = [
  sql`UPDATE fhir_schema SET version = version`,
  sql`DO 'BEGIN
    IF NOT EXISTS (SELECT FROM fhir_schema WHERE xmin = pg_current_xact_id()::xid) THEN RAISE feature_not_supported; END IF;
  END'`,
  sql`ALTER TABLE fhir_resource ADD COLUMN IF NOT EXISTS changed_in xid8`,
  sql`CREATE OR REPLACE FUNCTION fhir_changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
    NEW.changed_in := pg_current_xact_id();
    RETURN NEW;
  END'`,
  sql`DROP TRIGGER IF EXISTS fhir_resource_changed ON fhir_resource`,
  sql`CREATE TRIGGER fhir_resource_changed BEFORE INSERT OR UPDATE ON fhir_resource FOR EACH ROW EXECUTE FUNCTION fhir_changed()`,
  sql`ALTER TABLE fhir_resource ENABLE ALWAYS TRIGGER fhir_resource_changed`,
  sql`CREATE TABLE IF NOT EXISTS fhir_removed (type text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, changed_in xid8 NOT NULL)`,
  sql`CREATE INDEX IF NOT EXISTS fhir_removed_changed ON fhir_removed (changed_in)`,
  sql`CREATE OR REPLACE FUNCTION fhir_remove() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
    EXECUTE format(''INSERT INTO %I.fhir_removed VALUES ($1, $2, pg_current_xact_id())'', TG_TABLE_SCHEMA) USING OLD.type, OLD.id;
    RETURN NULL;
  END'`,
  sql`DROP TRIGGER IF EXISTS fhir_resource_removed ON fhir_resource`,
  sql`CREATE TRIGGER fhir_resource_removed AFTER DELETE ON fhir_resource FOR EACH ROW WHEN (left(OLD.type, 1) <> '#') EXECUTE FUNCTION fhir_remove()`,
  sql`ALTER TABLE fhir_resource ENABLE ALWAYS TRIGGER fhir_resource_removed`,
]
/** A separate step, so that reads continue while the index is created. It does not cover resources that existed before. */
const CHANGED: Step = [sql`CREATE INDEX IF NOT EXISTS fhir_resource_changed ON fhir_resource (changed_in) WHERE changed_in IS NOT NULL`]

/** Steps that are skipped on engines that do not support them. */
const OPTIONAL: ReadonlySet<Step | undefined> = new Set([TRANSACTIONS, CHANGED])

/**
 * The schema. Migrations only go forward: `fhir_schema` has the number of steps that were applied. A released step is never edited, and must be
 * repeatable after an interruption.
 *
 * Processes of the previous version continue to serve during a step and after it, so a step only adds what they can ignore: tables, indexes, columns
 * with a default or without NOT NULL. A change that they cannot handle, such as a removed column, is a step of a later release that ends with
 * `servesFrom` and its number: processes with fewer steps are refused from then on.
 *
 * - `fhir_resource`: the last version of every id; after a deletion the row stays, without text, so that versions keep increasing. `changed_in` is the
 *   transaction that wrote it; empty if it was written before the column existed.
 * - `fhir_removed`: addresses of rows that other programs removed from `fhir_resource`; this adapter removes only contained resources.
 * - `fhir_entry`: index entries. Of a long text, it has the beginning, which indexes can hold, and in another column the whole; three indexes
 *   cover every test in a query except those for parts of texts. The indexes are in the order of sort keys, then ids.
 * - `fhir_version`: replaced versions, and deletions of resources that were created again (without text).
 * - `fhir_user`, `fhir_session`: users and sessions.
 * - `fhir_revision`: a single row, which changes with the definitions.
 * - `fhir_system`: versions of imported code systems, staged, published or replaced; `fhir_section` has their content.
 *
 * Keys consist of values from the caller: there is no sequence, over which a distributed engine would have to synchronize.
 */
export const MIGRATIONS: readonly Step[] = [
  [
    sql`CREATE TABLE IF NOT EXISTS fhir_resource (
      type text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      updated bigint NOT NULL,
      text text COLLATE "C",
      PRIMARY KEY (type, id)
    )`,
    sql`CREATE INDEX IF NOT EXISTS fhir_resource_updated ON fhir_resource (type, updated, id) WHERE text IS NOT NULL`,
    sql`CREATE TABLE IF NOT EXISTS fhir_entry (
      type text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      param text COLLATE "C" NOT NULL,
      n integer NOT NULL,
      system text COLLATE "C",
      value text COLLATE "C",
      text text COLLATE "C",
      low double precision,
      high double precision,
      whole_system text COLLATE "C",
      whole_value text COLLATE "C",
      whole_text text COLLATE "C",
      PRIMARY KEY (type, id, param, n)
    )`,
    sql`CREATE INDEX IF NOT EXISTS fhir_entry_value ON fhir_entry (type, param, value, system, id)`,
    sql`CREATE INDEX IF NOT EXISTS fhir_entry_text ON fhir_entry (type, param, text, system, id) WHERE text IS NOT NULL`,
    RANGES,
    sql`CREATE TABLE IF NOT EXISTS fhir_user (
      sub text COLLATE "C" PRIMARY KEY,
      claims text NOT NULL,
      state text NOT NULL,
      epoch integer NOT NULL,
      epoch_raised_at bigint NOT NULL
    )`,
    sql`CREATE TABLE IF NOT EXISTS fhir_session (
      login_id text COLLATE "C" PRIMARY KEY,
      digest text COLLATE "C" NOT NULL UNIQUE,
      sub text COLLATE "C" NOT NULL,
      state text NOT NULL,
      last_used_at bigint NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      fixed text NOT NULL
    )`,
    sql`CREATE INDEX IF NOT EXISTS fhir_session_user ON fhir_session (sub, created_at)`,
    sql`CREATE INDEX IF NOT EXISTS fhir_session_expiry ON fhir_session (expires_at)`,
    sql`CREATE TABLE IF NOT EXISTS fhir_system (
      key text COLLATE "C" PRIMARY KEY,
      url text COLLATE "C" NOT NULL,
      version text COLLATE "C" NOT NULL,
      format text NOT NULL,
      concepts integer NOT NULL,
      header text NOT NULL,
      state text NOT NULL
    )`,
    sql`CREATE UNIQUE INDEX IF NOT EXISTS fhir_system_version ON fhir_system (url, version) WHERE state = 'published'`,
    sql`CREATE TABLE IF NOT EXISTS fhir_section (
      system text COLLATE "C" NOT NULL,
      name text COLLATE "C" NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (system, name)
    )`,
  ],
  [
    sql`CREATE TABLE IF NOT EXISTS fhir_version (
      type text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      updated bigint NOT NULL,
      text text COLLATE "C",
      PRIMARY KEY (type, id, version)
    )`,
    sql`CREATE INDEX IF NOT EXISTS fhir_version_updated ON fhir_version (type, updated, id)`,
    sql`CREATE INDEX IF NOT EXISTS fhir_resource_deleted ON fhir_resource (type, updated, id) WHERE text IS NULL`,
  ],
  [ENDS],
  [
    sql`CREATE TABLE IF NOT EXISTS fhir_revision (one integer PRIMARY KEY, state text NOT NULL)`,
    sql`INSERT INTO fhir_revision (one, state) VALUES (1, '') ON CONFLICT DO NOTHING`,
  ],
  [sql`ALTER TABLE fhir_system ADD COLUMN IF NOT EXISTS staged_at timestamptz NOT NULL DEFAULT now()`],
  [VALUES, TEXTS, LONG, sql`DROP INDEX IF EXISTS fhir_entry_value`, sql`DROP INDEX IF EXISTS fhir_entry_text`],
  [
    sql`CREATE TABLE IF NOT EXISTS fhir_used_key (key text COLLATE "C" PRIMARY KEY, until bigint NOT NULL)`,
    sql`CREATE INDEX IF NOT EXISTS fhir_used_key_until ON fhir_used_key (until)`,
  ],
  [sql`ALTER TABLE fhir_schema ADD COLUMN IF NOT EXISTS least_version integer NOT NULL DEFAULT 0`],
  [AGAIN],
  TRANSACTIONS,
  CHANGED,
]

/** Ends a step that processes with fewer steps than this cannot serve. */
export function servesFrom(version: number): Sql {
  return sql`UPDATE fhir_schema SET least_version = ${version}`
}

/**
 * Migrates the database to the newest schema, including all indexes. If several processes start, one does each step while the others wait; if it dies,
 * another one continues. A database of a newer version that still serves this version is left unchanged.
 *
 * @throws {OperationError} `storage-damaged` if a newer version of this adapter migrated the database and no longer serves this version.
 */
export async function migrate(db: Database, steps: readonly Step[] = MIGRATIONS): Promise<void> {
  if (await isCurrent(db, steps)) return
  await migrateTables(db, steps)
  await makeIndexes(db)
}

/**
 * As `migrate`, but without indexes on search parameters if there are no resources yet.
 *
 * @returns True if indexes are missing, because of this load or an earlier one that was interrupted.
 */
export async function migrateToFill(db: Database): Promise<boolean> {
  await migrateTables(db, MIGRATIONS)
  await db.transaction(async (executor) => {
    if ((await executor.rows(sql`SELECT 1 FROM fhir_resource LIMIT 1`)).length > 0) return
    if ((await versionOf(executor, MIGRATIONS.length)) > MIGRATIONS.length) return
    for (const name of ENTRY_INDEXES.keys()) await executor.rows({ text: `DROP INDEX IF EXISTS ${name}`, values: [] })
  })
  return !(await isCurrent(db, MIGRATIONS))
}

/** Creates the indexes that a first load omitted, while nothing is written. */
export async function makeIndexes(db: Database): Promise<void> {
  await inTurn(db, async (executor) => {
    await executor.rows(sql`SET LOCAL maintenance_work_mem = '256MB'`)
    for (const statement of ENTRY_INDEXES.values()) await executor.rows({ ...statement, timeoutMs: STEP_TIMEOUT_MS })
  })
}

async function migrateTables(db: Database, steps: readonly Step[]): Promise<void> {
  await db.transaction(async (executor) => {
    await executor.rows(sql`CREATE TABLE IF NOT EXISTS fhir_schema (one integer PRIMARY KEY, version integer NOT NULL)`)
    await executor.rows(sql`INSERT INTO fhir_schema (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING`)
  })
  for (let done = false; !done;) done = await nextStep(db, steps)
}

/** True if rows contain the transaction that wrote them. */
export async function bearsTransactions(db: Executor): Promise<boolean> {
  const [row] = await db.rows(sql`SELECT EXISTS (SELECT 1 FROM pg_trigger
    WHERE tgrelid = to_regclass('fhir_resource') AND tgname = 'fhir_resource_changed') AS bears`)
  return row?.['bears'] === true
}

/** Checks the version with two reads: usually there is nothing to do, and some processes may not change the schema. */
async function isCurrent(db: Database, steps: readonly Step[]): Promise<boolean> {
  const [table] = await db.rows(sql`SELECT to_regclass('fhir_schema') IS NOT NULL AS exists,
    (SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE i.indrelid = to_regclass('fhir_entry') AND c.relname = ANY (${[...ENTRY_INDEXES.keys()]})) AS indexes`)
  if (table?.['exists'] !== true) return false
  const version = await versionOf(db, steps.length)
  // A newer version may have different indexes.
  return version > steps.length || (version === steps.length && numberAt(table, 'indexes') === ENTRY_INDEXES.size)
}

/** Creating an index of a large database takes minutes. */
const STEP_TIMEOUT_MS = 24 * 3_600_000

/** How long to wait for a table lock at a time, in milliseconds: everybody else who needs the table waits behind. */
const LOCK_WAIT_MS = 500
/** Pause for the others before the next attempt, in milliseconds. */
const LOCK_PAUSE_MS = 500

/**
 * Runs changes of the schema, in one process at a time. If a table is locked for long, such as by a backup, the change is retried instead of blocking
 * the processes that serve. The turn itself is acquired in the same way, without waiting: a waiting transaction would hold a lock on the table of turns,
 * and the process whose turn it is could not change that table.
 */
async function inTurn<T>(db: Database, work: (executor: Executor) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await db.transaction(async (executor) => {
        await executor.rows(sql`SET LOCAL statement_timeout = 0`)
        await executor.rows(sql`SELECT 1 FROM fhir_schema FOR UPDATE NOWAIT`)
        await executor.rows({ text: `SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`, values: [] })
        return work(executor)
      })
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      await after(LOCK_PAUSE_MS)
    }
  }
}

/** Runs the next step; returns true if there is none left. */
async function nextStep(db: Database, steps: readonly Step[]): Promise<boolean> {
  const take = async (leavesOut: boolean): Promise<boolean> =>
    inTurn(db, async (executor) => {
      const version = await versionOf(executor, steps.length)
      const step = steps[version]
      if (step === undefined) return true
      const statements = leavesOut && OPTIONAL.has(step) ? [] : step
      for (const statement of statements) await executor.rows({ ...statement, timeoutMs: STEP_TIMEOUT_MS })
      await executor.rows(sql`UPDATE fhir_schema SET version = ${version + 1}`)
      return false
    })
  try {
    return await take(false)
  } catch (error) {
    if (!isUnsupported(error)) throw error
    return take(true)
  }
}

/** @throws {OperationError} `storage-damaged` if the database has a newer version that does not serve processes with the `known` steps. */
async function versionOf(executor: Executor, known: number): Promise<number> {
  const [row] = await executor.rows(sql`SELECT version FROM fhir_schema`)
  const version = row === undefined ? 0 : numberAt(row, 'version')
  if (version <= known) return version
  const [newer = {}] = await executor.rows(sql`SELECT least_version FROM fhir_schema`)
  if (numberAt(newer, 'least_version') <= known) return version
  throw new OperationError('storage-damaged', 'The database was written by a newer version of this adapter, which does not serve this one.')
}
