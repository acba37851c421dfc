import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { askFhir, at, fhirHeaders, startServer, type Reply, type RunningServer, type Sending } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer({ limits: { bodyBytes: 1_000, terminologyBytes: 2_000, queryParameters: 10, jsonMembers: 40 } })
})
afterAll(() => running.stop())

const ask = (path: string, sending?: Sending): Promise<Reply> => askFhir(running, path, sending)

describe('section 9 limits, at and above', () => {
  const patient = (bytes: number): string => {
    const empty = '{"resourceType":"Patient","id":"l","x":""}'
    return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`)
  }
  it.each([
    [1_000, 201],
    [1_001, 413],
  ])('a body of %d bytes: %d', async (bytes, status) => {
    expect((await ask('/Patient/l', { method: 'PUT', body: patient(bytes) })).status).toBe(status)
  })

  it('a body without a declared length is cut off at the limit', async () => {
    const reply = await ask('/Patient/l', { method: 'PUT', headers: { 'transfer-encoding': 'chunked' }, body: patient(100_000) })
    expect([reply.status, at(reply.json, 'issue', 0, 'code'), reply.headers.connection]).toEqual([413, 'too-long', 'close'])
  })

  /** A connection on which the head of a write was sent. */
  function writing(length: number): Socket {
    const socket = connect(running.port, '127.0.0.1')
    const headers = Object.entries(fhirHeaders(running.token)).map((line) => line.join(': '))
    socket.write(`${['PUT /fhir/R4/Patient/l HTTP/1.1', 'Host: x', ...headers, `Content-Length: ${length}`].join('\r\n')}\r\n\r\n`)
    return socket
  }

  it('a declared length over the limit is refused unread', async () => {
    const socket = writing(1_001)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 /)
  })

  it('a sender that reads the answer late is not cut off before it', async () => {
    const socket = writing(16_000_000)
    const failure = vi.fn<(error: Error) => void>()
    socket.on('error', failure)
    socket.pause().write('x'.repeat(16_000_000))
    await setTimeout(200)
    expect(failure).not.toHaveBeenCalled()
    const [answer] = await once(socket.resume(), 'data')
    socket.destroy()
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 /)
  })

  it('terminology has a limit of its own', async () => {
    const body = (bytes: number): string => patient(bytes).replace('"Patient"', '"ValueSet"').slice(0, -3) + '"}'
    expect((await ask('/ValueSet/l', { method: 'PUT', body: body(1_999) })).status).toBe(201)
    expect((await ask('/ValueSet/l', { method: 'PUT', body: body(2_001) })).status).toBe(413)
  })

  it.each([
    ['Patient', 40, 201],
    ['Patient', 41, 400],
    ['ValueSet', 100, 201],
    ['ValueSet', 101, 400],
  ])('a %s with %d members: %d', async (type, members, status) => {
    const others = Array.from({ length: members - 2 }, (_item, index) => `"x${index}":0`)
    const id = `m${members}`
    expect(
      (await ask(`/${type}/${id}`, { method: 'PUT', body: `{"resourceType":"${type}","id":"${id}",${others.join(',')}}` })).status,
    ).toBe(status)
  })

  it.each([
    ['null', 'Patient', 39, 201],
    ['null', 'Patient', 40, 400],
    ['{}', 'Patient', 40, 400],
    ['[]', 'Patient', 40, 400],
    ['"x"', 'ValueSet', 99, 201],
    ['"x"', 'ValueSet', 100, 400],
  ])('a list of %s in a %s, %d of them and two members: %d', async (item, type, items, status) => {
    const body = `{"resourceType":"${type}","id":"list${items}","x":[${Array.from({ length: items - 1 }, () => item).join(',')}]}`
    const reply = await ask(`/${type}/list${items}`, { method: 'PUT', body })
    expect(reply.status).toBe(status)
    if (status === 400) expect(reply.text).toContain('members or items of lists')
  })

  it.each([
    [8_192, 404],
    [8_193, 414],
  ])('a URL of %d bytes: %d', async (bytes, status) => {
    const path = '/Patient/nobody?x='
    expect((await ask(path + 'x'.repeat(bytes - '/fhir/R4'.length - path.length))).status).toBe(status)
  })

  it.each([
    [10, 404],
    [11, 400],
  ])('%d query parameters: %d', async (count, status) => {
    expect((await ask(`/Patient/nobody?${'a=b&'.repeat(count)}`)).status).toBe(status)
  })
})
