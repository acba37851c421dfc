import { connect, createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { setTimeout as after } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './free-port.js'
import { testServer, type Stop, type TestServer } from './test-server.js'

/** A primary whose commits wait for a standby, behind an address that stays. */
export interface FailoverPair extends TestServer {
  /** Kills the primary; the standby is not told. */
  stop(how: Stop): Promise<void>
  /** Promotes the standby, makes another one of it, and resolves when that follows and connections are accepted. */
  start(): Promise<void>
}

/** Settings of both: commits are acknowledged when a standby has them on its disk. */
export const REPLICATION = {
  wal_level: 'replica',
  max_wal_senders: '10',
  synchronous_standby_names: '*',
  synchronous_commit: 'on',
  hot_standby: 'on',
}

/** Starts both; `undefined` where no server can be had. */
export async function failoverPair(): Promise<FailoverPair | undefined> {
  let primary = await testServer(REPLICATION)
  if (primary === undefined) return undefined
  let standby = await followerOf(primary)
  const door = await openDoor(primary)
  return {
    url: primary.url.replace(/:\d+\//, `:${door.port}/`),
    name: `${primary.name}, with a synchronous standby`,
    async stop() {
      await primary?.stop('kill')
      door.close()
    },
    async start() {
      await primary?.remove()
      await asked(standby, 'SELECT pg_promote(true, 60)')
      primary = standby
      standby = await followerOf(primary)
      door.open(primary)
    },
    async remove() {
      door.end()
      await standby.remove()
      await primary?.remove()
    },
  }
}

/** A server that follows another one, which waits for it. */
export async function followerOf(primary: TestServer): Promise<TestServer> {
  const follower = await testServer(REPLICATION, primary)
  if (follower === undefined) throw new Error('No second server can be had.')
  while (
    (await asked(primary, "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')")).length === 0
  )
    await after(20)
  return follower
}

/** Rows of a statement on a server. */
export async function asked({ url }: TestServer, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

interface Door {
  readonly port: number
  open(server: TestServer): void
  /** Cuts every connection, and refuses others until it is opened. */
  close(): void
  end(): void
}

/** What a virtual address or a balancer is in a real installation. */
async function openDoor(first: TestServer): Promise<Door> {
  const port = await freePort()
  const sockets = new Set<Socket>()
  let behind: TestServer | undefined = first
  const listener: Server = createServer((from) => {
    if (behind === undefined) return void from.destroy()
    const to = connect(Number(new URL(behind.url).port), '127.0.0.1')
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await once(listener.listen(port, '127.0.0.1'), 'listening')
  const close = (): void => {
    behind = undefined
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    close,
    open: (server) => {
      behind = server
    },
    end() {
      close()
      listener.close()
    },
  }
}
