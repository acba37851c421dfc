import { connect } from 'node:net'
import { createSessions, type AuditEvent } from 'fhir-ops/sessions'
import { memorySessionStore } from 'fhir-ops/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askFhir, at, send, startServer, USER, type Reply, type RunningServer, type Sending } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer()
})
afterAll(() => running.stop())

const A = 'Bearer realm="fhir-ops"'
const badRequest = (path: string): string =>
  `Bearer realm="fhir-ops", error="invalid_request", error_description="Bad OAuth2 request${path === '/oauth2/userinfo' ? ' at UserInfo Endpoint' : ''}"`
const C =
  'Bearer realm="fhir-ops", error="invalid_token", error_description="Access token is expired, disabled, or deleted, or the user has globally signed out."'

/** Every kind of endpoint; also paths and methods that there are not, since credentials come before routing. */
const ENDPOINTS: readonly (readonly [string, string])[] = [
  ['GET', '/oauth2/userinfo'],
  ['POST', '/oauth2/userinfo'],
  ['POST', '/oauth2/logout'],
  ['POST', '/auth/revoke'],
  ['GET', '/auth/me'],
  ['GET', '/fhir/R4/Patient/1'],
  ['PUT', '/fhir/R4/Patient/1'],
  ['POST', '/fhir/R4/ConceptMap/$translate'],
  ['GET', '/fhir/R4/ValueSet/$expand'],
  ['POST', '/fhir/R4/Measure/1/$evaluate-measure'],
  ['POST', '/fhir/R4/Patient/$validate'],
  ['POST', '/fhir/R4/Bot/1/$execute'],
  ['GET', '/fhir/R4/Bot/$execute'],
  ['POST', '/fhir/R4'],
  ['POST', '/fhir/R4/metadata'],
  ['DELETE', '/auth/me'],
  ['GET', '/nowhere'],
  ['GET', '/fhir/R4/constructor/1'],
]

const endpoints = ENDPOINTS.map(([method, path]) => ({ method, path, name: `${method} ${path}` }))

