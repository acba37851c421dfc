import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Operation } from 'fhir-ops/operation'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../src/index.js'
import { startingListener } from '../src/node/index.js'
import { at, fhirHeaders, send, startServer, type Reply, type RunningServer, type Sending } from './running-server.js'

/** An operation that shows what the handler hands to operations. */
const mirror: Operation = {
  name: '$mirror',
  types: 'any',
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://example.org/mirror',
  header: { name: 'x-mirror', parameters: (value) => [{ name: 'header', value, parts: [], expression: 'header' }] },
  run: async (ctx, { type, id, method, parameters, acceptLanguage, strict }) => {
    const names = parameters.map(({ name, value }) => [name, value])
    return {
      status: 200,
      resource: { resourceType: 'Basic', type, id, method, names, acceptLanguage, strict, maxExpansion: ctx.limits.maxExpansion },
    }
  },
}

let running: RunningServer
beforeAll(async () => {
  running = await startServer({
    operations: [...OPERATIONS, mirror],
    limits: { bodyBytes: 1_000, terminologyBytes: 2_000, queryParameters: 10, jsonMembers: 40 },
  })
  await ask('/Patient/p', { method: 'PUT', body: '{"resourceType":"Patient","id":"p"}' })
})
afterAll(() => running.stop())

const ask = (path: string, sending: Sending = {}): Promise<Reply> =>
  send(`${running.base}/fhir/R4${path}`, {
    ...sending,
    headers: { ...fhirHeaders(running.token), ...(sending.headers as Record<string, string>) },
  })
const codeOf = (reply: Reply): unknown[] => [reply.status, at(reply.json, 'issue', 0, 'code')]

describe('HT-20 every answer', () => {
  const paths = ['/healthz', '/nowhere', '/fhir/R4/metadata', '/fhir/R4/Patient/p', '/fhir/R4/Patient/%ff', '/oauth2/userinfo', '/auth/me']
  it.each(paths)('carries the security headers: %s', async (path) => {
    for (const headers of [{}, { authorization: `Bearer ${running.token}` }]) {
      const reply = await send(`${running.base}${path}`, { headers })
      expect(reply.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
      })
      expect([reply.headers.server, reply.headers['x-powered-by']]).toEqual([undefined, undefined])
      expect(reply.headers['content-type'] ?? 'none').not.toContain('html')
    }
  })
})

it('HT-20 a server that is starting answers 503 with the security headers', async () => {
  const server = createServer(startingListener())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const reply = await send(`http://127.0.0.1:${port}/fhir/R4/metadata`, { headers: {} })
  await new Promise((resolve) => server.close(resolve))
  expect([reply.status, reply.headers['retry-after'], reply.headers['cache-control']]).toEqual([503, '1', 'no-store'])
})

describe('HT-01 HT-02 HT-03 methods', () => {
  it.each([
    ['PATCH', '/Patient/p', 'GET, HEAD, PUT, DELETE'],
    ['TRACE', '/Patient/p', 'GET, HEAD, PUT, DELETE'],
    ['PUT', '/Patient', 'POST'],
    ['DELETE', '/metadata', 'GET, HEAD'],
    ['GET', '', 'POST'],
    ['PUT', '/ConceptMap/$translate', 'GET, HEAD, POST'],
  ])('%s %s is 405 with Allow', async (method, path, allow) => {
    const reply = await ask(path, { method, headers: { 'x-secret': 'echo' } })
    expect([reply.status, reply.headers.allow, at(reply.json, 'issue', 0, 'code')]).toEqual([405, allow, 'not-supported'])
    expect(reply.text).not.toContain('echo')
  })

  it('are not overridden by header or query', async () => {
    const headers = { 'x-http-method-override': 'DELETE', 'x-http-method': 'DELETE', 'x-method-override': 'DELETE' }
    expect((await ask('/Patient/p?_method=DELETE', { headers })).status).toBe(200)
    expect((await ask('/Patient/p')).status).toBe(200)
  })

  it('OPTIONS tells the methods, HEAD is GET without body', async () => {
    const options = await send(`${running.base}/fhir/R4/Patient/p`, { method: 'OPTIONS' })
    expect([options.status, options.headers.allow, options.headers['access-control-allow-origin']]).toEqual([
      204,
      'GET, HEAD, PUT, DELETE',
      undefined,
    ])
    const head = await ask('/Patient/p', { method: 'HEAD' })
    const got = await ask('/Patient/p')
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', 'W/"1"'])
    expect(head.headers['content-length']).toBe(got.headers['content-length'])
  })
})

