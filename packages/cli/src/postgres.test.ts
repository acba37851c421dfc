import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../postgres/test/test-database.js'
import { postgresUrl } from './storage.js'
import { run } from './program.js'

const database = await testDatabase()
const schema = await database.schema()
afterAll(async () => {
  await schema.drop()
  await database.remove()
})

test.each([
  ['postgres:postgres://u@h/d', 'postgres://u@h/d'],
  ['postgres:postgresql://h/d', 'postgresql://h/d'],
  ['postgresql://h/d', 'postgresql://h/d'],
  ['postgres:', undefined],
  ['sqlite:postgres://h', undefined],
])('%s names the database %s', (option, url) => {
  expect(postgresUrl(option)).toBe(url)
})

async function output(...args: readonly string[]): Promise<string> {
  const out: string[] = []
  const io = { out: (line: string) => out.push(line), err: () => {}, stdin: async () => '' }
  expect(await run([...args, '--storage', `postgres:${schema.url}`], io)).toBe(0)
  return out.join('\n')
}

describe.skipIf(schema.url === undefined)('commands over PostgreSQL (needs a PostgreSQL server)', () => {
  test('make, list and revoke tokens', async () => {
    const { token, loginId }: Readonly<Record<string, string>> = JSON.parse(await output('token', 'create', '--user', 'ann', '--json'))
    expect(token).toMatch(/^fo_/)
    expect(JSON.parse(await output('token', 'list', '--user', 'ann', '--json'))).toMatchObject([{ loginId }])
    await output('token', 'revoke', loginId ?? '')
    expect(JSON.parse(await output('token', 'list', '--user', 'ann', '--json'))).toEqual([])
  })

  test('an address without a server is an error with a code', async () => {
    const err: string[] = []
    const io = { out: () => {}, err: (line: string) => err.push(line), stdin: async () => '' }
    expect(await run(['token', 'list', '--storage', 'postgres://u@127.0.0.1:1/d'], io)).toBe(1)
    expect(err).toEqual(['error: postgres://127.0.0.1:1/d: The database cannot be reached. [storage-unavailable]'])
  })
})

test('a database that asks for a password, where none is given, is an error that says so, and the connection is closed', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(authentication(10, 'SCRAM-SHA-256\0\0'))
      socket.once('data', () => socket.write(authentication(11, 'r=x,s=eA==,i=4096')))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected: Promise<Socket[]> = once(server, 'connection')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const err: string[] = []
  const io = { out: () => {}, err: (line: string) => err.push(line), stdin: async () => '' }
  expect(await run(['token', 'list', '--storage', `postgres://u@127.0.0.1:${port}/d`], io)).toBe(1)
  expect(err).toEqual([
    `error: postgres://127.0.0.1:${port}/d: The database asks for a password, and none was given. [storage-unavailable]`,
  ])
  const [socket] = await connected
  if (socket?.closed === false) await once(socket, 'close')
  server.close()
})

/** The message of a server that asks a client to prove who it is. */
function authentication(kind: number, text: string): Buffer {
  const message = Buffer.alloc(9 + text.length)
  message.write('R')
  message.writeInt32BE(8 + text.length, 1)
  message.writeInt32BE(kind, 5)
  message.write(text, 9)
  return message
}
