import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from 'fhir-ops/internal/json'
import { r4 } from '@fhir-ops/r4'
import { openSqlite, openSqliteToFill, type SqliteFile } from '@fhir-ops/sqlite'
import { markdownTable } from '../markdown.js'
import { clinicalResource, PER_PATIENT } from './clinical-resources.js'
import { fill } from './fill.js'

const RESOURCES: ReadonlyMap<string, (n: number) => JsonObject> = new Map([
  ['a Patient to nine Observations, 13 entries', clinicalResource],
  ['Patients, 8 entries', (n: number) => clinicalResource(n * PER_PATIENT)],
])
const WAYS: ReadonlyMap<string, (file: string) => Promise<SqliteFile>> = new Map([
  ['indexes made at the end', openSqliteToFill],
  ['indexes kept up', openSqlite],
])

/**
 * How fast a new SQLite file is filled, to its close: `BENCH_SIZES` are the numbers of resources (default `100000`). Processor time, which
 * other processes lengthen less than the rate, is that of the thread that indexes, and that of all others, of which one writes.
 */
export async function firstLoads(): Promise<string> {
  const rows: string[][] = []
  for (const size of (process.env['BENCH_SIZES'] ?? '100000').split(',').map(Number))
    for (const [what, resourceOf] of RESOURCES)
      for (const [way, open] of WAYS) rows.push([size.toLocaleString('en'), what, way, ...(await firstLoad(open, { size, resourceOf }))])
  return markdownTable(['resources', 'of', 'SQLite', 'resources/s', 'µs to index each', 'µs to write each'], rows)
}

interface Load {
  readonly size: number
  readonly resourceOf: (n: number) => JsonObject
}

async function firstLoad(open: (file: string) => Promise<SqliteFile>, { size, resourceOf }: Load): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-load-'))
  const [start, all, own] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()]
  const file = await open(join(folder, 'load.db'))
  await fill(file.storage, r4().indexer, { from: 0, to: size, resourceOf })
  await file.close()
  const ms = performance.now() - start
  const indexing = microseconds(process.threadCpuUsage(own))
  const writing = microseconds(process.cpuUsage(all)) - indexing
  await rm(folder, { recursive: true })
  return [(size * 1_000) / ms, indexing / size, writing / size].map((figure) => figure.toFixed(0))
}

function microseconds({ user, system }: NodeJS.CpuUsage): number {
  return user + system
}
