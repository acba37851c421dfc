import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { putResource, type PutEntry } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'

/** The resources to load. */
export interface Load {
  readonly size: number
  readonly resourceOf: (n: number) => JsonObject
}

/** Number of resources per transaction, as many as wait together in a load. */
const TOGETHER = 4_000

/** Writes the rows of resources, created in advance, into a new file with the tables of the adapter, and builds its indexes. */
export async function rawLoad(load: Load): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-raw-'))
  const file = join(folder, 'raw.db')
  await (await openSqlite(file)).close()
  const puts = putsOf(load)
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 32000; PRAGMA cache_size = -65536; PRAGMA threads = 1')
  const left = db.prepare(LEFT_OUT).all()
  const [start, used] = [performance.now(), process.cpuUsage()]
  for (const { type, name } of left) db.exec(`DROP ${String(type)} ${String(name)}`)
  writeRows(db, puts)
  for (const { sql } of left) db.exec(String(sql))
  db.close()
  const ms = performance.now() - start
  const { user, system } = process.cpuUsage(used)
  await rm(folder, { recursive: true })
  return [((load.size * 1_000) / ms).toFixed(0), '', ((user + system) / load.size).toFixed(0)]
}

/** Indexes and triggers that `openSqliteToFill` also leaves out. */
const LEFT_OUT = `SELECT type, name, sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND (type = 'index' AND tbl_name = 'entry' OR type = 'trigger' AND tbl_name = 'resource')`

function putsOf({ size, resourceOf }: Load): readonly PutEntry[] {
  const { indexer } = r4()
  return Array.from({ length: size }, (_, n) => {
    const source = resourceOf(n)
    return putResource({ type: stringAt(source, 'resourceType') ?? '', id: stringAt(source, 'id') ?? '', source }, indexer)
  })
}

function writeRows(db: DatabaseSync, puts: readonly PutEntry[]): void {
  const resource = db.prepare('INSERT INTO resource (key, type, id, version, updated, text) VALUES (?, ?, ?, 1, 0, ?)')
  const ofLength = new Map<number, ReturnType<typeof db.prepare>>()
  const params = new Map<string, number>()
  for (let from = 0; from < puts.length; from += TOGETHER) {
    db.exec('BEGIN')
    for (const [index, { type, id, text, entries }] of puts.slice(from, from + TOGETHER).entries()) {
      const key = from + index + 1
      resource.run(key, type, id, text)
      const statement = ofLength.get(entries.length) ?? db.prepare(`INSERT INTO entry VALUES ${entries.map(() => ROW).join(', ')}`)
      ofLength.set(entries.length, statement)
      const values: SQLInputValue[] = []
      for (const [n, { param, system = null, value = null, text: words = null, low = null, high = null }] of entries.entries()) {
        const number = params.get(param) ?? params.size + 1
        params.set(param, number)
        values.push(key, number, n, system, value, words, low, high)
      }
      statement.run(...values)
    }
    db.exec('COMMIT')
  }
}

const ROW = '(?, ?, ?, ?, ?, ?, ?, ?)'
