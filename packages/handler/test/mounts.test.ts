import { once } from 'node:events'
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import http2 from 'node:http2'
import { type AddressInfo, Socket } from 'node:net'
import { createGzip } from 'node:zlib'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHandler, type Handler } from '../src/index.js'
import { toKoaMiddleware, toNodeListener } from '../src/node/index.js'
import { at, FULL_SCOPES, send } from './running-server.js'

const sessions = createSessions({ store: memorySessionStore() })
const storage = memoryStorage()
let token = ''
beforeAll(async () => {
  token = (await sessions.create({ user: 'ann', scopes: FULL_SCOPES })).token
})

const servers: Server[] = []
afterAll(() => servers.forEach((server) => server.close()))

async function listen(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const handlerAt = (baseUrl: string, mountPath?: string): Handler =>
  createHandler({
    context: createContext({ storage }),
    sessions,
    baseUrl,
    defaultPolicy: 'deny',
    ...(mountPath !== undefined && { mountPath }),
  })

/** Each way to mount, at the path `/base`; gives the address of the server. */
const MOUNTS: readonly (readonly [string, () => Promise<string>])[] = [
  ['node:http', () => listen(createServer(toNodeListener(handlerAt('http://x.example/base'))))],
  [
    'a host that waits for what it calls, and answers what is not answered then, as h3 does',
    () => {
      const listener = toNodeListener(handlerAt('http://x.example/base'))
      const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
        await Promise.resolve<unknown>(Reflect.apply(listener, undefined, [message, response]))
        if (!response.headersSent) response.writeHead(404).end()
      }
      return listen(createServer((message, response) => void serve(message, response)))
    },
  ],
  [
    'Express, mounted',
    () => {
      const app = express()
      app.use('/base', toNodeListener(handlerAt('http://x.example/base')))
      return listen(createServer(app))
    },
  ],
  [
    'Express, in a router',
    () => {
      const [app, router] = [express(), express.Router()]
      router.use('/base', toNodeListener(handlerAt('http://x.example/base')))
      app.use(router)
      return listen(createServer(app))
    },
  ],
  [
    'Koa',
    () => {
      const app = new Koa()
      const middleware = toKoaMiddleware(handlerAt('http://x.example/base'))
      app.use((context, next) => (context.path.startsWith('/base') ? middleware(context) : next()))
      return listen(createServer(app.callback()))
    },
  ],
  [
    'Hono, app.all',
    async () =>
      honoServer((app) => {
        const handler = handlerAt('http://x.example/base')
        app.all('/base/*', (context) => handler(context.req.raw))
      }),
  ],
  [
    'Hono, app.mount',
    async () =>
      honoServer((app) => {
        const handler = handlerAt('http://x.example/base', '/')
        app.mount('/base', (request: Request) => handler(request))
      }),
  ],
]

/** Serves a Hono app by real sockets, by way of `Request` and `Response` only. */
function honoServer(set: (app: Hono) => void): Promise<string> {
  const app = new Hono()
  set(app)
  return listen(createServer((message, response) => void serveByRequest(app, message, response)))
}

async function serveByRequest(app: Hono, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = new Headers()
  for (let i = 0; i < message.rawHeaders.length; i += 2) headers.append(message.rawHeaders[i]!, message.rawHeaders[i + 1]!)
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const body = chunks.length === 0 ? null : Buffer.concat(chunks)
  const answer = await app.fetch(new Request(`http://x.example${message.url}`, { method: message.method ?? 'GET', headers, body }))
  response.writeHead(answer.status, [...answer.headers].flat()).end(Buffer.from(await answer.arrayBuffer()))
}

