import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { unheardErrors } from '../../test/unheard-errors.js'
import { openPostgres } from '../index.js'
import { connectionsOf } from './connections.js'

const LIMITS = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000, allowLossyCommits: true }

let server: Server | undefined
afterEach(() => void server?.close())

test('a server that ends a connection with the message that admits it does not end the process', async () => {
  const { pool, unheard } = await poolOver([ADMITTED, TERMINATED])
  await expect(openPostgres(pool)).rejects.toMatchObject({ code: 'storage-unavailable' })
  await pool.end()
  expect(unheard).toEqual([])
})

test('nor does one that does so after the caller stopped waiting', async () => {
  const { pool, unheard, accept } = await poolOver([ADMITTED, TERMINATED], 'when told')
  await expect(connectionsOf(pool, { ...LIMITS, connectTimeoutMs: 1 }).take()).rejects.toMatchObject({ code: 'storage-timeout' })
  const removed = once(pool, 'remove')
  accept()
  await removed
  await pool.end()
  expect(unheard).toEqual([])
})

interface Watched {
  readonly pool: pg.Pool
  readonly unheard: readonly unknown[]
  /** Lets the server answer, where it waits. */
  readonly accept: () => void
}

/** A pool over a server that says nothing but this, in one piece, and ends the connection. */
async function poolOver(words: readonly Buffer[], when: 'at once' | 'when told' = 'at once'): Promise<Watched> {
  const { promise: told, resolve: accept } = Promise.withResolvers<void>()
  if (when === 'at once') accept()
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => void told.then(() => socket.end(Buffer.concat(words))))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { Client, unheard } = unheardErrors()
  return { pool: new pg.Pool({ host: '127.0.0.1', port: portOf(server), user: 'fhir', Client }), unheard, accept }
}

function portOf(listening: Server): number {
  const address: AddressInfo | string | null = listening.address()
  if (address === null || typeof address === 'string') throw new Error('The server listens nowhere.')
  return address.port
}

/** A message of the protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html */
function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(parts.reduce((sum, part) => sum + part.length, 4))
  return Buffer.concat([Buffer.from(type), length, ...parts])
}

const AUTHENTICATION_OK = message('R', Buffer.alloc(4))
const READY_FOR_QUERY = message('Z', Buffer.from('I'))
const ADMITTED = Buffer.concat([AUTHENTICATION_OK, READY_FOR_QUERY])
const TERMINATED = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'))
