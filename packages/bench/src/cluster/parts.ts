import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { asked, followerOf, REPLICATION } from '../../../postgres/test/failover-pair.js'
import { freePort } from '../../../postgres/test/free-port.js'
import { pgbouncer } from '../../../postgres/test/pgbouncer.js'
import { testServer } from '../../../postgres/test/test-server.js'

/** A part of a cluster that can be killed and started again. */
export interface Part {
  readonly name: string
  stop(): Promise<void>
  start(): Promise<void>
}

/** Three instances of `examples/cluster` over one pgbouncer, a primary and its standby. */
export interface Cluster {
  readonly parts: readonly Part[]
  /** Addresses of the instances. */
  readonly instances: readonly string[]
  /** A token that one of them issued, and that all accept. */
  readonly token: string
  remove(): Promise<void>
}

const INSTANCES = 3

export async function openedCluster(): Promise<Cluster> {
  // The primary does not wait for the standby, so that it continues without it; acknowledged writes are on its own disk.
  const primary = await testServer({ ...REPLICATION, synchronous_commit: 'local' })
  if (primary === undefined) throw new TypeError('A cluster needs PostgreSQL servers.')
  await asked(primary, "ALTER ROLE fhir SET statement_timeout = '5s'")
  await asked(primary, 'ALTER ROLE fhir SET jit = off')
  const standby = await followerOf(primary)
  const pooler = await pgbouncer(primary.url)
  if (pooler === undefined) throw new TypeError('A cluster needs pgbouncer.')
  const env = { DATABASE_URL: pooler.url('postgres'), POOLER: '1', REPLICA_URLS: standby.url }
  const instances: Instance[] = []
  for (let n = 1; n <= INSTANCES; n++) instances.push(await instance(`instance ${n} of ${INSTANCES}`, env))
  return {
    parts: [
      ...instances,
      { name: 'pgbouncer', stop: async () => pooler.stop(), start: async () => pooler.start() },
      { name: 'standby', stop: async () => standby.stop('kill'), start: async () => standby.start() },
      { name: 'primary', stop: async () => primary.stop('kill'), start: async () => primary.start() },
    ],
    instances: instances.map(({ address }) => address),
    token: instances[0]?.token() ?? '',
    async remove() {
      await Promise.all(instances.map((each) => each.stop()))
      await pooler.remove()
      await standby.remove()
      await primary.remove()
    },
  }
}

interface Instance extends Part {
  readonly address: string
  readonly token: () => string
}

const MAIN = fileURLToPath(new URL('../../../examples/cluster/main.ts', import.meta.url))

async function instance(name: string, settings: Readonly<Record<string, string>>): Promise<Instance> {
  const port = await freePort()
  let child: ChildProcess | undefined
  let token = ''
  const start = async (): Promise<void> => {
    const started = spawn(process.execPath, [MAIN], {
      env: { ...process.env, ...settings, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = started
    token = await tokenOf(started)
  }
  await start()
  return {
    name,
    address: `http://127.0.0.1:${port}/fhir/R4`,
    token: () => token,
    start,
    async stop() {
      if (child === undefined || child.signalCode !== null || child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Waits until an instance listens, and returns its token. */
async function tokenOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('An instance has no output.')
  for await (const line of createInterface(stdout)) {
    const token = / with token (\S+)$/.exec(line)?.[1]
    if (token !== undefined) return token
  }
  throw new Error('An instance ended before it listened.')
}
