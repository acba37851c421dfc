import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { fhirHeaders, startServer, type RunningServer } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer({ limits: { bodyBytes: 200_000 } })
})
afterAll(() => running.stop())

/** What comes back on a connection until the server closes it. */
function received(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (data) => (text += String(data)))
    socket.on('close', () => resolve(text))
  })
}

const headOf = (path: string, headers: readonly string[]): string =>
  [
    `PUT /fhir/R4/${path} HTTP/1.1`,
    'Host: x',
    ...Object.entries(fhirHeaders(running.token)).map((line) => line.join(': ')),
    ...headers,
    '',
    '',
  ].join('\r\n')

const patient = (id: string, more = ''): string => JSON.stringify({ resourceType: 'Patient', id, name: [{ family: `Größe ${more}` }] })

function chunked(text: string, size: number): string {
  const bytes = Buffer.from(text)
  const chunks: string[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = bytes.subarray(at, at + size).toString('latin1')
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  }
  return `${chunks.join('')}0\r\n\r\n`
}

describe.each([
  ['short', ''],
  ['long', 'x'.repeat(150_000)],
])('a %s body', (_name, more) => {
  const ways: readonly (readonly [string, (id: string) => readonly (string | Buffer)[]])[] = [
    [
      'with its head',
      (id) => {
        const body = Buffer.from(patient(id, more))
        return [Buffer.concat([Buffer.from(headOf(`Patient/${id}`, ['Connection: close', `Content-Length: ${body.length}`])), body])]
      },
    ],
    [
      'after its head, in two halves',
      (id) => {
        const body = Buffer.from(patient(id, more))
        const head = headOf(`Patient/${id}`, ['Connection: close', `Content-Length: ${body.length}`])
        return [head, body.subarray(0, 40), body.subarray(40)]
      },
    ],
    [
      'in small chunks, with its head',
      (id) => [
        Buffer.from(headOf(`Patient/${id}`, ['Connection: close', 'Transfer-Encoding: chunked']) + chunked(patient(id, more), 7), 'latin1'),
      ],
    ],
    [
      'with a head that expects to be asked for it',
      (id) => {
        const body = Buffer.from(patient(id, more))
        const head = headOf(`Patient/${id}`, ['Connection: close', 'Expect: 100-continue', `Content-Length: ${body.length}`])
        return [Buffer.concat([Buffer.from(head), body])]
      },
    ],
  ]
  it.each(ways)('%s is stored as it was sent', async (way, partsOf) => {
    const id = `${way.replaceAll(/\W+/g, '-').slice(0, 40)}${more.length}`
    const socket = connect(running.port, '127.0.0.1')
    const answer = received(socket)
    for (const part of partsOf(id)) {
      socket.write(part)
      await setTimeout(5)
    }
    expect(await answer).toMatch(/^(HTTP\/1.1 100 Continue\r\n\r\n)?HTTP\/1.1 201 /)
    const stored = await running.storage.read('Patient', id)
    expect(stored?.resource['name']).toEqual([{ family: `Größe ${more}` }])
  })
})

describe('requests one behind the other on a connection', () => {
  it('are answered in their order, each with its own body', async () => {
    const ids = Array.from({ length: 40 }, (_, at) => `p${at}`)
    const requests = ids.map((id, at) => {
      const body = Buffer.from(patient(id))
      const last = at === ids.length - 1 ? ['Connection: close'] : []
      return Buffer.concat([
        Buffer.from(headOf(`Patient/${id}`, [...last, `X-Request-Id: r${at}`, `Content-Length: ${body.length}`])),
        body,
      ])
    })
    const socket = connect(running.port, '127.0.0.1')
    const answer = received(socket)
    socket.write(Buffer.concat(requests))
    const text = await answer
    expect([...text.matchAll(/X-Request-Id: (r\d+)\r\n/g)].map(([, id]) => id)).toEqual(ids.map((_, at) => `r${at}`))
    expect(text.match(/HTTP\/1.1 201 /g)).toHaveLength(ids.length)
  })

  it('after a body that is too long are not answered: the connection is closed', async () => {
    const socket = connect(running.port, '127.0.0.1')
    const answer = received(socket)
    socket.write(`${headOf('Patient/x', ['Content-Length: 300000'])}${'x'.repeat(1_000)}`)
    socket.write(headOf('Patient/y', ['Content-Length: 0']))
    const text = await answer
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413'])
    expect(text).toContain('Connection: close')
  })

  it('of a caller who leaves in the middle of a body harm no other', async () => {
    for (let at = 0; at < 20; at++) {
      const socket = connect(running.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(`${headOf('Patient/half', ['Content-Length: 1000'])}{"resourceType"`)
      if (at % 2 === 0) await setTimeout(1)
      socket.destroy()
    }
    await setTimeout(20)
    expect(await running.storage.read('Patient', 'half')).toBeUndefined()
    const reply = await fetch(`${running.base}/healthz`)
    expect(reply.status).toBe(200)
  })
})

it('the bytes of a body are not kept beside its text while the request is carried out', async () => {
  const kept = memoryStorage()
  const [reached, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const storage: Storage = {
    ...kept,
    async write(entries) {
      reached.resolve()
      await goesOn.promise
      return kept.write(entries)
    },
  }
  const { handler, token, stop } = await startServer({ storage })
  const bodies: WeakRef<Uint8Array>[] = []
  const headers = new Map(Object.entries(fhirHeaders(token)))
  const answer = handler.respond({
    method: 'PUT',
    target: '/fhir/R4/Patient/one',
    hasBody: true,
    signal: undefined,
    header: (name) => headers.get(name),
    async *body() {
      const bytes = new TextEncoder().encode(patient('one'))
      bodies.push(new WeakRef(bytes))
      yield bytes
    },
  })
  await reached.promise
  await setTimeout()
  globalThis.gc?.()
  expect(bodies.map((body) => body.deref())).toEqual([undefined])
  goesOn.resolve()
  expect((await answer).status).toBe(201)
  await stop()
})
