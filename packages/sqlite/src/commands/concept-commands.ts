import { OperationError } from 'fhir-ops/errors'
import type { StoredSystem } from 'fhir-ops/storage'
import type { Command } from './command.js'
import { numberOf, sql, textOf, type Row } from '../database/driver.js'

const COLUMNS = sql`url, version, format, concepts, header, key`

/** Lists the published versions of code systems. */
export const listSystems: Command<null, readonly StoredSystem[]> = {
  name: 'systems',
  lane: 'point',
  run: (db) => db.all(sql`SELECT ${COLUMNS} FROM stored_system WHERE state = 'published' ORDER BY url, version`).map(systemOf),
}

/** Reads a section of a version that is published or has been replaced since. */
export const readSection: Command<{ readonly key: string; readonly name: string }, Uint8Array> = {
  name: 'section',
  lane: 'point',
  run(db, { key, name }) {
    const system = db.get(sql`SELECT id FROM stored_system WHERE key = ${key}`)
    if (system === undefined) throw new OperationError('storage-unavailable', 'The version of the code system was removed.')
    const bytes = db.get(sql`SELECT bytes FROM system_section WHERE system = ${numberOf(system[0])} AND name = ${name}`)?.[0]
    if (bytes instanceof Uint8Array) return bytes
    throw new OperationError('storage-damaged', `The code system has no section ${name}.`)
  },
}

/** True if a version exists. */
export const hasSystem: Command<string, boolean> = {
  name: 'hasSystem',
  lane: 'point',
  run: (db, key) => db.get(sql`SELECT 1 FROM stored_system WHERE key = ${key}`) !== undefined,
}

/** An import that has not finished after a day is considered abandoned; a running one takes minutes. */
const GIVEN_UP_SECONDS = 86_400

/** Begins the import of a version. Removes what unfinished imports of it left behind, and everything that was replaced or abandoned. */
export const stageSystem: Command<StoredSystem, null> = {
  name: 'stageSystem',
  lane: 'write',
  run(db, { url, version, format, concepts, header, key }) {
    const isGivenUp = sql`staged_at < unixepoch() - ${GIVEN_UP_SECONDS}`
    const old = sql`state = 'replaced' OR (state = 'staged' AND (url = ${url} AND version = ${version} OR ${isGivenUp}))`
    db.run(sql`DELETE FROM system_section WHERE system IN (SELECT id FROM stored_system WHERE ${old})`)
    db.run(sql`DELETE FROM stored_system WHERE ${old}`)
    db.run(sql`INSERT INTO stored_system (${COLUMNS}, state, staged_at)
      VALUES (${url}, ${version}, ${format}, ${concepts}, ${header}, ${key}, 'staged', unixepoch())`)
    return null
  },
}

/** A section to store. */
interface SectionToPut {
  readonly key: string
  readonly name: string
  readonly bytes: Uint8Array
}

/** Stores a section of a staged version. */
export const putSection: Command<SectionToPut, null> = {
  name: 'putSection',
  lane: 'write',
  run(db, { key, name, bytes }) {
    const system = db.get(sql`SELECT id FROM stored_system WHERE key = ${key} AND state = 'staged'`)
    if (system === undefined) throw new OperationError('conflict', 'Another import of the same version has begun.')
    // Some versions of Node 22 bind an empty array as NULL.
    db.run(sql`INSERT OR REPLACE INTO system_section (system, name, bytes) VALUES (${numberOf(system[0])}, ${name}, ifnull(${bytes}, x''))`)
    return null
  },
}

/**
 * Publishes a staged version instead of the previous one. The sections of the previous version remain for its current readers until the next import.
 */
export const publishSystem: Command<StoredSystem, null> = {
  name: 'publishSystem',
  lane: 'write',
  run(db, { url, version, key }) {
    db.run(sql`UPDATE stored_system SET state = 'replaced' WHERE url = ${url} AND version = ${version} AND state = 'published'`)
    const done = db.all(sql`UPDATE stored_system SET state = 'published' WHERE key = ${key} AND state = 'staged' RETURNING 1`)
    if (done.length === 0) throw new OperationError('conflict', 'Another import of the same version has begun.')
    return null
  },
}

/** Removes a version and its sections. */
export const removeSystem: Command<string, null> = {
  name: 'removeSystem',
  lane: 'write',
  run(db, key) {
    db.run(sql`DELETE FROM system_section WHERE system IN (SELECT id FROM stored_system WHERE key = ${key})`)
    db.run(sql`DELETE FROM stored_system WHERE key = ${key}`)
    return null
  },
}

function systemOf(row: Row): StoredSystem {
  return {
    url: textOf(row[0]),
    version: textOf(row[1]),
    format: textOf(row[2]),
    concepts: numberOf(row[3]),
    header: textOf(row[4]),
    key: textOf(row[5]),
  }
}
