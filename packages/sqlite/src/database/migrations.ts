import { OperationError } from 'fhir-ops/errors'
import type { Command } from '../commands/command.js'
import { numberOf, sql, textOf, transaction, type SqliteDriver } from './driver.js'

/**
 * The schema. Migrations only go forward: `user_version` of a file is the number of steps that were applied. A released step is never edited.
 *
 * - `resource`: the current version of every resource.
 * - `deleted`: the last version of every deleted resource, so that versions keep increasing if it is created again.
 * - `param`: search parameters by type, as numbers.
 * - `entry`: index entries, clustered by resource; three indexes cover every test in a query, so that searches and counts read only the
 *   resources that they return. Together with `entry_high`, they also cover the order of every sort key.
 * - `old_version`: replaced and deleted versions, and deletions of resources that were created again (without text).
 * - `change`: keys of resources in the order of their changes, limited to the last few thousand; used to update sets in memory (`sets/`). Triggers
 *   write it, so that no program that writes to the file can bypass it.
 * - `index_to_make`: SQL of indexes on `entry` that a first load omits until it ends (`leaveOutIndexes`); otherwise empty.
 * - `stored_system`: versions of imported code systems, staged, published or replaced; `system_section` has their content.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE resource (
    key INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX resource_id ON resource (type, id);
  CREATE INDEX resource_updated ON resource (type, updated);

  CREATE TABLE deleted (
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (type, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE param (
    key INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (type, name)
  ) STRICT;

  CREATE TABLE entry (
    resource INTEGER NOT NULL,
    param INTEGER NOT NULL,
    n INTEGER NOT NULL,
    system TEXT,
    value TEXT,
    text TEXT,
    low REAL,
    high REAL,
    PRIMARY KEY (resource, param, n)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX entry_value ON entry (param, value, system, resource);
  CREATE INDEX entry_text ON entry (param, text, system, resource) WHERE text IS NOT NULL;
  CREATE INDEX entry_range ON entry (param, low, high, value, system, resource) WHERE coalesce(low, high) IS NOT NULL;

  CREATE TABLE user (
    sub TEXT PRIMARY KEY,
    claims TEXT NOT NULL,
    state TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    epoch_raised_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE session (
    login_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    sub TEXT NOT NULL,
    state TEXT NOT NULL,
    last_used_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    fixed TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX session_user ON session (sub, created_at);
  CREATE INDEX session_expiry ON session (expires_at);
  `,
  `
  CREATE TABLE stored_system (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    version TEXT NOT NULL,
    format TEXT NOT NULL,
    concepts INTEGER NOT NULL,
    header TEXT NOT NULL,
    state TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX stored_system_version ON stored_system (url, version) WHERE state = 'published';

  CREATE TABLE system_section (
    system INTEGER NOT NULL,
    name TEXT NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (system, name)
  ) STRICT;
  `,
  `
  CREATE TABLE old_version (
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    text TEXT,
    UNIQUE (type, id, version)
  ) STRICT;
  CREATE INDEX old_version_updated ON old_version (type, updated);
  CREATE INDEX deleted_updated ON deleted (type, updated);
  `,
  `
  CREATE INDEX entry_high ON entry (param, high, resource) WHERE high IS NOT NULL;
  `,
  `
  ALTER TABLE stored_system ADD COLUMN staged_at INTEGER NOT NULL DEFAULT 0;
  `,
  `
  CREATE TABLE used_key (key TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX used_key_until ON used_key (until);
  `,
  `
  CREATE TABLE index_to_make (sql TEXT NOT NULL) STRICT;
  `,
  `
  CREATE TABLE change (
    seq INTEGER PRIMARY KEY,
    resource INTEGER NOT NULL,
    is_new INTEGER NOT NULL,
    mark INTEGER NOT NULL DEFAULT (random() & 281474976710655)
  ) STRICT;
  INSERT INTO change (resource, is_new) VALUES (0, 0);
  CREATE TRIGGER resource_added AFTER INSERT ON resource BEGIN
    INSERT INTO change (resource, is_new) VALUES (new.key, 1);
  END;
  CREATE TRIGGER resource_changed AFTER UPDATE ON resource BEGIN
    INSERT INTO change (resource, is_new) VALUES (new.key, 0);
  END;
  CREATE TRIGGER resource_removed AFTER DELETE ON resource BEGIN
    INSERT INTO change (resource, is_new) VALUES (old.key, 0);
  END;
  CREATE TRIGGER change_trimmed AFTER INSERT ON change WHEN new.seq % 1024 = 0 BEGIN
    DELETE FROM change WHERE seq <= new.seq - 8192;
  END;
  `,
]

/**
 * Migrates a database to the newest schema, including all indexes.
 *
 * @throws {OperationError} `storage-damaged` if it has tables of another application, or a schema newer than this code.
 */
