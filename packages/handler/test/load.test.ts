import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { createContext } from 'fhir-ops/context'
import { createPace, createScheduler } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import type { Operation, OperationResponse } from 'fhir-ops/operation'
import { searchParameters } from 'fhir-ops/search'
import { createSessions } from 'fhir-ops/sessions'
import type { Storage } from 'fhir-ops/storage'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterEach, describe, expect, it } from 'vitest'
import { createExecutor } from '../src/executor.js'
import type { LogEntry } from '../src/index.js'
import { askFhir, at, fhirHeaders, send, startServer, type Reply, type RunningServer, type ServerSetup } from './running-server.js'

const running: RunningServer[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

/** An operation that the test ends when it likes. */
function controlled(): { operation: Operation; started: Promise<void>; calls: AbortSignal[]; finish: () => void } {
  const start = Promise.withResolvers<void>()
  const end = Promise.withResolvers<OperationResponse>()
  const calls: AbortSignal[] = []
  const operation: Operation = {
    name: '$wait',
    types: ['Basic'],
    levels: ['type'],
    methods: ['GET'],
    definition: 'http://example.org/wait',
    needs: { text: 'r on the type', anyOf: [{ action: 'read' }] },
    run(ctx) {
      calls.push(ctx.signal!)
      start.resolve()
      return end.promise
    },
  }
  return { operation, started: start.promise, calls, finish: () => end.resolve({ status: 200, resource: { resourceType: 'Basic' } }) }
}

async function start(setup: ServerSetup): Promise<RunningServer> {
  const server = await startServer(setup)
  running.push(server)
  return server
}

const wait = ({ base, token }: RunningServer): Promise<Reply> =>
  send(`${base}/fhir/R4/Basic/$wait`, { headers: { authorization: `Bearer ${token}` } })
const statusOf = (reply: Reply): unknown[] => [reply.status, at(reply.json, 'issue', 0, 'code'), reply.headers['retry-after'] !== undefined]

describe('many requests at once', () => {
  it('wait for their turn, and beyond that are told to come back', async () => {
    const work = controlled()
    const server = await start({ operations: [work.operation], limits: { concurrency: 2, queue: 2 } })
    const first = [wait(server), wait(server), wait(server), wait(server)]
    await work.started
    // The four are under way or waiting once a fifth is refused.
    let refused = await wait(server)
    while (refused.status === 200) refused = await wait(server)
    expect(statusOf(refused)).toEqual([429, 'throttled', true])
    expect(work.calls.length).toBe(2)
    expect((await send(`${server.base}/healthz`)).status).toBe(200)
    work.finish()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await wait(server)).status).toBe(200)
  })

  it('300 at once are all answered', async () => {
    const server = await start({})
    const replies = await Promise.all(
      Array.from({ length: 300 }, () => send(`${server.base}/fhir/R4/Patient/x`, { headers: { authorization: `Bearer ${server.token}` } })),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([404]))
  })
})