describe('HT-04 HT-05 HT-07 the type of a body', () => {
  const put = (headers: Record<string, string>): Promise<Reply> =>
    ask('/Patient/t', { method: 'PUT', headers, body: '{"resourceType":"Patient","id":"t"}' })
  it.each([
    'application/fhir+json',
    'application/json',
    'APPLICATION/FHIR+JSON',
    'application/fhir+json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/fhir+json; fhirVersion=4.0',
    'application/fhir+json; fhirVersion="4.0.1"',
  ])('%s is read', async (type) => {
    expect([200, 201]).toContain((await put({ 'content-type': type })).status)
  })
  it.each([
    '',
    'text/plain',
    'application/fhir+xml',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'application/jsonp',
    'application/fhir+json; fhirVersion=5.0',
    'constructor',
    ';',
  ])('%j is 415', async (type) => {
    expect(codeOf(await put({ 'content-type': type }))).toEqual([415, 'not-supported'])
  })
  it.each(['gzip', 'br', 'deflate', 'gzip, identity', 'x'])('encoded as %s is 415', async (encoding) => {
    expect((await put({ 'content-encoding': encoding })).status).toBe(415)
  })
  it('encoded as identity is read', async () => {
    expect((await put({ 'content-encoding': 'Identity' })).status).toBe(200)
  })
})

describe('HT-06 what the caller takes', () => {
  it.each([
    ['*/*', 200],
    ['application/*', 200],
    ['application/fhir+json', 200],
    ['application/json;q=0.1, text/html', 200],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 200],
    ['', 200],
    ['garbage', 200],
    [';;;,,,', 200],
    ['application/fhir+xml', 406],
    ['text/html', 406],
    ['application/fhir+json;q=0', 406],
    ['application/json;q=0.0', 406],
    ['application/fhir+json; fhirVersion=4.0', 200],
    ['application/fhir+json; fhirVersion=5.0', 406],
    ['application/fhir+json; fhirVersion=5.0, application/fhir+json; fhirVersion=4.0; q=0.5', 200],
    ['constructor/toString', 406],
  ])('Accept: %j: %d', async (accept, status) => {
    const reply = await ask('/Patient/p', { headers: { accept } })
    expect([reply.status, reply.headers['content-type']]).toEqual([status, 'application/fhir+json; charset=utf-8'])
  })
  it.each([
    ['json', 200],
    ['application/fhir%2Bjson', 200],
    ['application/fhir+json', 200],
    ['application/json', 200],
    ['xml', 406],
    ['application/fhir%2Bjson;fhirVersion=5.0', 406],
    ['text/turtle', 406],
    ['', 406],
    ['__proto__', 406],
    ['json&_format=json', 400],
  ])('_format=%s goes before Accept: %d', async (format, status) => {
    expect((await ask(`/Patient/p?_format=${format}`, { headers: { accept: 'text/html' } })).status).toBe(status)
  })
})

it.each(['/Patient/p?_pretty=true&_pretty=true', '/Basic/$mirror?_pretty=true&_pretty=false', '/metadata?mode=full&mode=terminology'])(
  'a parameter that may be given once is refused when it is repeated: %s',
  async (path) => expect(codeOf(await ask(path))).toEqual([400, 'invalid']),
)

