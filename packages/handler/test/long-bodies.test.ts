import { request, type ClientRequest } from 'node:http'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { askFhir, at, fhirHeaders, startServer, type Reply, type RunningServer } from './running-server.js'

const running: RunningServer[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

const ROOM = 400_000

/** A server whose writes of long resources end when the test lets them. */
async function gated(limits: { readonly longBodyBytes: number; readonly longBodyWaitMs?: number; readonly queue?: number }) {
  const kept = memoryStorage()
  const gate = Promise.withResolvers<void>()
  const begun: string[] = []
  const storage: Storage = {
    ...kept,
    async write(entries) {
      const [first] = entries
      if (JSON.stringify(first).length > 60_000) {
        begun.push(String(at(first, 'id')))
        await gate.promise
      }
      return kept.write(entries)
    },
  }
  const server = await startServer({ storage, limits })
  running.push(server)
  return { server, begun, open: () => gate.resolve() }
}

const patient = (id: string, length: number): string => JSON.stringify({ resourceType: 'Patient', id, language: 'x'.repeat(length) })
const put = (server: RunningServer, id: string, length: number): Promise<Reply> =>
  askFhir(server, `/Patient/${id}`, { method: 'PUT', body: patient(id, length) })

/** A PUT whose sender does not say how long its body is. */
function chunked({ port, token }: RunningServer, id: string): ClientRequest {
  const headers = { ...fhirHeaders(token), 'transfer-encoding': 'chunked' }
  return request({ port, path: `/fhir/R4/Patient/${id}`, method: 'PUT', headers, agent: false })
}

const statusOf = (sent: ClientRequest): Promise<number | undefined> =>
  new Promise((resolve, reject) => sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject))

describe('long bodies', () => {
  it('are carried out together up to the total; others wait in their order, and short ones pass', async () => {
    const { server, begun, open } = await gated({ longBodyBytes: ROOM })
    const first = [put(server, 'a', 190_000), put(server, 'b', 190_000)]
    await expect.poll(() => begun.length).toBe(2)
    const waiting = [put(server, 'c', 190_000), put(server, 'd', 190_000)]
    for (const id of ['e', 'f', 'g']) expect((await put(server, id, 30_000)).status).toBe(201)
    const short = chunked(server, 'h')
    short.end(patient('h', 30_000))
    expect(await statusOf(short)).toBe(201)
    expect(begun.toSorted()).toEqual(['a', 'b'])
    open()
    expect((await Promise.all([...first, ...waiting])).map(({ status }) => status)).toEqual([201, 201, 201, 201])
  })

  it('that find no room in time are refused for now', async () => {
    const { server, begun, open } = await gated({ longBodyBytes: ROOM, longBodyWaitMs: 50 })
    const first = [put(server, 'a', 190_000), put(server, 'b', 190_000)]
    await expect.poll(() => begun.length).toBe(2)
    const refused = await put(server, 'c', 190_000)
    expect([refused.status, refused.headers['retry-after'], at(refused.json, 'issue', 0, 'code')]).toEqual([429, '1', 'throttled'])
    open()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([201, 201])
    expect((await put(server, 'c', 190_000)).status).toBe(201)
  })

  it('that are more than may wait are refused at once', async () => {
    const { server, begun, open } = await gated({ longBodyBytes: ROOM, queue: 0 })
    const first = [put(server, 'a', 190_000), put(server, 'b', 190_000)]
    await expect.poll(() => begun.length).toBe(2)
    expect((await put(server, 'c', 190_000)).status).toBe(429)
    open()
    await Promise.all(first)
  })

  it('that are longer than half of the total, or than the total, count as half: two of them run', async () => {
    const { server, begun, open } = await gated({ longBodyBytes: ROOM })
    const first = [put(server, 'a', 900_000), put(server, 'b', 300_000)]
    await expect.poll(() => begun.toSorted()).toEqual(['a', 'b'])
    const waiting = put(server, 'c', 70_000)
    open()
    expect((await Promise.all([...first, waiting])).map(({ status }) => status)).toEqual([201, 201, 201])
  })

  it('take no room while they arrive: senders who stall delay nobody', async () => {
    const { server, begun, open } = await gated({ longBodyBytes: ROOM })
    const stalled = Array.from({ length: 20 }, (_, n) => chunked(server, `stalled${n}`).on('error', () => {}))
    for (const one of stalled) one.write('{"resourceType":"Patient","language":"'.padEnd(200_000, 'x'))
    onTestFinished(() => stalled.forEach((one) => one.destroy()))
    const sent = ['a', 'b'].map((id) => put(server, id, 190_000))
    await expect.poll(() => begun.toSorted()).toEqual(['a', 'b'])
    open()
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([201, 201])
  })

  it('of senders who leave, while they wait or are read, leave their room to others', async () => {
    const { server, begun, open } = await gated({ longBodyBytes: ROOM, longBodyWaitMs: 60_000 })
    for (let turn = 0; turn < 6; turn++) {
      const sent = chunked(server, `gone${turn}`).on('error', () => {})
      sent.write('{"resourceType":"Patient","language":"'.padEnd(100_000, 'x'))
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (turn % 2 === 1) sent.destroy()
      else setTimeout(() => sent.destroy(), 50)
    }
    open()
    const all = ['a', 'b', 'c'].map((id) => put(server, id, 190_000))
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([201, 201, 201])
    expect(begun.toSorted()).toEqual(['a', 'b', 'c'])
  })

  it('of web-standard requests wait too', async () => {
    const { server, begun, open } = await gated({ longBodyBytes: ROOM })
    const sent = (id: string): Promise<Response> =>
      server.handler(
        new Request(`${server.base}/fhir/R4/Patient/${id}`, {
          method: 'PUT',
          headers: fhirHeaders(server.token),
          body: patient(id, 190_000),
        }),
      )
    const all = ['a', 'b', 'c'].map((id) => sent(id))
    await expect.poll(() => begun.length).toBe(2)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(begun).toHaveLength(2)
    open()
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([201, 201, 201])
  })
})

it('the memory of a long body is free as soon as it is decoded; the chunks remain those of the host', async () => {
  const { server, begun, open } = await gated({ longBodyBytes: 32_000_000 })
  const chunk = new TextEncoder().encode(JSON.stringify({ resourceType: 'Patient', id: 'a', name: names(120_000) }))
  const headers = new Map(Object.entries(fhirHeaders(server.token)))
  const resized = vi.spyOn(ArrayBuffer.prototype, 'transfer')
  onTestFinished(() => resized.mockRestore())
  const answer = server.handler.respond({
    method: 'PUT',
    target: '/fhir/R4/Patient/a',
    hasBody: true,
    signal: undefined,
    header: (name) => headers.get(name),
    async *body() {
      yield chunk
    },
  })
  await expect.poll(() => begun).toEqual(['a'])
  expect(resized.mock.calls.at(-1)).toEqual([0])
  expect(chunk.length).toBeGreaterThan(2_500_000)
  open()
  expect((await answer).status).toBe(201)
})

/** Many names, because no text in a body may be as long as a body. */
function names(count: number): readonly object[] {
  return Array.from({ length: count }, (_, n) => ({ family: `name ${n}` }))
}