describe.each(MOUNTS)('%s', (_name, mount) => {
  let base = ''
  beforeAll(async () => {
    base = await mount()
  })

  it('reads, writes and answers the same', async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' }
    const body = '{"resourceType":"Patient","name":[{"family":"Müller 😀"}]}'
    const made = await send(`${base}/base/fhir/R4/Patient`, { method: 'POST', headers, body })
    expect([made.status, made.headers.location]).toEqual([
      201,
      expect.stringMatching(/^http:\/\/x\.example\/base\/fhir\/R4\/Patient\/[^/]+\/_history\/1$/),
    ])
    const read = await send(`${base}/base/fhir/R4/Patient/${String(at(made.json, 'id'))}?_format=json`, { headers })
    expect([read.status, at(read.json, 'name', 0, 'family'), read.headers['content-type']]).toEqual([
      200,
      'Müller 😀',
      'application/fhir+json; charset=utf-8',
    ])
    expect((await send(`${base}/base/fhir/R4/Patient/x`, { method: 'HEAD', headers })).status).toBe(404)
    expect((await send(`${base}/base/auth/me`, { headers })).status).toBe(200)
    expect((await send(`${base}/base/healthz`)).status).toBe(200)
  })

  it('tells nothing of the server', async () => {
    const { headers } = await send(`${base}/base/auth/me`)
    expect([headers.server, headers['x-powered-by']]).toEqual([undefined, undefined])
  })

  it('keeps the rules of credentials', async () => {
    expect((await send(`${base}/base/auth/me`)).headers['www-authenticate']).toBe('Bearer realm="fhir-ops"')
    const line = ['Authorization', `Bearer ${token}`]
    expect((await send(`${base}/base/auth/me`, { headers: ['Host', 'x', ...line, ...line] })).status).toBe(400)
  })
})

it('a request whose raw headers were not kept, as by adapters to other servers, is served by the others', async () => {
  const serve = toNodeListener(handlerAt('http://x.example'))
  const base = await listen(
    createServer((message, response) => {
      // Node makes the headers of the raw ones when they are first asked for.
      void message.headers
      message.rawHeaders = []
      serve(message, response)
    }),
  )
  expect((await send(`${base}/healthz`)).status).toBe(200)
})