export function migrate(db: SqliteDriver): void {
  if (hasTables(db) && !hasOwnTables(db)) throw new OperationError('storage-damaged', 'The database holds tables of another application.')
  if (versionOf(db) !== MIGRATIONS.length) takeSteps(db)
  if (lacksIndexes(db)) transaction(db, () => makeIndexes(db))
}

function takeSteps(db: SqliteDriver): void {
  transaction(db, () => {
    const version = versionOf(db)
    if (version > MIGRATIONS.length) {
      throw new OperationError('storage-damaged', 'The database was written by a newer version of this adapter.')
    }
    for (const step of MIGRATIONS.slice(version)) db.exec(step)
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  })
}

function versionOf(db: SqliteDriver): number {
  return numberOf(db.get(sql`PRAGMA user_version`)?.[0])
}

function hasTables(db: SqliteDriver): boolean {
  return db.get(sql`SELECT 1 FROM sqlite_schema LIMIT 1`) !== undefined
}

/** True for a database with the tables of this adapter that every version has. Others number their versions in `user_version` too. */
export function hasOwnTables(db: SqliteDriver): boolean {
  return db.all(sql`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name IN ('resource', 'entry', 'session')`).length === 3
}

/**
 * Drops the indexes of `entry` in a database without resources, and records in the database that they have to be created. Creating them later in one go,
 * in order, is faster than updating them with each entry (`npm run bench first-load`). Meanwhile changes are not logged, which the empty log shows. Runs
 * inside a transaction.
 *
 * @returns False, without changing anything, if there are resources.
 */
export function leaveOutIndexes(db: SqliteDriver): boolean {
  if (db.get(sql`SELECT 1 FROM resource LIMIT 1`) !== undefined) return false
  const made = db.all(sql`SELECT sql, type, name FROM sqlite_schema
    WHERE sql IS NOT NULL AND (type = 'index' AND tbl_name = 'entry' OR type = 'trigger' AND tbl_name = 'resource')`)
  for (const [text, kind, name] of made) {
    db.run(sql`INSERT INTO index_to_make (sql) VALUES (${textOf(text)})`)
    db.exec(`DROP ${textOf(kind)} ${textOf(name)}`)
  }
  db.run(sql`DELETE FROM change`)
  return true
}

/** True if indexes have yet to be created, after a first load that did not finish or that continues in another process. */
function lacksIndexes(db: SqliteDriver): boolean {
  return db.get(sql`SELECT 1 FROM index_to_make LIMIT 1`) !== undefined
}

/** Creates the missing indexes; a helper thread assists in sorting. Runs inside a transaction. */
function makeIndexes(db: SqliteDriver): void {
  db.exec('PRAGMA threads = 1')
  for (const [text] of db.all(sql`SELECT sql FROM index_to_make`)) db.exec(textOf(text))
  db.run(sql`DELETE FROM index_to_make`)
  db.run(sql`INSERT INTO change (resource, is_new) VALUES (0, 0)`)
}

/** Runs `makeIndexes` in the writer thread. */
export const makeIndexesLeftOut: Command<null, null> = {
  name: 'makeIndexes',
  lane: 'write',
  run(db) {
    makeIndexes(db)
    return null
  },
}
