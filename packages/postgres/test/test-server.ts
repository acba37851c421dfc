import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.js'
import { serverPrograms } from './server-programs.js'

const execFileAsync = promisify(execFile)

/** How a server is stopped: in order, at once, or by killing every process of it. */
export type Stop = 'fast' | 'immediate' | 'kill'

/** A PostgreSQL server of the tests' own, in a temporary folder. */
export interface TestServer {
  readonly url: string
  /** Version and place, for people. */
  readonly name: string
  stop(how: Stop): Promise<void>
  /** Resolves when connections are accepted. */
  start(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

/**
 * Starts a server; `undefined` where none can be had.
 *
 * @param settings Of the server, as in `postgresql.conf`.
 * @param followed Another of these servers, which this one follows as a standby.
 */
export async function testServer(
  settings: Readonly<Record<string, string>> = {},
  followed?: Pick<TestServer, 'url'>,
): Promise<TestServer | undefined> {
  const bin = serverPrograms()
  const account = accountOfServer()
  return bin === undefined || account === undefined ? undefined : serverIn(bin, account, { settings, followed })
}

interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** PostgreSQL refuses to run as root; its package makes a user for it. */
function accountOfServer(): Account | undefined {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return uid?.status === 0 ? { uid: Number(uid.stdout), gid: Number(gid?.stdout) } : undefined
}

interface Content {
  readonly settings: Readonly<Record<string, string>>
  readonly followed: Pick<TestServer, 'url'> | undefined
}

async function serverIn(bin: string, account: Account, { settings, followed }: Content): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-postgres-'))
  if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid)
  const options = { ...account, cwd: folder, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } }
  const data = join(folder, 'data')
  if (followed === undefined) copyCluster(bin, account, data)
  else await execFileAsync(join(bin, 'pg_basebackup'), [...copyArgs(followed.url), '-D', data], options)
  const port = await freePort()
  const url = `postgres://fhir@127.0.0.1:${port}/postgres`
  const run = (): ChildProcess =>
    spawn(join(bin, 'postgres'), ['-D', data, ...settingArgs({ port: String(port), ...settings })], { ...options, stdio: 'ignore' })
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    server = run()
    await ready(url, server)
  }
  const stop = async (how: Stop): Promise<void> => {
    if (server !== undefined && server.exitCode === null && server.signalCode === null) await stopped(server, how)
  }
  await start()
  return {
    url,
    name: `${execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).trim()} of ${bin}`,
    start,
    stop,
    async remove() {
      await stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

let made: string | undefined

/** Puts an empty cluster in a folder: a copy of the one that `initdb` makes once for this process, which takes a second. */
function copyCluster(bin: string, account: Account, data: string): void {
  made ??= makeCluster(bin, account)
  execFileSync('cp', ['-R', made, data], account)
}

function makeCluster(bin: string, account: Account): string {
  const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-cluster-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid)
  const data = join(folder, 'data')
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  const args = ['-D', data, '-U', 'fhir', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  execFileSync(join(bin, 'initdb'), args, { ...account, cwd: folder, env, stdio: 'pipe' })
  return data
}

/** Of a copy that is made while the other server works, and follows it from there. */
function copyArgs(url: string): readonly string[] {
  const { hostname, port, username } = new URL(url)
  return ['-h', hostname, '-p', port, '-U', username, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']
}

function settingArgs(settings: Readonly<Record<string, string>>): readonly string[] {
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200', ...settings }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const

async function stopped(server: ChildProcess, how: Stop): Promise<void> {
  const ended = once(server, 'exit')
  const children = how === 'kill' ? childrenOf(server) : []
  server.kill(SIGNALS[how])
  for (const pid of children) spawnSync('kill', ['-9', String(pid)])
  await ended
}

function childrenOf({ pid }: ChildProcess): readonly number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return stdout
    .split('\n')
    .map(Number)
    .filter((child) => child > 0)
}

/** Waits as long as the server lives: how long a start takes depends on what else the machine does. */
async function ready(url: string, server: ChildProcess): Promise<void> {
  while (!(await answers(url))) {
    if (server.exitCode !== null) throw new Error('The test server ended by itself.')
    await after(20)
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