describe('HT-11 paths', () => {
  it.each([
    ['/Patient/%ff', 400],
    ['/Patient/%', 400],
    ['/Patient/%zz', 400],
    ['/Patient/%c0%af', 400],
    ['/Patient/%00', 400],
    ['/Patient/p?a=%ff', 400],
    ['/Patient/p?%=1', 400],
    ['/Patient/p%2F..', 404],
    ['/Patient/p%20', 404],
    ['/Patient/a_b', 404],
    [`/Patient/${'x'.repeat(64)}`, 404],
    [`/Patient/${'x'.repeat(65)}`, 404],
    ['/patient/p', 404],
    ['/constructor/p', 404],
    ['/__proto__/p', 404],
    ['/toString', 404],
    ['/Patient/p/$nonsense', 404],
    ['/Patient/p/$__proto__', 404],
    ['/Patient/:id', 404],
    ['/:type/p', 404],
    ['/Patient//p', 404],
    ['/Patient/p/_history/x', 404],
    ['/Patient/p/_history/2', 404],
    ['/Patient/p/_history/1', 200],
    ['/Patient/p/', 200],
    ['/Patient/%70', 200],
    ['/x/../Patient/p', 200],
    ['/x/%2e%2e/Patient/p', 200],
  ])('%s: %d', async (path, status) => {
    const reply = await ask(path)
    expect(reply.status).toBe(status)
    if (status >= 400) expect(at(reply.json, 'resourceType')).toBe('OperationOutcome')
  })

  it.each([
    ['/Pateint', "There is no resource type 'Pateint'."],
    ['/Pateint/p/$validate', "There is no resource type 'Pateint'."],
    ['/ValueSet/$expnd', "There is no operation '$expnd' at this path."],
    ['/$expand', "There is no operation '$expand' at this path."],
    ['/../Patient/p', "There is nothing at this path: FHIR is below '/fhir/R4'."],
    ['/Patient/p/x/y', 'There is nothing at this path.'],
  ])('%s is told what it lacks', async (path, text) => {
    expect((await ask(path)).json).toMatchObject({ issue: [{ code: 'not-found', details: { text } }] })
  })

  it('the Host header builds no link', async () => {
    const reply = await ask('/Patient', {
      method: 'POST',
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
      body: '{"resourceType":"Patient"}',
    })
    expect(reply.headers.location).toMatch(new RegExp(`^${running.base}/fhir/R4/Patient/`))
  })

  it('a parameter with one value given twice is 400', async () => {
    expect(codeOf(await ask('/ConceptMap/$translate?url=a&url=b&code=x&system=y'))).toEqual([400, 'invalid'])
  })
})

