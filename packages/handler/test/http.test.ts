import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HandlerOptions } from '../src/index.js'
import { askFhir, at, send, startServer, type Reply, type RunningServer, type Sending } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer()
  await ask('/Patient/p', { method: 'PUT', body: '{"resourceType":"Patient","id":"p"}' })
})
afterAll(() => running.stop())

const ask = (path: string, sending?: Sending): Promise<Reply> => askFhir(running, path, sending)
const codeOf = (reply: Reply): unknown[] => [reply.status, at(reply.json, 'issue', 0, 'code')]

describe('every answer', () => {
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

describe('methods', () => {
  it.each([
    ['PATCH', '/metadata', 'GET, HEAD'],
    ['TRACE', '/Patient/p', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['PUT', '/Patient', 'POST'],
    ['DELETE', '/metadata', 'GET, HEAD'],
    ['GET', '', 'POST'],
    ['PUT', '/ConceptMap/$translate', 'GET, HEAD, POST'],
  ])('%s %s is 405 with Allow', async (method, path, allow) => {
    const reply = await ask(path, { method, headers: { 'x-secret': 'echo' } })
    expect([reply.status, reply.headers.allow, at(reply.json, 'issue', 0, 'code')]).toEqual([405, allow, 'not-supported'])
    expect(at(reply.json, 'issue', 0, 'details', 'text')).toBe(`The method '${method}' is not allowed at this path, only ${allow}.`)
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
      'GET, HEAD, PUT, PATCH, DELETE',
      undefined,
    ])
    const head = await ask('/Patient/p', { method: 'HEAD' })
    const got = await ask('/Patient/p')
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', 'W/"1"'])
    expect(head.headers['content-length']).toBe(got.headers['content-length'])
  })
})

describe('the type of a body', () => {
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
    'application/json+fhir',
    'text/json',
    'Text/JSON; charset=utf-8',
    'application/ld+json',
    'application/vnd.example.v1+json',
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
    'text/json; charset=latin1',
    'text/json, text/plain',
    'text/plain; a=b+json',
    'multipart/form-data',
    'application/+json',
    '+json',
    'application/merge-patch+json',
    'application/json-patch+json',
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
  it('that is encoded is refused with what is accepted', async () => {
    const reply = await put({ 'content-encoding': 'gzip' })
    expect(reply.headers['accept-encoding']).toBe('identity')
    expect(at(reply.json, 'issue', 0, 'details', 'text')).toBe("The Content-Encoding 'gzip' is not supported: send the body without it.")
  })
})

describe('a body in gzip, where the host accepts it', () => {
  let accepting: RunningServer
  beforeAll(async () => void (accepting = await startServer({ gzipRequests: true, limits: { bodyBytes: 2_000_000 } })))
  afterAll(() => accepting.stop())

  const resource = (id: string, div = ''): string => JSON.stringify({ resourceType: 'Patient', id, text: { status: 'generated', div } })
  const put = (id: string, body: Uint8Array, headers: Record<string, string> = {}): Promise<Reply> =>
    askFhir(accepting, `/Patient/${id}`, { method: 'PUT', headers: { 'content-encoding': 'gzip', ...headers }, body })
  const random = (length: number): string => randomBytes(length / 2).toString('hex')

  it.each(['gzip', 'x-gzip', 'GZIP'])('is read: %s', async (coding) => {
    expect((await put('a', gzipSync(resource('a')), { 'content-encoding': coding })).status).toBeLessThan(300)
    expect(at((await askFhir(accepting, '/Patient/a')).json, 'id')).toBe('a')
  })
  it('is read in pieces, when it is long, and without a declared length', async () => {
    const text = resource('b', random(1_000_000))
    expect((await put('b', gzipSync(text), { 'transfer-encoding': 'chunked' })).status).toBe(201)
    expect(at((await askFhir(accepting, '/Patient/b')).json, 'text', 'div')).toHaveLength(1_000_000)
  })
  it('is the content of a Binary once it is inflated', async () => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
    expect((await askFhir(accepting, '/Binary/c', { method: 'PUT', headers, body: gzipSync('a letter') })).status).toBe(201)
    expect((await askFhir(accepting, '/Binary/c')).text).toBe('a letter')
  })
  it('may be 100 times as long as what was sent, and as long as any body', async () => {
    const bomb = await put('d', gzipSync(' '.repeat(1_900_000)))
    expect([bomb.status, at(bomb.json, 'issue', 0, 'details', 'text')]).toEqual([
      413,
      'The body inflates to more than 100 times its length.',
    ])
    const long = await put('d', gzipSync(resource('d', random(2_000_000))))
    expect([long.status, at(long.json, 'issue', 0, 'details', 'text')]).toEqual([413, 'The body is longer than 2000000 bytes.'])
  })
  it('may inflate to no less than what was sent', async () => {
    // Deflate without content, in stored blocks that are not the last.
    const empty = Buffer.alloc(1_500_000, Buffer.from([0, 0, 0, 0xff, 0xff]))
    const reply = await put('e', Buffer.concat([gzipSync('').subarray(0, 10), empty]))
    expect([reply.status, at(reply.json, 'issue', 0, 'details', 'text')]).toEqual([413, 'The body inflates to less than its length.'])
  })
  it.each([
    ['that is not', Buffer.from(resource('f'))],
    ['that ends too early', gzipSync(resource('f')).subarray(0, -12)],
    ['with a wrong checksum', Buffer.concat([gzipSync(resource('f')).subarray(0, -8), Buffer.alloc(8)])],
    ['with something after it', Buffer.concat([gzipSync(resource('f')), Buffer.from('more')])],
  ])('%s is refused', async (_title, body) => {
    const reply = await put('f', body)
    expect([reply.status, at(reply.json, 'issue', 0, 'details', 'text')]).toEqual([400, 'The body is not in gzip, or it is damaged.'])
    expect((await askFhir(accepting, '/Patient/f')).status).toBe(404)
  })
  it('is inflated once: other encodings are refused', async () => {
    for (const coding of ['gzip, gzip', 'br', 'deflate', 'zstd']) {
      const reply = await put('g', gzipSync(resource('g')), { 'content-encoding': coding })
      expect([reply.status, reply.headers['accept-encoding']]).toEqual([415, 'gzip, identity'])
    }
  })
  it('is not read before the token is accepted', async () => {
    expect((await put('h', gzipSync(' '.repeat(1_900_000)), { authorization: 'Bearer wrong' })).status).toBe(401)
  })
  it('is read of web-standard requests', async () => {
    const headers = { authorization: `Bearer ${accepting.token}`, 'content-type': 'application/fhir+json', 'content-encoding': 'gzip' }
    const request = new Request(`${accepting.base}/fhir/R4/Patient/i`, { method: 'PUT', headers, body: gzipSync(resource('i')) })
    expect((await accepting.handler(request)).status).toBe(201)
  })
})