/** Answers an event as adapters of functions as a service do: the length is a number, and the socket collects what is written, returns nothing and has no time-outs. */
async function answerToEvent(method: string, url: string, body = ''): Promise<string> {
  const message = new IncomingMessage(new Socket())
  const headers = { host: 'x', authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json', 'content-length': body.length }
  const read = (): void => void (message.push(body), message.push(null))
  Object.assign(message, { complete: true, httpVersion: '1.1', method, url, headers, _read: read })
  const response = new ServerResponse(message)
  const written: string[] = []
  const write = (data: string | Buffer, _encoding: string, done?: () => void): void => {
    written.push(String(data))
    done?.()
  }
  const ignore = (): void => undefined
  const socket = {
    _writableState: {},
    writable: true,
    on: ignore,
    removeListener: ignore,
    destroy: ignore,
    cork: ignore,
    uncork: ignore,
    write,
  }
  response.assignSocket(socket as unknown as Socket)
  const sent = new Promise<void>((resolve, reject) => response.on('finish', resolve).on('close', () => reject(new Error('closed'))))
  toNodeListener(handlerAt('http://x.example'))(message, response)
  await sent
  return written.join('')
}

it('a request that an adapter of functions as a service has made of an event is answered, however long', async () => {
  const family = 'x'.repeat(200_000)
  const patient = { resourceType: 'Patient', id: 'event', name: [{ family }] }
  expect(await answerToEvent('PUT', '/fhir/R4/Patient/event', JSON.stringify(patient))).toMatch(/^HTTP\/1\.1 201 .*"family":"x{200000}"/s)
  expect(await answerToEvent('GET', '/fhir/R4/Patient/event')).toMatch(/^HTTP\/1\.1 200 .*"family":"x{200000}"/s)
  expect(await answerToEvent('GET', '/fhir/R4/Patient/none')).toMatch(/^HTTP\/1\.1 404 .*not-found/s)
})

/** Compresses as the middleware `compression` does: its `write` takes no callback, and listeners for `drain` become those of the compressor. */
function compress(response: ServerResponse): ServerResponse {
  const gzip = createGzip()
  const [write, end, on] = [response.write.bind(response), response.end.bind(response), response.on.bind(response)]
  gzip.on('data', (chunk: Buffer) => !write(chunk) && gzip.pause()).on('end', () => end())
  on('drain', () => gzip.resume())
  const writeHead = response.writeHead.bind(response)
  return Object.assign(response, {
    writeHead: (status: number, headers: readonly string[]) => {
      const at = headers.indexOf('Content-Length')
      return writeHead(status, [...headers.filter((_, i) => at < 0 || (i !== at && i !== at + 1)), 'Content-Encoding', 'gzip'])
    },
    write: (chunk: string | Uint8Array) => gzip.write(chunk),
    end: (chunk?: string | Uint8Array) => gzip.end(chunk),
    on: (name: string, listener: () => void) => (name === 'drain' ? gzip.on(name, listener) : on(name, listener)),
  })
}

it('long responses pass through middleware that compresses', async () => {
  const warnings: Error[] = []
  const warned = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', warned)
  const serve = toNodeListener(handlerAt('http://x.example'))
  const base = await listen(createServer((message, response) => serve(message, compress(response))))
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' }
  const text = Array.from({ length: 3_900 }, () => 'x'.repeat(1_000)).join(' ')
  const body = JSON.stringify({
    resourceType: 'Basic',
    id: 'long',
    extension: text.split(' ').map((valueString) => ({ url: 'http://x', valueString })),
  })
  expect((await send(`${base}/fhir/R4/Basic/long`, { method: 'PUT', headers, body })).status).toBe(201)
  const response = await fetch(`${base}/fhir/R4/Basic/long`, { headers, signal: AbortSignal.timeout(5_000) })
  expect([response.status, response.headers.get('content-encoding'), (await response.text()).length > 3_900_000]).toEqual([
    200,
    'gzip',
    true,
  ])
  await new Promise(setImmediate)
  process.off('warning', warned)
  expect(warnings).toEqual([])
})

describe.each<readonly [string, () => Promise<string>]>([
  [
    'express.json()',
    () => {
      const app = express()
      app.use(express.json())
      app.use(toNodeListener(handlerAt('http://x.example')))
      return listen(createServer(app))
    },
  ],
  [
    'what makes a stream of text of it',
    () => {
      const serve = toNodeListener(handlerAt('http://x.example'))
      return listen(createServer((message, response) => serve(message.setEncoding('utf8'), response)))
    },
  ],
  [
    'a reader of Koa',
    () => {
      const app = new Koa()
      app.use(async (context, next) => {
        for await (const _ of context.req);
        await next()
      })
      return listen(createServer(app.use(toKoaMiddleware(handlerAt('http://x.example'))).callback()))
    },
  ],
  [
    'a reader of Hono',
    () =>
      honoServer((app) => {
        const handler = handlerAt('http://x.example')
        app.all('*', async (context) => {
          await context.req.raw.text()
          return handler(context.req.raw)
        })
      }),
  ],
])('mounted behind %s', (_name, mount) => {
  it('says so instead of taking the body for empty', async () => {
    const base = await mount()
    const own = (await sessions.create({ user: 'ann' })).token
    const headers = { authorization: `Bearer ${own}`, 'content-type': 'application/json' }
    const { status, text } = await send(`${base}/oauth2/logout`, { method: 'POST', headers, body: '{"loginId":"of another session"}' })
    expect([status, text]).toEqual([503, expect.stringContaining('The body was read before it came to the handler')])
    expect((await send(`${base}/auth/me`, { headers })).status).toBe(200)
  })
})

describe('a web-standard request', () => {
  const handler = handlerAt('http://x.example')
  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    handler(
      new Request(`http://other.example${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...(init.headers as Record<string, string>) },
      }),
    )

  it('is answered by a web-standard response', async () => {
    const response = await call('/auth/me')
    expect([response.status, response.headers.get('content-type'), ((await response.json()) as { sub: string }).sub]).toEqual([
      200,
      'application/json;charset=UTF-8',
      'ann',
    ])
    expect((await call('/fhir/R4/Patient/x', { method: 'DELETE' })).status).toBe(204)
    expect((await handler(new Request('http://other.example'))).status).toBe(401)
  })

  it.each([
    ['an empty stream', undefined, [], 200],
    ['an empty stream of another type', 'text/plain', [], 200],
    ['something of another type', 'text/plain', ['{}'], 415],
    ['something without a type', undefined, ['{}'], 415],
    ['an object', 'application/json', ['{}'], 200],
  ])('ends a session with %s as its body of unknown length: %s, %j, %d', async (_, type, chunks, status) => {
    const own = (await sessions.create({ user: 'ann' })).token
    const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)))
    const headers = { authorization: `Bearer ${own}`, ...(type !== undefined && { 'content-type': type }) }
    expect((await handler(new Request('http://x/oauth2/logout', { method: 'POST', headers, body, duplex: 'half' }))).status).toBe(status)
  })

  it.each([
    ['the request of Node', { method: 'GET', url: '/base/fhir/R4/Patient', headers: { host: 'a.example' } }],
    ['an address', 'http://a.example/base/fhir/R4/Patient'],
    ['nothing', undefined],
  ])('is not %s', async (_name, given) => {
    const handler: (request: never) => Promise<Response> = handlerAt('http://a.example/base')
    const called = Reflect.apply(handler, undefined, [given])
    await expect(called).rejects.toThrow(/^The handler takes a web-standard Request\. toNodeListener /)
  })

  /** A body that does not end. */
  const stalled = (): ReadableStream<Uint8Array> =>
    new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) })

  it('is given up when its sender is gone, though its body never ends', async () => {
    const gone = new AbortController()
    const answer = call('/fhir/R4/Patient', { method: 'POST', body: stalled(), duplex: 'half', signal: gone.signal })
    setImmediate(() => gone.abort())
    expect((await answer).status).toBe(503)
  })

  it('whose body something else reads is refused as if that had been read', async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const request = new Request('http://x/fhir/R4/Patient', { method: 'POST', headers, body: stalled(), duplex: 'half' })
    request.body?.getReader()
    expect(await (await handler(request)).text()).toContain('The body was read before it came to the handler')
  })

  it('with two Authorization headers is 400, since Headers joins them', async () => {
    const headers = new Headers({ authorization: `Bearer ${token}` })
    headers.append('authorization', `Bearer ${token}`)
    expect((await handler(new Request('http://x/auth/me', { headers }))).status).toBe(400)
  })

  it('whose body is too long is read no further than the limit', async () => {
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(1024 * 1024))
      },
    })
    const response = await call('/auth/revoke', { method: 'POST', body, duplex: 'half' })
    expect([response.status, pulled < 8]).toEqual([413, true])
  })

  it('without a token has its body left alone', async () => {
    let pulled = 0
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 })
    const response = await handler(new Request('http://x/auth/revoke', { method: 'POST', body, duplex: 'half' }))
    expect([response.status, pulled]).toEqual([401, 0])
  })
})

describe('options that cannot be', () => {
  const context = createContext({ storage })
  it.each([
    ['no policy', { baseUrl: 'http://x' }],
    ['another policy', { baseUrl: 'http://x', defaultPolicy: 'allow' }],
    ['no address', { baseUrl: '/base', defaultPolicy: 'deny' }],
    ['an address with a query', { baseUrl: 'http://x/?a', defaultPolicy: 'deny' }],
    ['the address of FHIR below it', { baseUrl: 'http://x/fhir/R4/', defaultPolicy: 'deny' }],
    ['an address with a password', { baseUrl: 'http://:secret@x', defaultPolicy: 'deny' }],
    ['an address of another kind', { baseUrl: 'file:///x', defaultPolicy: 'deny' }],
    ['a realm with a quote', { baseUrl: 'http://x', defaultPolicy: 'deny', realm: '"' }],
    ['a realm with a line break', { baseUrl: 'http://x', defaultPolicy: 'deny', realm: 'a\r\nb' }],
    ['a proxy that is not a network', { baseUrl: 'http://x', defaultPolicy: 'deny', trustProxy: ['all'] }],
  ])('%s', (_name, options) => {
    expect(() => createHandler({ context, sessions, ...options } as Parameters<typeof createHandler>[0])).toThrow(TypeError)
  })

  const given = { context, sessions, baseUrl: 'http://x', defaultPolicy: 'deny' }
  it.each([
    [undefined, 'createHandler: the options are missing.'],
    [{}, 'createHandler: the option context is missing.'],
    [{ ...given, context: { storage } }, 'createHandler: context must be a context (an object with storage, content, limits).'],
    [{ ...given, sessions: undefined }, 'createHandler: the option sessions is missing.'],
    [{ ...given, sessions: Promise.resolve(sessions) }, 'createHandler: sessions is a promise that was not awaited.'],
    [{ ...given, corse: { origins: ['*'] } }, "createHandler: there is no option 'corse'. Did you mean 'cors'?"],
    [{ ...given, cors: '*' }, 'createHandler: cors must be an object.'],
    [
      { ...given, cors: { origins: ['https://a.example/'] } },
      "createHandler: cors.origins has \"https://a.example/\", which is not an origin such as 'https://app.example', nor '*'.",
    ],
    [{ ...given, cors: { origins: '*' } }, 'createHandler: cors.origins must be a list, with a text in each place.'],
    [{ ...given, cors: { origin: ['*'], origins: [] } }, "createHandler: there is no option 'cors.origin'. Did you mean 'origins'?"],
    [{ ...given, limits: { bodyByte: 1 } }, "createHandler: there is no option 'limits.bodyByte'. Did you mean 'bodyBytes'?"],
    [{ ...given, auth: 'none' }, 'createHandler: auth must be required or off.'],
    [{ ...given, validateWrites: true }, 'createHandler: validateWrites must be none or structure or full.'],
    [{ ...given, validateWrites: 'full' }, 'createHandler: validateWrites needs the types of FHIR, such as those of r4(), in the context.'],
  ])('%o', (options, message) => {
    expect(() => Reflect.apply(createHandler, undefined, [options])).toThrow(new TypeError(message))
  })

  it.each([
    [Promise.resolve(), 'the handler is a promise that was not awaited.'],
    [undefined, 'the handler must be what createHandler returns.'],
    [given, 'the handler must be what createHandler returns.'],
  ])('a listener of %o', (handler, message) => {
    for (const mount of [toNodeListener, toKoaMiddleware])
      expect(() => Reflect.apply(mount, undefined, [handler])).toThrow(new TypeError(`${mount.name}: ${message}`))
  })

  // As Fastify's own request and reply, a Koa context, and mocks have them.
  it.each([
    [{ method: 'GET', url: '/', headers: {}, socket: {} }, { writeHead: () => undefined }],
    [{ method: 'GET', url: '/', headers: {}, httpVersion: '1.1' }, {}],
    [new IncomingMessage(new Socket()), () => undefined],
  ])('a listener is called with something else: %o', async (message, response) => {
    const arguments_ = 'must be a request and a response of node:http (request.raw and reply.raw in Fastify), and no mocks of them.'
    const handler = handlerAt('http://x')
    expect(() => Reflect.apply(toNodeListener(handler), undefined, [message, response])).toThrow(
      new TypeError(`toNodeListener: the arguments ${arguments_}`),
    )
    const ofContext = toKoaMiddleware(handler)
    const context = { req: message, res: response, originalUrl: '/' }
    await expect(Reflect.apply(ofContext, undefined, [context])).rejects.toThrow(
      new TypeError(`toKoaMiddleware: the arguments ${arguments_}`),
    )
  })
})

it('a request of HTTP/2 is refused, and the answer says what it needs', async () => {
  const server = http2.createServer()
  server.on('request', (message, response) => Reflect.apply(toNodeListener(handlerAt('http://x.example')), undefined, [message, response]))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const request = client.request({ ':path': '/fhir/R4/metadata' })
  const [headers] = await once(request, 'response')
  const text = (await request.toArray()).join('')
  expect([headers[':status'], JSON.parse(text)]).toEqual([
    400,
    expect.objectContaining({
      resourceType: 'OperationOutcome',
      issue: [expect.objectContaining({ details: { text: expect.stringContaining('needs a proxy') } })],
    }),
  ])
  client.close()
  server.close()
})
