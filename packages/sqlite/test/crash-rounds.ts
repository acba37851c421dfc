import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stringAt } from 'fhir-ops/internal/json'
import { checkSqlite, openSqlite, type SqliteFile } from '../src/index.js'

/** What the killed processes had been told, and what was found wrong afterwards. */
export interface CrashReport {
  readonly acknowledged: number
  readonly slowestOpenMs: number
  readonly faults: readonly string[]
}

interface Acknowledged {
  /** Version and mark by the number of a pair. */
  readonly pairs: Map<string, { readonly version: number; readonly mark: string }>
  readonly sessions: Set<string>
  readonly ended: Set<string>
}

/** The most acknowledged writes that are waited for before a process is killed, whatever time they take. */
const MAX_WRITES = 60

/** Starts a writing process, kills it at a random moment and looks at what is left; so many times, on the same file. */
export async function crashRounds(file: string, rounds: number): Promise<CrashReport> {
  const acknowledged: Acknowledged = { pairs: new Map(), sessions: new Set(), ended: new Set() }
  const faults: string[] = []
  let lines = 0
  let slowestOpenMs = 0
  for (let round = 0; round < rounds; round++) {
    // Every third time while it still starts, and recovers from the death before.
    const output = await killedWriter(file, { run: `r${round}`, early: round % 3 === 2 })
    for (const line of output) note(acknowledged, line)
    lines += output.length
    const start = process.cpuUsage()
    const db = await openSqlite(file)
    const { user, system } = process.cpuUsage(start)
    slowestOpenMs = Math.max(slowestOpenMs, (user + system) / 1_000)
    faults.push(...(await faultsIn(db, acknowledged)))
    await db.close()
    faults.push(...checkSqlite(file))
  }
  return { acknowledged: lines, slowestOpenMs, faults }
}

/** The complete lines that a writer reported before it was killed. */
async function killedWriter(file: string, { run, early }: { readonly run: string; readonly early: boolean }): Promise<readonly string[]> {
  const writer = spawn(process.execPath, [fileURLToPath(new URL('crash-writer.ts', import.meta.url)), file, run], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  writer.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  writer.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const least = early ? 0 : 1 + Math.random() * MAX_WRITES
  await after(Math.random() * 200)
  while (output.split('\n').length <= least && writer.exitCode === null) await after(5)
  if (writer.exitCode !== null) throw new Error(`The writer ended by itself: ${errors}`)
  const closed = once(writer, 'close')
  writer.kill('SIGKILL')
  await closed
  return output.split('\n').slice(0, -1)
}

function note({ pairs, sessions, ended }: Acknowledged, line: string): void {
  const [kind, id = '', version, mark = ''] = line.split(' ')
  if (kind === 'pair' && Number(version) > (pairs.get(id)?.version ?? 0)) pairs.set(id, { version: Number(version), mark })
  if (kind === 'session') sessions.add(id)
  if (kind === 'ended') ended.add(id)
}

async function faultsIn(db: SqliteFile, { pairs, sessions, ended }: Acknowledged): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [pair, acknowledged] of pairs) faults.push(...(await faultsOfPair(db, pair, acknowledged)))
  for (const id of sessions) if ((await db.sessions.session(id)) === undefined) faults.push(`session ${id} is lost`)
  for (const id of ended) if ((await db.sessions.session(id))?.state !== 'logged-out') faults.push(`session ${id} is active again`)
  return faults
}

async function faultsOfPair(
  db: SqliteFile,
  pair: string,
  { version, mark }: { readonly version: number; readonly mark: string },
): Promise<readonly string[]> {
  const a = await halfOf(db, `a${pair}`)
  const b = await halfOf(db, `b${pair}`)
  const found = a.text.split(' ')[0] ?? ''
  const checks: readonly (readonly [fault: boolean, name: string])[] = [
    [a.version < version, `version ${version} is lost`],
    [a.version === version && found !== mark, `version ${version} has another content`],
    [a.text !== `${found} `.repeat(200), 'torn'],
    [a.text !== b.text || a.version !== b.version, 'half a transaction'],
    [!(await isFound(db, `a${pair}`, found)), 'not found by its mark'],
  ]
  return checks.filter(([fault]) => fault).map(([, name]) => `pair ${pair}: ${name}`)
}

async function halfOf(db: SqliteFile, id: string): Promise<{ readonly version: number; readonly text: string }> {
  const half = await db.storage.read('Basic', id)
  return { version: Number(half?.versionId ?? 0), text: stringAt(half?.resource, 'language') ?? '' }
}

async function isFound(db: SqliteFile, id: string, mark: string): Promise<boolean> {
  const where = { kind: 'entry', param: 'mark', all: [{ field: 'value', op: 'eq', operand: mark }] } as const
  const { items } = await db.storage.search({ type: 'Basic', where })
  return items.some((item) => item.id === id)
}
