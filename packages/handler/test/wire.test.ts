import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configureServer, startingListener } from '../src/node/index.js'
import { askFhir, fhirHeaders, send, startServer, type RunningServer } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer()
})
afterAll(() => running.stop())

describe('malformed wire requests', () => {
  const exchange = (text: string, last: 'end' | 'write' = 'end'): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(running.port, '127.0.0.1', () => socket[last](text))
      let received = ''
      socket.on('data', (data) => (received += String(data)))
      socket.on('error', () => resolve(received))
      socket.on('close', () => resolve(received))
    })
  const auth = `Authorization: Bearer ${'x'}`
  it.each([
    [
      'CL and TE',
      `POST /fhir/R4/Patient HTTP/1.1\r\nHost: x\r\n${auth}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `POST /fhir/R4/Patient HTTP/1.1\r\nHost: x\r\n${auth}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello`],
    ['a bad chunk', `POST /fhir/R4/Patient HTTP/1.1\r\nHost: x\r\n${auth}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`],
    ['a NUL', 'GET /fhir/R4/\0 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no host', 'GET /fhir/R4/metadata HTTP/1.1\r\n\r\n'],
    ['absolute form', 'GET http://evil.example/fhir/R4/metadata HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['two hosts', 'GET /fhir/R4/metadata HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n'],
    ['a fragment', 'GET /fhir/R4/metadata#x HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a coded body by HTTP/1.0', `POST /fhir/R4/Patient HTTP/1.0\r\n${auth}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000'],
  ])('%s: 400, 401 or a closed connection', async (_name, text) => {
    expect(await exchange(text)).toMatch(/^$|^HTTP\/1.1 40[01] /)
  })

  it.each(['\u0016\u0003\u0001', 'GET /fhir/R4/\0 HTTP/1.1\r\n\r\n', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`])(
    'what is not HTTP is answered with the security headers: %j',
    async (text) => {
      const answer = await exchange(text)
      expect(answer).toMatch(/^HTTP\/1.1 4\d\d /)
      expect(answer).toMatch(/X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n[^]*Connection: close\r\n/)
    },
  )

  it.each(['GET /healthz HTTP/1.1\r\n\r\n', 'GET /healthz\r\n\r\n'])('a request without Host is too: %j', async (text) => {
    expect(await exchange(text)).toMatch(/^HTTP\/1.1 400 [^]*X-Content-Type-Options: nosniff\r\n/)
  })

  it('what follows an answer and is not HTTP closes the connection without another answer', async () => {
    const answer = await exchange('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n\0\0\0')
    expect(answer.split('HTTP/1.1 ')).toHaveLength(2)
  })

  it.each([
    ['a coded body by HTTP/1.0', 'POST /healthz HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
  ])('what follows %s is not taken for a request', async (_, text) => {
    const answer = await exchange(`${text}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1.1 400 [^]*Connection: close\r\n/)
    expect(answer.split('HTTP/1.1 ')).toHaveLength(2)
  })

  it('a Transfer-Encoding beside chunked is 415: nothing decodes it', async () => {
    const headers = Object.entries(fhirHeaders(running.token))
      .map((line) => line.join(': '))
      .join('\r\n')
    const body = '1a\r\n{"resourceType":"Patient"}\r\n0\r\n\r\n'
    const send = (coding: string): Promise<string> =>
      exchange(
        `POST /fhir/R4/Patient HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\nTransfer-Encoding: ${coding}\r\n\r\n${body}`,
        // Node gives up an answer that is not ready when the sender has closed its side.
        'write',
      )
    expect(await send('gzip, chunked')).toMatch(/^HTTP\/1.1 415 /)
    expect(await send('Chunked')).toMatch(/^HTTP\/1.1 201 /)
  })

  it('an Expect that nobody knows is passed over', async () => {
    expect((await askFhir(running, '/metadata', { headers: { expect: '200-ok' } })).status).toBe(200)
  })

  it('a tunnel: 400, and the server goes on', async () => {
    const answer = await exchange('CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('X-Content-Type-Options: nosniff')
    expect((await askFhir(running, '/metadata')).status).toBe(200)
  })

  it('headers over 16 KiB: 431', async () => {
    expect(await exchange(`GET /fhir/R4/metadata HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /)
  })
})

it('a server that is starting answers 503 with the security headers', async () => {
  const server = createServer(startingListener())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const reply = await send(`http://127.0.0.1:${port}/fhir/R4/metadata`, { headers: {} })
  await new Promise((resolve) => server.close(resolve))
  expect([reply.status, reply.headers['retry-after'], reply.headers['cache-control']]).toEqual([503, '1', 'no-store'])
})

describe('configureServer', () => {
  it('ends late senders soon after their time, not at the next of the checks that Node makes every 30 seconds', async () => {
    const server = configureServer(
      createServer(() => {}),
      { headersMs: 50, requestMs: 100 },
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const ended = async (text: string): Promise<unknown> => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(text)).resume()
      return Promise.race([once(socket, 'close').then(() => 'closed'), setTimeout(25_000, 'open', { ref: false })])
    }
    const senders = ['GET / HTTP/1.1\r\nHost:', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe']
    expect(await Promise.all(senders.map(ended))).toEqual(['closed', 'closed'])
    server.close()
  })

  it.each([
    [100, 100],
    [undefined, 1_000],
  ])('with an interval of checks of %s leaves it or makes it a second', (connectionsCheckingInterval, checked) => {
    expect(configureServer(createServer({ connectionsCheckingInterval }))).toMatchObject({ connectionsCheckingInterval: checked })
  })

  it.each([[undefined], [null], [{}], [() => {}]])('refuses what is no server: %s', (given) => {
    expect(() => Reflect.apply(configureServer, undefined, [given])).toThrow(
      new TypeError('configureServer: the server must be what createServer of node:http, or listen of Express and Koa, returns.'),
    )
  })
})