describe('slow clients', () => {
  it('do not slow others', async () => {
    const server = await start({})
    const head = `PUT /fhir/R4/Patient/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
    const stalled = await Promise.all(
      Array.from({ length: 300 }, async (_item, index): Promise<Socket> => {
        const socket = connect(server.port, '127.0.0.1')
        socket.on('error', () => {})
        await once(socket, 'connect')
        socket.write(index % 2 === 0 ? head : 'GET /fhir')
        return socket
      }),
    )
    const reply = await send(`${server.base}/fhir/R4/Patient/x`, { headers: { authorization: `Bearer ${server.token}` } })
    for (const socket of stalled) socket.destroy()
    expect(reply.status).toBe(404)
    expect([server.server.headersTimeout, server.server.requestTimeout]).toEqual([5_000, 30_000])
  })
})

describe('who the caller is', () => {
  it('is answered while others wait for their turn', async () => {
    const work = controlled()
    const server = await start({ operations: [work.operation], limits: { concurrency: 1, queue: 1 } })
    const waiting = wait(server)
    await work.started
    const reply = await send(`${server.base}/oauth2/userinfo`, { headers: { authorization: `Bearer ${server.token}` } })
    work.finish()
    expect([reply.status, (await waiting).status]).toEqual([200, 200])
  })
})

describe('a client that goes', () => {
  it('ends what is being computed for it within 100 ms of processor time', async () => {
    const ended = Promise.withResolvers<number>()
    const gone = Promise.withResolvers<NodeJS.CpuUsage>()
    const started = Promise.withResolvers<void>()
    const endless: Operation = {
      ...controlled().operation,
      async run(ctx) {
        const pace = createPace(ctx)
        started.resolve()
        try {
          for (;;) {
            for (const begun = performance.now(); performance.now() < begun + 0.2;);
            await pace.step()
          }
        } finally {
          const { user, system } = process.threadCpuUsage(await gone.promise)
          ended.resolve((user + system) / 1_000)
        }
      },
    }
    const context = createContext({ storage: memoryStorage(), limits: { operationTimeoutMs: 60_000 } })
    const server = await start({ operations: [endless], context })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`GET /fhir/R4/Basic/$wait HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`)
    await started.promise
    socket.destroy()
    gone.resolve(process.threadCpuUsage())
    expect(await ended.promise).toBeLessThan(100)
  })

  it('cancels its work', async () => {
    const work = controlled()
    const server = await start({ operations: [work.operation], limits: { concurrency: 1 } })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`GET /fhir/R4/Basic/$wait HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`)
    await work.started
    const [signal] = work.calls
    const aborted = once(signal!, 'abort')
    socket.destroy()
    await aborted
    work.finish()
    expect((await wait(server)).status).toBe(200)
  })
})

describe('a client that goes while it sends', () => {
  it('is not a failure that nobody foresaw', async () => {
    const { promise, resolve } = Promise.withResolvers<LogEntry>()
    const server = await start({ log: resolve })
    const socket = connect(server.port, '127.0.0.1')
    const headers = `Authorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 100`
    socket.write(`PUT /fhir/R4/Patient/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${headers}\r\n\r\n`)
    await once(socket, 'data')
    socket.write('{"resource')
    socket.destroy()
    expect(await promise).toMatchObject({ level: 'info', error: 'aborted' })
  })
})

describe('time limits', () => {
  it('what does not end is given up: 503, and told to stop', async () => {
    const work = controlled()
    const context = createContext({ storage: memoryStorage(), limits: { operationTimeoutMs: 20 } })
    const server = await start({ operations: [work.operation], context })
    expect(statusOf(await wait(server))).toEqual([503, 'timeout', true])
    expect(work.calls[0]?.aborted).toBe(true)
  })

  it('of a large terminology, which cannot be written in parts, are as much longer as it is', async () => {
    const stored = memoryStorage()
    const storage: Storage = {
      ...stored,
      async write(entries) {
        await new Promise((resolve) => setTimeout(resolve, 600))
        return stored.write(entries)
      },
    }
    const context = createContext({ storage, limits: { operationTimeoutMs: 20 } })
    const server = await start({ storage, context, limits: { bodyBytes: 1_000, terminologyBytes: 300_000 } })
    const isWritten = async (type: string, count: number): Promise<boolean> => {
      const concept = Array.from({ length: count }, (_, n) => ({ code: `c${n}` }))
      const id = `x${count}`
      const body = JSON.stringify({ resourceType: type, id, status: 'active', content: 'complete', concept })
      return (await askFhir(server, `/${type}/${id}`, { method: 'PUT', body })).status === 201
    }
    expect(await Promise.all([isWritten('CodeSystem', 10), isWritten('Basic', 10), isWritten('CodeSystem', 10_000)])).toEqual([
      false,
      false,
      true,
    ])
  })
})

describe('other requests run in between', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => ({ family: `f${i}` }))
  const patient = { resourceType: 'Patient', name: names }
  const bundle = (type: string): object => ({
    resourceType: 'Bundle',
    type,
    entry: names
      .slice(0, 500)
      .map((name) => ({ request: { method: 'POST', url: 'Patient' }, resource: { resourceType: 'Patient', name: [name] } })),
  })

  it.each([
    ['a large resource is stored', '/Patient', 201, patient],
    ['a batch is carried out', '', 200, bundle('batch')],
    ['a transaction is carried out', '', 200, bundle('transaction')],
  ])('while %s', async (_, path, status, body) => {
    let pauses = 0
    const scheduler = { ...createScheduler(), turn: async () => void pauses++ }
    const storage = memoryStorage()
    const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
    const context = createContext({ storage, search: { parameters }, limits: { operationTimeoutMs: 300_000 } })
    const server = await start({ storage, context: { ...context, scheduler } })
    const sending = { method: 'POST', headers: fhirHeaders(server.token), body: JSON.stringify(body) }
    expect((await send(`${server.base}/fhir/R4${path}`, sending)).status).toBe(status)
    expect(pauses).toBeGreaterThan(0)
  })
})

describe('an orderly stop', () => {
  it('refuses new work and waits for what is under way', async () => {
    const work = controlled()
    const server = await start({ operations: [work.operation] })
    const under = wait(server)
    await work.started
    const closed = server.handler.close()
    expect(statusOf(await wait(server))).toEqual([503, 'transient', true])
    expect((await send(`${server.base}/readyz`)).status).toBe(503)
    expect((await send(`${server.base}/healthz`)).status).toBe(200)
    work.finish()
    expect((await under).status).toBe(200)
    await closed
  })

  it('cancels what takes too long', async () => {
    const work = controlled()
    const server = await start({ operations: [work.operation], limits: { closeMs: 10 } })
    const under = wait(server)
    await work.started
    await server.handler.close()
    expect([(await under).status, work.calls[0]?.aborted]).toEqual([503, true])
  })

  it('does not wait for a storage that never answers', async () => {
    const storage: Storage = { ...memoryStorage(), read: () => new Promise(() => {}) }
    const server = await start({ storage, limits: { closeMs: 10 } })
    const under = askFhir(server, '/Patient/x')
    await expect.poll(async () => (await askFhir(server, '/metadata')).status).toBe(200)
    await server.handler.close()
    expect((await under).status).toBe(503)
  })

  it('with nothing under way is over at once', async () => {
    const server = await start({})
    await server.handler.close()
    await server.handler.close()
  })
})

describe('what nobody foresaw', () => {
  const broken = (error: unknown): ServerSetup => ({ storage: { ...memoryStorage(), read: () => Promise.reject(error) } })
  const read = ({ base, token }: RunningServer): Promise<Reply> =>
    send(`${base}/fhir/R4/Patient/x`, { headers: { authorization: `Bearer ${token}`, 'x-request-id': 'ref-1' } })

  it.each([
    ['an Error', new Error('SQLITE_CORRUPT: secret words')],
    ['a TypeError', new TypeError("Cannot read properties of undefined (reading 'secret words')")],
    ['a text', 'secret words'],
    ['nothing', undefined],
    ['an odd object', Object.create(null)],
  ])('%s: 503 with a reference that stands in the log, and nothing else', async (_name, error) => {
    const server = await start(broken(error))
    const reply = await read(server)
    expect(statusOf(reply)).toEqual([503, 'exception', true])
    expect(reply.text).toContain('ref-1')
    expect(reply.text).not.toMatch(/secret|SQLITE|at /)
    expect(server.logs).toMatchObject([{ level: 'error', requestId: 'ref-1', error: 'unforeseen', status: 503 }])
  })

  it.each([
    ['storage-unavailable', 'transient'],
    ['storage-timeout', 'timeout'],
    ['storage-full', 'no-store'],
    ['storage-locked', 'lock-error'],
  ] as const)('%s: 503 %s', async (code, issue) => {
    expect(statusOf(await read(await start(broken(new OperationError(code, 'The storage is away.')))))).toEqual([503, issue, true])
  })

  it('a session store that fails is 503, not 401', async () => {
    const sessions = createSessions({
      store: { ...memorySessionStore(), sessionByDigest: () => Promise.reject(new OperationError('storage-unavailable', 'Away.')) },
    })
    const server = await start({ sessions })
    for (const path of ['/oauth2/userinfo', '/auth/me', '/fhir/R4/Patient/x']) {
      const reply = await send(`${server.base}${path}`, { headers: { authorization: `Bearer ${server.token}` } })
      expect([reply.status, reply.headers['www-authenticate']]).toEqual([503, undefined])
    }
  })

  it('a log that fails fails no request', async () => {
    const server = await start({
      log: () => {
        throw new Error('disk full')
      },
    })
    expect((await read(server)).status).toBe(404)
  })
})

describe('readiness', () => {
  it('is asked of the storage, or of the host', async () => {
    const server = await start({
      storage: { ...memoryStorage(), read: () => Promise.reject(new OperationError('storage-unavailable', 'Away.')) },
    })
    expect((await send(`${server.base}/readyz`)).status).toBe(503)
    const other = await start({ readiness: () => Promise.reject(new Error('secret words')) })
    const reply = await send(`${other.base}/readyz`)
    expect([reply.status, reply.text.includes('secret')]).toEqual([503, false])
  })

  it('has a time limit of its own', async () => {
    const server = await start({ limits: { readinessMs: 10 }, readiness: () => new Promise(() => {}) })
    const reply = await send(`${server.base}/readyz`)
    expect([reply.status, reply.headers['retry-after'], at(reply.json, 'issue', 0, 'code')]).toEqual([503, '1', 'transient'])
  })
})

describe('the executor', () => {
  it('gives turns in the order of arrival', async () => {
    const executor = createExecutor({ concurrency: 1, queue: 10, closeMs: 10 })
    const order: number[] = []
    await Promise.all([1, 2, 3].map(async (item) => executor.run({ run: async () => void order.push(item) })))
    expect(order).toEqual([1, 2, 3])
  })

  it('does not begin what was cancelled while it waited', async () => {
    const executor = createExecutor({ concurrency: 1, queue: 10, closeMs: 10 })
    const gone = new AbortController()
    const first = Promise.withResolvers<void>()
    const running = executor.run({ run: () => first.promise })
    let began = false
    const second = executor.run({ caller: { signal: gone.signal }, run: async () => void (began = true) })
    gone.abort()
    first.resolve()
    await running
    await expect(second).rejects.toMatchObject({ code: 'aborted' })
    expect(began).toBe(false)
  })
})