describe('HT-10 malformed wire requests', () => {
  const exchange = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(running.port, '127.0.0.1', () => socket.end(text))
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

  it('a Transfer-Encoding beside chunked is 415: nothing decodes it', async () => {
    const headers = Object.entries(fhirHeaders(running.token))
      .map((line) => line.join(': '))
      .join('\r\n')
    const body = '1a\r\n{"resourceType":"Patient"}\r\n0\r\n\r\n'
    const send = (coding: string): Promise<string> =>
      exchange(
        `POST /fhir/R4/Patient HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\nTransfer-Encoding: ${coding}\r\n\r\n${body}`,
      )
    expect(await send('gzip, chunked')).toMatch(/^HTTP\/1.1 415 /)
    expect(await send('Chunked')).toMatch(/^HTTP\/1.1 201 /)
  })

  it('an Expect that nobody knows is passed over', async () => {
    expect((await ask('/metadata', { headers: { expect: '200-ok' } })).status).toBe(200)
  })

  it('headers over 16 KiB: 431', async () => {
    expect(await exchange(`GET /fhir/R4/metadata HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /)
  })
})

describe('HT-13 HT-14 headers', () => {
  it.each([
    ['my-id_1.2', true],
    ['x'.repeat(64), true],
    ['x'.repeat(65), false],
    ['a b', false],
    ['<script>', false],
  ])('the request id %.20j is used: %s', async (id, isUsed) => {
    const { headers } = await ask('/Patient/p', { headers: { 'x-request-id': id } })
    expect(headers['x-request-id'] === id).toBe(isUsed)
    expect(headers['x-request-id']).toMatch(/^[\w.-]{1,64}$/)
  })

  it('conditional, range and prefer headers of any content fail no read', async () => {
    for (const name of ['if-none-match', 'if-modified-since', 'if-range', 'range', 'prefer', 'if-unmodified-since', 'te']) {
      for (const value of ['garbage', '*', 'W/"', 'bytes=0-1,5-', '\t'])
        expect([200, 304]).toContain((await ask('/Patient/p', { headers: { [name]: value } })).status)
    }
  })
})

describe('what operations get', () => {
  const mirrored = async (query: string, headers: Record<string, string> = {}): Promise<unknown> =>
    (await ask(`/Patient/p/$mirror${query}`, { headers })).json
  it('type, id, method and parameters, without those of the protocol', async () => {
    expect(await mirrored('?a=1&b=x%20y+z&a=2&_format=json&_pretty=true', { 'accept-language': 'de' })).toMatchObject({
      type: 'Patient',
      id: 'p',
      method: 'GET',
      acceptLanguage: 'de',
      strict: false,
      names: [
        ['a', '1'],
        ['b', 'x y z'],
        ['a', '2'],
      ],
    })
  })

  it('what a header of the operation stands for', async () => {
    expect(await mirrored('?a=1', { 'x-mirror': 'b' })).toMatchObject({
      names: [
        ['a', '1'],
        ['header', 'b'],
      ],
    })
  })

  it('query and body parameters of a POST together', async () => {
    const body = JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: 'b', valueString: '2' }] })
    const reply = await ask('/Patient/$mirror?a=1', { method: 'POST', body })
    expect(reply.json).toMatchObject({
      method: 'POST',
      names: [
        ['a', '1'],
        ['b', '2'],
      ],
    })
  })

  it.each([
    ['{"resourceType":"Patient"}', 200],
    ['{"resourceType":"Observation"}', 400],
    ['{"resourceType":["Parameters"]}', 400],
    ['{}', 400],
    ['', 400],
  ])('a body %j: %d', async (body, status) => {
    expect((await ask('/Patient/$mirror', { method: 'POST', body })).status).toBe(status)
  })

  it.each([
    ['5', 5],
    ['0', 0],
    ['999999999', 100_000],
    ['-1', 100_000],
    ['1e3', 100_000],
    ['', 100_000],
  ])('X-TOO-COSTLY-THRESHOLD: %j only lowers the limit: %d', async (value, limit) => {
    expect(at(await mirrored('', { 'x-too-costly-threshold': value }), 'maxExpansion')).toBe(limit)
  })

  it.each([
    ['handling=strict', true],
    ['return=minimal, handling=strict', true],
    ['handling=lenient', false],
    ['strict', false],
  ])('Prefer: %s means strict: %s', async (prefer, strict) => {
    expect(at(await mirrored('', { prefer }), 'strict')).toBe(strict)
  })
})

describe('section 9 limits, at and above', () => {
  const patient = (bytes: number): string => {
    const empty = '{"resourceType":"Patient","id":"l","x":""}'
    return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`)
  }
  it.each([
    [1_000, 201],
    [1_001, 413],
  ])('LIM-01 a body of %d bytes: %d', async (bytes, status) => {
    expect((await ask('/Patient/l', { method: 'PUT', body: patient(bytes) })).status).toBe(status)
  })

  it('LIM-01 a body without a declared length is cut off at the limit', async () => {
    const reply = await ask('/Patient/l', { method: 'PUT', headers: { 'transfer-encoding': 'chunked' }, body: patient(100_000) })
    expect([reply.status, at(reply.json, 'issue', 0, 'code'), reply.headers.connection]).toEqual([413, 'too-long', 'close'])
  })

  it('LIM-01 a declared length over the limit is refused unread', async () => {
    const socket = connect(running.port, '127.0.0.1')
    socket.write(
      `PUT /fhir/R4/Patient/l HTTP/1.1\r\nHost: x\r\n${Object.entries(fhirHeaders(running.token))
        .map((line) => line.join(': '))
        .join('\r\n')}\r\nContent-Length: 1001\r\n\r\n`,
    )
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
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
    [8_192, 404],
    [8_193, 414],
  ])('LIM-02 a URL of %d bytes: %d', async (bytes, status) => {
    const path = '/Patient/nobody?x='
    expect((await ask(path + 'x'.repeat(bytes - '/fhir/R4'.length - path.length))).status).toBe(status)
  })

  it.each([
    [10, 404],
    [11, 400],
  ])('LIM-02 %d query parameters: %d', async (count, status) => {
    expect((await ask(`/Patient/nobody?${'a=b&'.repeat(count)}`)).status).toBe(status)
  })
})

describe('LOG-01 LOG-02 LOG-03 the log', () => {
  it('has one line per request with the template of the route, and nothing that was sent', async () => {
    running.logs.length = 0
    await ask('/Patient/secretid?name=secretname', { headers: { 'user-agent': 'x', 'x-request-id': 'log-test' } })
    expect(running.logs).toMatchObject([
      { level: 'info', requestId: 'log-test', method: 'GET', route: '/fhir/R4/:type/:id', status: 404, sub: 'ann', error: 'not-found' },
    ])
    expect(JSON.stringify(running.logs)).not.toMatch(/secret|fo_/)
  })

  it.each([
    ['a refused token', 'GET', '/fhir/R4/Patient/p', { authorization: 'Bearer wrong' }, [401, '/fhir/R4/:type/:id']],
    ['no token', 'POST', '/fhir/R4/ConceptMap/$translate', {}, [401, '/fhir/R4/:type/$translate']],
    ['a method that is not offered', 'DELETE', '/auth/me', {}, [401, '/auth/me']],
    ['OPTIONS', 'OPTIONS', '/auth/me', {}, [204, '/auth/me']],
    ['a path that there is not', 'GET', '/elsewhere', {}, [401, 'none']],
    ['a URL that cannot be read', 'GET', '/fhir/R4/Patient/%ff', {}, [400, 'none']],
  ])('tells the route of %s', async (_, method, path, headers, expected) => {
    running.logs.length = 0
    await send(`${running.base}${path}`, { method, headers })
    expect(running.logs.map(({ status, route }) => [status, route])).toEqual([expected])
  })
})

describe('metadata', () => {
  it('lists what the route table has, and is told in every mode that there is', async () => {
    const { json } = await send(`${running.base}/fhir/R4/metadata`)
    const resources = at(json, 'rest', 0, 'resource') as { type: string; operation?: { name: string }[]; interaction: { code: string }[] }[]
    const map = resources.find(({ type }) => type === 'ConceptMap')
    expect(resources.length).toBe(146)
    expect(map?.operation?.map(({ name }) => name).sort()).toEqual(['mirror', 'translate', 'validate'])
    expect(map?.interaction.map(({ code }) => code).sort()).toEqual([
      'create',
      'delete',
      'history-instance',
      'history-type',
      'read',
      'update',
      'vread',
    ])
    expect(at((await send(`${running.base}/fhir/R4/metadata?mode=terminology`)).json, 'resourceType')).toBe('TerminologyCapabilities')
    expect((await send(`${running.base}/fhir/R4/metadata?mode=nonsense`)).status).toBe(400)
  })
})

describe('UI-05 pages of other origins', () => {
  it('may call only where configured, and never with credentials', async () => {
    const other = await startServer({ cors: { origins: ['https://app.example'] } })
    const from = (origin: string, method = 'GET'): Promise<Reply> => send(`${other.base}/fhir/R4/metadata`, { method, headers: { origin } })
    const [good, evil, preflight] = [
      await from('https://app.example'),
      await from('https://evil.example'),
      await from('https://app.example', 'OPTIONS'),
    ]
    await other.stop()
    expect([good.headers['access-control-allow-origin'], evil.headers['access-control-allow-origin']]).toEqual([
      'https://app.example',
      undefined,
    ])
    expect([good.headers['access-control-allow-credentials'], good.headers.vary, evil.headers.vary]).toEqual([
      undefined,
      'Origin',
      'Origin',
    ])
    expect(preflight.headers['access-control-allow-methods']).toBe('GET, HEAD')
    expect(
      (await send(`${running.base}/fhir/R4/metadata`, { headers: { origin: 'https://app.example' } })).headers[
        'access-control-allow-origin'
      ],
    ).toBe(undefined)
  })
})
