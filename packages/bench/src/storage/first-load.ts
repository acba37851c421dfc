import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { type Storage, putResource, type PutEntry } from 'fhir-ops/storage'
import { type JsonObject, stringAt } from 'fhir-ops/internal/json'
import { openPostgres, openPostgresToFill } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { openSqlite, openSqliteToFill } from '@fhir-ops/sqlite'
import { markdownTable } from '../markdown.js'
import { clinicalResource, PER_PATIENT } from './clinical-resources.js'
import { fill } from './fill.js'
import { benchDatabase } from './opened-storages.js'

const RESOURCES: ReadonlyMap<string, (n: number) => JsonObject> = new Map([
  ['a Patient to nine Observations', clinicalResource],
  ['Patients', (n: number) => clinicalResource(n * PER_PATIENT)],
])

interface Filled {
  readonly storage: Storage
  close(): Promise<void>
}

/** A storage to fill. */
interface Target {
  open(): Promise<Filled>
  remove(): Promise<void>
}

const AT_THE_END = 'indexes made at the end'
const KEPT_UP = 'indexes kept up'
const TARGETS: readonly (readonly [storage: string, way: string, target: () => Promise<Target>])[] = [
  ['SQLite', AT_THE_END, async () => sqliteFile(openSqliteToFill)],
  ['SQLite', KEPT_UP, async () => sqliteFile(openSqlite)],
  ['PostgreSQL', AT_THE_END, async () => postgresSchema(openPostgresToFill)],
  ['PostgreSQL', KEPT_UP, async () => postgresSchema(openPostgres)],
]

/**
 * Speed of filling a new SQLite file or PostgreSQL schema, including its close: `BENCH_SIZES` are the numbers of resources (default `100000`). Processor
 * time, which other processes affect less than the rate, is that of the thread that indexes, and that of all other threads of this process: with SQLite,
 * one of them writes; the server of PostgreSQL is another process and not included. Rows alone are the limit: the time of SQLite itself for the same rows
 * and indexes, in one thread and with no other work.
 */
export async function firstLoads(): Promise<string> {
  const rows: string[][] = []
  for (const size of (process.env['BENCH_SIZES'] ?? '100000').split(',').map(Number))
    for (const [what, resourceOf] of RESOURCES) {
      const add = (...row: readonly string[]): void => {
        rows.push([size.toLocaleString('en'), what, ...row])
        process.stderr.write(`${rows.at(-1)?.join(' ')}\n`)
      }
      add('SQLite', 'rows alone, indexes made at the end', ...(await rawLoad({ size, resourceOf })))
      for (const [storage, way, target] of TARGETS) add(storage, way, ...(await firstLoad(await target(), { size, resourceOf })))
    }
  return markdownTable(['resources', 'of', 'storage', 'way', 'resources/s', 'µs to index and hand over each', 'µs of other threads'], rows)
}

async function sqliteFile(open: (file: string) => Promise<Filled>): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-load-'))
  return { open: async () => open(join(folder, 'load.db')), remove: async () => rm(folder, { recursive: true }) }
}

async function postgresSchema(open: typeof openPostgres): Promise<Target> {
  const { schema, remove } = await benchDatabase()
  return { open: async () => open(schema.pool()), remove }
}

async function firstLoad(target: Target, { size, resourceOf }: Load): Promise<readonly string[]> {
  const { indexer } = r4()
  const [start, all, own] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()]
  const filled = await target.open()
  await fill(filled.storage, indexer, { from: 0, to: size, resourceOf })
  await filled.close()
  const ms = performance.now() - start
  const indexing = microseconds(process.threadCpuUsage(own))
  const others = microseconds(process.cpuUsage(all)) - indexing
  await target.remove()
  return [(size * 1_000) / ms, indexing / size, others / size].map((figure) => figure.toFixed(0))
}

function microseconds({ user, system }: NodeJS.CpuUsage): number {
  return user + system
}

/** The resources to load. */
interface Load {
  readonly size: number
  readonly resourceOf: (n: number) => JsonObject
}

/** Number of resources per transaction, as many as wait together in a load. */
const TOGETHER = 4_000

/** Writes the rows of resources, created in advance, into a new file with the tables of the adapter, and builds its indexes. */
async function rawLoad(load: Load): Promise<readonly string[]> {
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
