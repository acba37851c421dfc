import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'

const MAIN = builtFile('packages/cli/dist/main.js')
const SAMPLE = fileURLToPath(new URL('../../sample', import.meta.url))
const URGENT = { system: 'http://example.org/fhir/CodeSystem/visit-priority', code: 'urgent' }

let started: ChildProcess | undefined
afterEach(async () => {
  if (started?.exitCode === null) {
    started.kill()
    await once(started, 'exit')
  }
})

/** The first line of the answer to a request with these headers and this part of a body. */
async function answerTo(url: URL, rest: string, method = 'POST'): Promise<string> {
  const socket = connectTo(Number(url.port), url.hostname)
  socket.write(`${method} ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n${rest}`)
  const [data] = await once(socket, 'data')
  socket.destroy()
  return String(data).split('\r\n', 1)[0] ?? ''
}

test('an MCP client starts the command and asks over standard input and output', async () => {
  const transport = new StdioClientTransport({ command: process.execPath, args: [MAIN, 'mcp', '--load', SAMPLE], stderr: 'ignore' })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  const answer = await client.callTool({ name: 'lookup', arguments: URGENT })
  expect(answer.structuredContent).toMatchObject({ display: 'Urgent, same day' })
  await client.close()
})

test('an MCP client asks over HTTP, with a token', async () => {
  started = spawn(process.execPath, [MAIN, 'mcp', '--port', '0', '--dev-token', 'secret', '--load', SAMPLE], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(started, 'exit').then(([status]) => [`ended with ${status}`])
  const [line] = await Promise.race([once(started.stdout ?? process.stdin, 'data'), ended])
  const url = new URL(String(line).replace('listening on ', '').trim())
  expect(url.pathname).toBe('/mcp')
  const connect = (token: string): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } })
    return client.connect(transport).then(() => client)
  }
  await expect(connect('wrong')).rejects.toThrow()
  const client = await connect('secret')
  expect((await client.callTool({ name: 'lookup', arguments: URGENT })).structuredContent).toMatchObject({ display: 'Urgent, same day' })
  const long = { method: 'POST', headers: { authorization: 'Bearer secret' }, body: 'x'.repeat(5_000_000) }
  expect((await fetch(url, long).catch(() => ({ status: 413 }))).status).toBe(413)
  // A client that sends two tokens, and one that waits with its body.
  expect(await answerTo(url, 'authorization: Bearer secret\r\nauthorization: Bearer other\r\ncontent-length: 2\r\n\r\n{}')).toContain(
    ' 400 ',
  )
  expect(await answerTo(url, 'content-length: 4000\r\n\r\n{')).toContain(' 401 ')
  expect(await answerTo(url, 'authorization: Bearer secret\r\n\r\n', 'TRACE')).toContain(' 405 ')
  await client.close()
})
