import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { freePort } from './free-port.js'
import { installDebian } from '../../../test/debian.js'

/** A pgbouncer that lends the connections of a server for one transaction each. */
export interface Pooler {
  /** Address of a database behind it. */
  url(database: string): string
  /** Kills it. */
  stop(): Promise<void>
  /** Resolves when it accepts connections again, at the same address. */
  start(): Promise<void>
  remove(): Promise<void>
}

/** Most connections to a database of the server, fewer than the clients have. */
const SERVER_CONNECTIONS = 4

/**
 * Starts a pgbouncer in front of a server, after installing it where the tests run as root on a Debian; `undefined` where none can be had.
 *
 * @param serverUrl Of a server that asks nobody for a password.
 */
export async function pgbouncer(serverUrl: string): Promise<Pooler | undefined> {
  const program = programOf() ?? (installDebian(['pgbouncer'], 'test -x /usr/sbin/pgbouncer') ? programOf() : undefined)
  if (program === undefined) return undefined
  const { hostname, port: serverPort, username } = new URL(serverUrl)
  const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=${username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'max_client_conn = 200',
    `default_pool_size = ${SERVER_CONNECTIONS}`,
    // Databases of tests are dropped: no connection may be left.
    'server_idle_timeout = 1',
    'server_login_retry = 1',
  ]
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(config, `${lines.join('\n')}\n`)
  const asOther = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  let running: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const started = spawn(program, [...asOther, config], { stdio: 'ignore' })
    running = started
    while (!(await listens(port))) {
      if (started.exitCode !== null) throw new Error('pgbouncer ended by itself.')
      await after(20)
    }
  }
  const stop = async (): Promise<void> => {
    if (running === undefined || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    url: (database) => `postgres://fhir@127.0.0.1:${port}/${database}`,
    start,
    stop,
    async remove() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function programOf(): string | undefined {
  if (existsSync('/usr/sbin/pgbouncer')) return '/usr/sbin/pgbouncer'
  return spawnSync('pgbouncer', ['--version']).status === 0 ? 'pgbouncer' : undefined
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