describe.each(endpoints)('credentials at $name', ({ method, path }) => {
  const ask = (sending: Sending = {}, query = ''): Promise<Reply> => send(`${running.base}${path}${query}`, { method, ...sending })
  const expectChallenge = (reply: Reply, status: number, challenge: string): void => {
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([status, challenge])
    const isUserInfo = path === '/oauth2/userinfo'
    if (!isUserInfo) expect(at(reply.json, 'issue', 0, 'code')).toBe(status === 400 ? 'invalid' : 'login')
    else if (challenge === A) expect(reply.text).toBe('')
    else expect(at(reply.json, 'error')).toBe(status === 400 ? 'invalid_request' : 'invalid_token')
  }

  it.each([
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['Basic', { authorization: 'Basic YTpi' }],
    ['BearerX', { authorization: 'BearerX abc' }],
    ['a bare token', { authorization: 'fo_abc' }],
    ['cookies and other headers', { cookie: 'access_token=x', 'x-access-token': 'x', 'proxy-authorization': 'Bearer x' }],
    ['a form body', { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('%s: 401 without error', async (_name, headers) => {
    expectChallenge(await ask({ headers }), 401, A)
  })

  it.each([
    ['nothing after the scheme', { authorization: 'Bearer' }],
    ['two words', { authorization: 'Bearer a b' }],
    ['joined by a comma', { authorization: 'Bearer a,b' }],
    ['a tab', { authorization: 'Bearer\ta' }],
    ['a no-break space', { authorization: 'Bearer a\u00a0' }],
    ['two headers', { authorization: ['Bearer a', 'Bearer a'] }],
  ])('%s: 400', async (_name, headers) => {
    const lines = Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]))
    expectChallenge(await ask({ headers: ['Host', 'localhost', ...lines] }), 400, badRequest(path))
  })

  it('two equal headers with a good token: 400', async () => {
    const line = ['Authorization', `Bearer ${running.token}`]
    expectChallenge(await ask({ headers: ['Host', 'localhost', ...line, ...line] }), 400, badRequest(path))
  })

  it.each(['x', 'fo_x', 'a.b.c', 'é', '__proto__', 'null', 'fo_'.repeat(3_000), 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.'])(
    'the word %.20j: 401 invalid_token',
    async (token) => {
      expectChallenge(await ask({ headers: { authorization: `Bearer ${Buffer.from(token).toString('latin1')}` } }), 401, C)
    },
  )

  it('a token in the query: 400, with or without a header', async () => {
    expectChallenge(await ask({}, `?access_token=${running.token}`), 400, badRequest(path))
    const headers = { authorization: `Bearer ${running.token}` }
    expectChallenge(await ask({ headers }, '?a=b&access%5Ftoken='), 400, badRequest(path))
  })

  it('an expired token: 401, exactly as for an unknown one', async () => {
    const clock = { time: Date.now() }
    const sessions = createSessions({ store: memorySessionStore(), now: () => new Date(clock.time) })
    const other = await startServer({ sessions })
    const { token } = await sessions.create({ user: 'ann', ttl: 60 })
    clock.time += 61_000
    const replies = [token, `${token}x`].map((one) => send(`${other.base}${path}`, { method, headers: { authorization: `Bearer ${one}` } }))
    const [expired, unknown] = await Promise.all(replies)
    await other.stop()
    expect(varying(expired!)).toEqual(varying(unknown!))
    expectChallenge(expired!, 401, C)
  })
})

/** A reply without what is different every time. */
function varying({ status, headers, text }: Reply): unknown {
  const { date: _date, 'x-request-id': _id, ...others } = headers
  return { status, headers: others, text: text.replace(/"id":"[^"]+"/, '') }
}

describe('accepted credentials', () => {
  it.each(['Bearer ', 'bearer ', 'BEARER ', 'Bearer   '])('%j', async (scheme) => {
    const reply = await send(`${running.base}/oauth2/userinfo`, { headers: { authorization: `${scheme}${running.token}` } })
    expect(reply.status).toBe(200)
  })

  it.each([
    ['GET', '/fhir/R4/metadata', 200],
    ['HEAD', '/fhir/R4/metadata', 200],
    ['OPTIONS', '/fhir/R4/Patient/1', 204],
    ['OPTIONS', '/auth/me', 204],
    ['GET', '/.well-known/smart-configuration', 200],
    ['GET', '/fhir/R4/.well-known/smart-configuration', 200],
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
  ])('are not needed for %s %s', async (method, path, status) => {
    expect((await send(`${running.base}${path}`, { method })).status).toBe(status)
  })

  it('with the option, userinfo answers 400 to a missing token, and no other endpoint does', async () => {
    const other = await startServer({ userinfoMissingToken: 'invalid_request', realm: 'my realm' })
    const statuses = await Promise.all(['/oauth2/userinfo', '/auth/me'].map(async (path) => (await send(`${other.base}${path}`)).status))
    const { headers } = await send(`${other.base}/auth/me`)
    await other.stop()
    expect([statuses, headers['www-authenticate']]).toEqual([[400, 401], 'Bearer realm="my realm"'])
  })

  it("with auth 'off', only the FHIR part is open, and a token in the URL is refused all the same", async () => {
    const other = await startServer({ auth: 'off' })
    const paths = [
      '/fhir/R4/Patient/1',
      '/fhir/R4/Patient/1?access_token=x',
      '/oauth2/userinfo',
      '/auth/me',
      '/nowhere',
      '/fhir/R4/../../auth/me',
    ]
    const statuses = await Promise.all(paths.map(async (path) => (await send(`${other.base}${path}`)).status))
    await other.stop()
    expect(statuses).toEqual([404, 400, 401, 401, 401, 401])
  })
})

it.each(['/fhir/R4/metadata', '/fhir/R4/.well-known/smart-configuration'])(
  'a token in the URL of %s, which needs none, is refused',
  async (path) => {
    const { status } = await send(`${running.base}${path}?access_token=x`)
    expect(status).toBe(400)
  },
)

it('a token in the URL of an entry of a batch refuses the entry', async () => {
  const urls = ['metadata', 'Patient?access_token=x', 'metadata?access_token=x', 'ValueSet/$expand?url=urn:x&access_token=x']
  const entry = urls.map((url) => ({ request: { method: 'GET', url } }))
  const body = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry })
  const { json } = await askFhir(running, '', { method: 'POST', body })
  expect(urls.map((_, place) => at(json, 'entry', place, 'response', 'status'))).toEqual(['200', '400', '400', '400'])
})

describe('before a token is accepted', () => {
  it('no byte of the body is asked for', async () => {
    const socket = connect(running.port, '127.0.0.1')
    socket.write(
      'POST /auth/revoke HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n',
    )
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1.1 401 /)
    expect(answer).toMatch(/connection: close/i)
  })

  it('a body is asked for once the token is accepted', async () => {
    const socket = connect(running.port, '127.0.0.1')
    const head = `POST /auth/revoke HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${running.token}\r\nContent-Type: application/json`
    socket.write(`${head}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`)
    const next = (): Promise<string> => new Promise((resolve) => socket.once('data', (data) => resolve(String(data))))
    expect(await next()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('{}')
    expect(await next()).toMatch(/^HTTP\/1.1 400 /)
    socket.destroy()
  })

  it('a body that says it is too long is refused before it is asked for', async () => {
    const socket = connect(running.port, '127.0.0.1')
    const head = `POST /fhir/R4/Patient HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${running.token}\r\nContent-Type: application/json`
    socket.write(`${head}\r\nContent-Length: 999999999\r\nExpect: 100-continue\r\n\r\n`)
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(answer).toMatch(/connection: close/i)
  })
})

describe('audit', () => {
  it('says why a token was not accepted, and where one leaked, without the token', async () => {
    const events: AuditEvent[] = []
    const sessions = createSessions({ store: memorySessionStore(), onAudit: (event) => void events.push(event) })
    const other = await startServer({ sessions })
    const { token } = await sessions.create({ user: USER })
    await sessions.disableUser('ann')
    await send(`${other.base}/auth/me`, { headers: { authorization: `Bearer ${token}`, 'x-request-id': 'mine' } })
    await send(`${other.base}/auth/me?access_token=${token}`)
    await other.stop()
    const refused = events.filter(({ type }) => type.startsWith('token-'))
    expect(refused).toMatchObject([
      { type: 'token-rejected', reason: 'user-disabled', requestId: 'mine', remoteHost: '127.0.0.1' },
      { type: 'token-in-url', outcome: 'refused' },
    ])
    expect(JSON.stringify(events)).not.toContain(token)
  })

  it('says who was denied what, and which limit was reached', async () => {
    const events: AuditEvent[] = []
    const sessions = createSessions({ store: memorySessionStore(), onAudit: (event) => void events.push(event) })
    const other = await startServer({ sessions, limits: { bodyBytes: 10 } })
    const { token } = await sessions.create({ user: 'bob', scopes: ['user/Patient.r'] })
    const authorization = `Bearer ${token}`
    await send(`${other.base}/fhir/R4/Observation/secret`, { headers: { authorization } })
    await send(`${other.base}/fhir/R4/Patient/x`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"secret": 1}',
    })
    await other.stop()
    expect(events.slice(-2)).toMatchObject([
      { type: 'scope-denied', outcome: 'refused', sub: 'bob', operation: 'read', resourceType: 'Observation', resourceId: 'secret' },
      { type: 'limit-reached', reason: 'body-too-long', operation: 'update', resourceType: 'Patient' },
    ])
  })

  it('required: a request whose event cannot be stored is 503', async () => {
    let full = false
    const onAudit = (): Promise<void> => (full ? Promise.reject(new Error('full')) : Promise.resolve())
    const other = await startServer({ sessions: createSessions({ store: memorySessionStore(), onAudit, auditMode: 'required' }) })
    full = true
    const statuses = [
      (await send(`${other.base}/auth/me`, { headers: { authorization: 'Bearer x' } })).status,
      (await send(`${other.base}/auth/me`, { headers: { authorization: `Bearer ${other.token}` } })).status,
    ]
    await other.stop()
    expect(statuses).toEqual([503, 200])
  })
})

it('a verifier may claim a text that begins like the tokens of the library, but no token of it', async () => {
  const foreign = {
    issuer: 'host',
    sub: 'fixed',
    sessionKey: 'k',
    issuedAt: Date.now(),
    expiresAt: Date.now() + 60_000,
    scopes: ['openid'],
    claims: { sub: 'fixed' },
  }
  const fixed = await startServer({ verifiers: [{ claims: () => true, verify: async () => foreign }] })
  const subOf = async (token: string): Promise<unknown> =>
    at((await send(`${fixed.base}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } })).json, 'sub')
  const subs = [await subOf('fo_fixed'), await subOf('a.b.c'), await subOf(fixed.token)]
  await fixed.stop()
  expect(subs).toEqual(['fixed', 'fixed', 'ann'])
})