describe('what the caller takes', () => {
  it.each([
    ['*/*', 200],
    ['application/*', 200],
    ['application/fhir+json', 200],
    ['application/json+fhir', 200],
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

it.each([
  '/Patient/p?_pretty=true&_pretty=true',
  '/ConceptMap/$translate?_pretty=true&_pretty=false',
  '/metadata?mode=full&mode=terminology',
])('a parameter that may be given once is refused when it is repeated: %s', async (path) =>
  expect(codeOf(await ask(path))).toEqual([400, 'invalid']),
)

describe('paths', () => {
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
    ['/Pateint', "There is no resource type 'Pateint'. Did you mean 'Patient'?"],
    ['/Pateint/p/$validate', "There is no resource type 'Pateint'. Did you mean 'Patient'?"],
    ['/observation/o', "There is no resource type 'observation'. Did you mean 'Observation'?"],
    ['/Xyzzyx', "There is no resource type 'Xyzzyx'."],
    ['/ValueSet/$expnd', "There is no operation '$expnd' at this path. Did you mean '$expand'?"],
    ['/ValueSet/$Expand', "There is no operation '$Expand' at this path. Did you mean '$expand'?"],
    ['/Patient/p/$everything', "There is no operation '$everything' at this path: it is not offered by this server."],
    ['/$export', "There is no operation '$export' at this path: it is not offered by this server."],
    ['/$graphql', "There is no operation '$graphql' at this path: it is not offered by this server."],
    ['/ValueSet/$zzzzzzz', "There is no operation '$zzzzzzz' at this path."],
    [
      '/Location/l/Observation',
      'There is nothing at this path: Location has no compartment, as Device, Encounter, Patient, Practitioner, RelatedPerson have.',
    ],
    ['/$expand', "There is no operation '$expand' at this path, but at 'ValueSet/$expand'."],
    ['/$validate', "There is no operation '$validate' at this path, but at '[type]/$validate'."],
    ['/Patient/$closure', "There is no operation '$closure' at this path, but at '$closure'."],
    ['//Patient', 'There is nothing at this path: it has an empty part (//).'],
    ['/../Patient/p', "There is nothing at this path: FHIR is below '/fhir/R4'."],
    ['/Patient/p/x/y', 'There is nothing at this path.'],
    ['/Patient/my_patient', "'my_patient' is not an id: 1 to 64 letters, digits, hyphens and dots are allowed."],
    ['/ValueSet/my_set/$expand', "'my_set' is not an id: 1 to 64 letters, digits, hyphens and dots are allowed."],
    ['/Bot/my%20bot/$execute', "'my bot' is not an id: 1 to 64 letters, digits, hyphens and dots are allowed."],
    ['/Patient/my_patient/_history/1', "'my_patient' is not an id: 1 to 64 letters, digits, hyphens and dots are allowed."],
    ['/Patient/_unknown', 'There is nothing at this path.'],
    ['/Bot/b/$execute', "There is no operation '$execute' at this path: this server runs no bots."],
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

describe('headers', () => {
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

describe('metadata', () => {
  it('lists what the route table has, and is told in every mode that there is', async () => {
    const { json } = await send(`${running.base}/fhir/R4/metadata`)
    const resources = at(json, 'rest', 0, 'resource') as { type: string; operation?: { name: string }[]; interaction: { code: string }[] }[]
    const map = resources.find(({ type }) => type === 'ConceptMap')
    expect(resources.length).toBe(146)
    expect(at(json, 'software')).toEqual({
      name: 'fhir-ops',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      releaseDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    })
    expect(map?.operation?.map(({ name }) => name).sort()).toEqual(['translate', 'validate'])
    expect(map?.interaction.map(({ code }) => code).sort()).toEqual([
      'create',
      'delete',
      'history-instance',
      'history-type',
      'patch',
      'read',
      'update',
      'vread',
    ])
    expect(at((await send(`${running.base}/fhir/R4/metadata?mode=terminology`)).json, 'resourceType')).toBe('TerminologyCapabilities')
    expect((await send(`${running.base}/fhir/R4/metadata?mode=nonsense`)).status).toBe(400)
  })
})

describe('the SMART configuration', () => {
  const path = '/fhir/R4/.well-known/smart-configuration'
  const asked = async (options: Partial<HandlerOptions>, asking = path): Promise<Reply> => {
    const other = await startServer(options)
    const reply = await send(`${other.base}${asking}`)
    await other.stop()
    return reply
  }

  it('states what scopes can say, and the endpoints that the host names', async () => {
    const plain = await send(`${running.base}${path}`)
    expect([plain.headers['content-type'], at(plain.json, 'capabilities')]).toEqual([
      'application/json;charset=UTF-8',
      ['permission-patient', 'permission-user', 'permission-v1', 'permission-v2'],
    ])
    const endpoints = { token_endpoint: 'https://issuer.example/token' }
    expect((await asked({ smartConfiguration: endpoints })).json).toMatchObject(endpoints)
    expect((await asked({ smartConfiguration: async () => endpoints })).json).toMatchObject(endpoints)
  })

  it('is 503 while the host cannot look its part up, and the CapabilityStatement says the rest', async () => {
    const down = { smartConfiguration: () => Promise.reject(new Error('down')) }
    const reply = await asked(down)
    expect([reply.status, reply.text.includes('down')]).toEqual([503, false])
    expect((await asked(down, '/fhir/R4/metadata')).json).toMatchObject({ rest: [{ security: { service: [{}] } }] })
  })

  it("gives the issuer's own documents where one is named, and 404 elsewhere", async () => {
    const issuer = { issuer: 'https://issuer.example', token_endpoint: 'https://issuer.example/token' }
    for (const document of [
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/fhir/R4/.well-known/openid-configuration',
    ]) {
      expect((await asked({ smartConfiguration: issuer }, document)).json).toEqual(issuer)
      expect((await asked({}, document)).status).toBe(404)
    }
    expect((await asked({ smartConfiguration: issuer }, '/.well-known/oauth-protected-resource')).json).toMatchObject({
      authorization_servers: ['https://issuer.example'],
    })
    const { json } = await asked({ smartConfiguration: issuer }, '/fhir/R4/metadata')
    expect(at(json, 'rest', 0, 'security', 'extension', 0, 'extension')).toEqual([
      { url: 'token', valueUri: 'https://issuer.example/token' },
    ])
  })
})

describe('pages of other origins', () => {
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
    expect(evil.headers['access-control-allow-methods']).toBeUndefined()
    expect(
      (await send(`${running.base}/fhir/R4/metadata`, { headers: { origin: 'https://app.example' } })).headers[
        'access-control-allow-origin'
      ],
    ).toBe(undefined)
  })
  it('may send credentials where that is wanted, of origins by name only', async () => {
    const cors = { origins: ['https://app.example'], credentials: true }
    const other = await startServer({ cors })
    const from = async (origin: string): Promise<unknown> =>
      (await send(`${other.base}/fhir/R4/metadata`, { headers: { origin } })).headers['access-control-allow-credentials']
    const allowed = [await from('https://app.example'), await from('https://evil.example')]
    await other.stop()
    expect(allowed).toEqual(['true', undefined])
    await expect(startServer({ cors: { ...cors, origins: ['*'] } })).rejects.toThrow("not '*'")
  })

  it('are told that they may send every method and header, and what they may read', async () => {
    const other = await startServer({ cors: { origins: ['*'] } })
    const preflight = (path: string, headers: Record<string, string>): Promise<Reply> =>
      send(`${other.base}${path}`, { method: 'OPTIONS', headers: { origin: 'https://app.example', ...headers } })
    const asked = {
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type,x-medplum, b d,é',
    }
    const reply = await preflight('/fhir/R4/Patient/1', { ...asked, 'access-control-request-private-network': 'true' })
    const nowhere = await preflight('/fhir/R4/Patient/1/$everything', asked)
    const plain = await send(`${other.base}/fhir/R4/Patient/1/$everything`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example' },
    })
    const refused = await send(`${other.base}/auth/me`, { headers: { origin: 'https://app.example' } })
    await other.stop()
    expect([reply.status, nowhere.status, plain.status, refused.status]).toEqual([204, 204, 404, 401])
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'authorization, content-type, x-medplum',
      'access-control-allow-private-network': 'true',
      vary: 'Origin, Access-Control-Request-Headers',
    })
    expect(refused.headers['access-control-expose-headers']).toContain('WWW-Authenticate')
    expect(JSON.stringify([reply.headers, refused.headers])).not.toContain('credentials')
  })
})

describe('XML', () => {
  it.each([
    ['GET', { accept: 'application/fhir+xml' }, 406, 'XML is not offered.'],
    ['GET', { accept: 'application/xml, text/xml' }, 406, 'XML is not offered.'],
    ['PUT', { 'content-type': 'application/fhir+xml' }, 415, 'XML is not read.'],
  ])('%s with %j is %i, and says so', async (method, headers, status, text) => {
    const reply = await ask('/Patient/p', { method, headers, ...(method === 'PUT' && { body: '<Patient/>' }) })
    expect([reply.status, at(reply.json, 'issue', 0, 'details', 'text')]).toEqual([status, expect.stringContaining(text)])
  })
})

describe('what is not offered', () => {
  it.each(['/$export', '/Patient/$export', '/Group/g/$export', '/Patient/p/$everything', '/Patient/p/$summary', '/$graphql'])(
    '%s is 404 by its name',
    async (path) => {
      const reply = await ask(path)
      expect([reply.status, at(reply.json, 'issue', 0, 'details', 'text')]).toEqual([
        404,
        expect.stringContaining(`'${path.slice(path.lastIndexOf('/') + 1)}'`),
      ])
    },
  )
})

describe('an operation without a body', () => {
  it('takes its parameters from the URL by POST, too', async () => {
    const { status } = await send(`${running.base}/fhir/R4/ValueSet/$expand?url=http://x.example/none`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.token}` },
    })
    expect(status).toBe(404)
  })
})
