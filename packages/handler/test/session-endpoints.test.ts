import { OperationError } from 'fhir-ops/errors'
import { memorySessionStore } from 'fhir-ops/memory'
import { createSessions, type NewSession } from 'fhir-ops/sessions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, send, startServer, USER, type Reply, type RunningServer, type Sending } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer()
})
afterAll(() => running.stop())

const signIn = (change: Partial<NewSession> = {}): Promise<{ token: string; loginId: string }> =>
  running.sessions.create({ user: USER, ...change })
const ask = (path: string, token: string, sending: Sending = {}): Promise<Reply> =>
  send(`${running.base}${path}`, {
    ...sending,
    headers: { authorization: `Bearer ${token}`, ...(sending.headers as Record<string, string>) },
  })
const postJson = (path: string, token: string, body: string | Uint8Array, type = 'application/json'): Promise<Reply> =>
  ask(path, token, { method: 'POST', headers: { 'content-type': type }, body })
const OK = {
  resourceType: 'OperationOutcome',
  id: 'ok',
  issue: [{ severity: 'information', code: 'informational', details: { text: 'All OK' } }],
}
const JSON_TYPE = 'application/json;charset=UTF-8'

describe('userinfo', () => {
  it('gives every standard claim', async () => {
    const { token } = await signIn()
    const reply = await ask('/oauth2/userinfo', token)
    expect([reply.status, reply.headers['content-type'], reply.headers['cache-control'], reply.json]).toEqual([
      200,
      JSON_TYPE,
      'no-store',
      USER,
    ])
  })

  it.each([
    [['openid'], { sub: 'ann' }],
    [['openid', 'email'], { sub: 'ann', email: 'ann@example.org' }],
    [['openid', 'profile'], { sub: 'ann', name: 'Ann Example', given_name: 'Ann', family_name: 'Example', preferred_username: 'ann' }],
  ])('gives the claims of the scopes %j only', async (scopes, claims) => {
    const { token } = await signIn({ scopes })
    expect((await ask('/oauth2/userinfo', token)).json).toEqual(claims)
  })

  it('leaves out claims without a value or of a wrong type', async () => {
    const user = {
      sub: 'odd',
      name: '',
      given_name: null,
      email: 5,
      email_verified: 'yes',
      updated_at: 'now',
      phone_number: '1',
      address: { locality: 'X' },
    }
    const { token } = await running.sessions.create({ user, scopes: ['openid', 'profile', 'email', 'phone', 'address'] })
    expect((await ask('/oauth2/userinfo', token)).json).toEqual({ sub: 'odd', phone_number: '1', address: { locality: 'X' } })
  })

  it('needs openid: 403 insufficient_scope', async () => {
    const { token } = await signIn({ scopes: ['profile'] })
    const reply = await ask('/oauth2/userinfo', token)
    expect(reply.status).toBe(403)
    expect(reply.headers['www-authenticate']).toMatch(
      /^Bearer realm="fhir-ops", error="insufficient_scope", error_description="[^"]+", scope="openid"$/,
    )
  })

  it('POST gives the same, HEAD the same without body, others 405', async () => {
    const { token } = await signIn()
    expect((await ask('/oauth2/userinfo', token, { method: 'POST' })).json).toEqual(USER)
    const head = await ask('/oauth2/userinfo', token, { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', JSON_TYPE])
    for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE', 'LINK']) {
      const reply = await ask('/oauth2/userinfo', token, { method })
      expect([reply.status, reply.headers.allow, at(reply.json, 'error')]).toEqual([405, 'GET, HEAD, POST', 'invalid_request'])
    }
  })

  it('neither Accept nor query parameters change anything', async () => {
    const { token } = await signIn()
    for (const accept of ['text/html', 'application/xml', '*/*', ';;;']) {
      const reply = await ask('/oauth2/userinfo?sub=bob&user=bob', token, { headers: { accept } })
      expect([reply.status, reply.headers['content-type'], at(reply.json, 'sub')]).toEqual([200, JSON_TYPE, 'ann'])
    }
  })

  it('a token in the form beside the header: 400', async () => {
    const { token } = await signIn()
    const reply = await postJson('/oauth2/userinfo', token, `access_token=${token}`, 'application/x-www-form-urlencoded')
    expect([reply.status, at(reply.json, 'error')]).toEqual([400, 'invalid_request'])
  })
})

describe('logout', () => {
  it.each([
    ['no body', undefined, undefined],
    ['an empty body', '', 'application/json'],
    ['an empty body of no type', '', undefined],
    ['an empty object', '{}', 'application/json'],
    ['an empty object as FHIR', '{}', 'application/fhir+json'],
    ['unknown members', '{"extra":1}', 'application/fhir+json; charset=utf-8'],
  ])('with %s it ends the session, and a second one is 401', async (_, body, type) => {
    const { token } = await signIn()
    const headers = type === undefined ? {} : { 'content-type': type }
    const reply = await ask('/oauth2/logout', token, { method: 'POST', headers, ...(body !== undefined && { body }) })
    expect([reply.status, reply.headers['content-type'], reply.json]).toEqual([200, JSON_TYPE, OK])
    const again = await Promise.all(['/oauth2/userinfo', '/auth/me', '/fhir/R4/Patient/1'].map((path) => ask(path, token)))
    expect([...again, await postJson('/oauth2/logout', token, '{}')].map(({ status }) => status)).toEqual([401, 401, 401, 401])
  })

  it.each([
    ['{', 400],
    ['[]', 400],
    ['null', 400],
    ['"x"', 400],
    [Uint8Array.of(0x7b, 0xff, 0x7d), 400],
  ])('with a body that is not an object, the session lives on', async (body, status) => {
    const { token } = await signIn()
    expect((await postJson('/oauth2/logout', token, body)).status).toBe(status)
    expect((await ask('/auth/me', token)).status).toBe(200)
  })

  it.each(['application/x-www-form-urlencoded', 'text/plain', '', 'application/fhir+json; charset=latin1'])(
    'a body of the type %j: 415, and the session lives on',
    async (type) => {
      const { token } = await signIn()
      expect((await postJson('/oauth2/logout', token, '{}', type)).status).toBe(415)
      expect((await ask('/auth/me', token)).status).toBe(200)
    },
  )

  it('fifty at once: each 200 or 401, at least one 200, then 401', async () => {
    const { token } = await signIn()
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await postJson('/oauth2/logout', token, '{}')).status))
    expect(new Set([...statuses, 200, 401])).toEqual(new Set([200, 401]))
    expect(statuses).toContain(200)
    expect((await ask('/auth/me', token)).status).toBe(401)
  })

  it('GET is 405', async () => {
    const { token } = await signIn()
    const reply = await ask('/oauth2/logout', token)
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST'])
  })

  it('other sessions stay', async () => {
    const [one, two] = [await signIn(), await signIn()]
    await postJson('/oauth2/logout', one.token, '{}')
    expect((await ask('/auth/me', two.token)).status).toBe(200)
  })

  it('3.2 when the end cannot be stored: 503, and the token is refused all the same', async () => {
    const store = memorySessionStore()
    const full = { ...store, changeSession: () => Promise.reject(new OperationError('storage-full', 'There is no space left.')) }
    const other = await startServer({ sessions: createSessions({ store: full }) })
    const authorization = `Bearer ${other.token}`
    const ended = await send(`${other.base}/oauth2/logout`, { method: 'POST', headers: { authorization } })
    const after = await send(`${other.base}/auth/me`, { headers: { authorization } })
    await other.stop()
    expect([ended.status, at(ended.json, 'issue', 0, 'code'), ended.headers['retry-after'] !== undefined, after.status]).toEqual([
      503,
      'no-store',
      true,
      401,
    ])
  })
})

describe('revoke', () => {
  it('ends another session of the user, gone from the list, and again 200', async () => {
    const [mine, other] = [await signIn(), await signIn()]
    const body = JSON.stringify({ loginId: other.loginId })
    expect((await postJson('/auth/revoke', mine.token, body)).json).toEqual(OK)
    expect((await ask('/auth/me', other.token)).status).toBe(401)
    expect((await ask('/auth/me', mine.token)).text).not.toContain(other.loginId)
    expect((await postJson('/auth/revoke', mine.token, body)).status).toBe(200)
  })

  it('the own session: as logout', async () => {
    const { token, loginId } = await signIn()
    expect((await postJson('/auth/revoke', token, JSON.stringify({ loginId }))).status).toBe(200)
    expect((await ask('/auth/me', token)).status).toBe(401)
  })

  it('unknown and foreign ids: the same 404', async () => {
    const { token } = await signIn()
    const bob = await running.sessions.create({ user: 'bob' })
    const ids = [bob.loginId, bob.loginId.replace(/^./, 'z'), 'constructor', '__proto__', 'x'.repeat(128)]
    const replies = await Promise.all(ids.map((loginId) => postJson('/auth/revoke', token, JSON.stringify({ loginId }))))
    const shapes = replies.map(({ status, headers, text }) => {
      const { date: _date, 'x-request-id': _id, ...others } = headers
      return JSON.stringify({ status, others, text: text.replace(/"id":"[^"]+"/, '') })
    })
    expect([replies[0]!.status, new Set(shapes).size]).toEqual([404, 1])
    expect((await ask('/auth/me', bob.token)).status).toBe(200)
  })

  it('others: ends all sessions but this one', async () => {
    const user = { sub: 'carl' }
    const [mine, other] = [await running.sessions.create({ user }), await running.sessions.create({ user })]
    expect((await postJson('/auth/revoke', mine.token, '{"others":true}')).status).toBe(200)
    expect([(await ask('/auth/me', mine.token)).status, (await ask('/auth/me', other.token)).status]).toEqual([200, 401])
  })

  it.each([
    '{}',
    '{"loginId":""}',
    `{"loginId":"${'x'.repeat(129)}"}`,
    '{"loginId":5}',
    '{"loginId":null}',
    '{"loginId":["x"]}',
    '{"others":false}',
    '{"others":"true"}',
    '{"loginId":"x","others":true}',
    '{"loginId":"x","loginId":"x"}',
    '{"__proto__":{"loginId":"x"}}',
    '{"loginId":"x","constructor":1}',
    '[]',
    '"x"',
    '',
    '{',
    '{"loginId":"\\ud800"}',
    '{"loginId":"\\u0000"}',
    '['.repeat(100_000),
  ])('the body %.40j: 400', async (body) => {
    const { token } = await signIn()
    const reply = await postJson('/auth/revoke', token, body)
    expect([reply.status, at(reply.json, 'resourceType'), reply.headers['content-type']]).toEqual([
      400,
      'OperationOutcome',
      'application/fhir+json; charset=utf-8',
    ])
  })

  it('DECISIONS: a missing loginId is "required"', async () => {
    const { token } = await signIn()
    expect(at((await postJson('/auth/revoke', token, '{}')).json, 'issue', 0, 'code')).toBe('required')
  })

  it.each(['application/fhir+json', 'text/json', 'application/vnd.api+json'])('as %s, too', async (type) => {
    const [mine, other] = [await signIn(), await signIn()]
    const body = JSON.stringify({ loginId: other.loginId })
    expect((await postJson('/auth/revoke', mine.token, body, type)).json).toEqual(OK)
    expect((await ask('/auth/me', other.token)).status).toBe(401)
  })

  it('without a body: 400, as for a missing loginId', async () => {
    const { token } = await signIn()
    const reply = await ask('/auth/revoke', token, { method: 'POST' })
    expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([400, 'required'])
  })

  it.each(['text/plain', 'application/fhir+xml', 'application/x-www-form-urlencoded', '', 'application/json; charset=latin1'])(
    'the type %j: 415',
    async (type) => {
      const { token } = await signIn()
      expect((await postJson('/auth/revoke', token, '{"loginId":"x"}', type)).status).toBe(415)
    },
  )

  it('other methods: 405', async () => {
    const { token } = await signIn()
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) expect((await ask('/auth/revoke', token, { method })).status).toBe(405)
  })
})

describe('the session list', () => {
  it('shows the caller and all active sessions, newest first', async () => {
    const user = { sub: 'dora', name: 'Dora', email: 'd@example.org' }
    const first = await running.sessions.create({ user, userAgent: 'one', remoteHost: '::1' })
    const second = await running.sessions.create({ user, userAgent: 'two', remoteHost: '::2', authMethod: 'password' })
    const reply = await ask('/auth/me', second.token)
    expect(reply.headers['content-type']).toBe(JSON_TYPE)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const entry = { createdAt: time, lastUsedAt: time, expiresAt: time }
    expect(reply.json).toMatchObject({ sub: 'dora', name: 'Dora', email: 'd@example.org' })
    const sessions = at(reply.json, 'sessions') as unknown[]
    expect(sessions.length).toBe(2)
    expect(sessions).toEqual(
      expect.arrayContaining([
        { ...entry, loginId: second.loginId, userAgent: 'two', remoteHost: '::2', authMethod: 'password', current: true },
        { ...entry, loginId: first.loginId, userAgent: 'one', remoteHost: '::1', current: false },
      ]),
    )
    expect(reply.text).not.toMatch(/digest|epoch|fo_/)
  })

  it("shows nobody else's, and other methods are 405", async () => {
    const { token } = await running.sessions.create({ user: 'eve' })
    const reply = await ask('/auth/me?sub=ann', token)
    expect([at(reply.json, 'sub'), (at(reply.json, 'sessions') as unknown[]).length]).toEqual(['eve', 1])
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const refused = await ask('/auth/me', token, { method })
      expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD'])
    }
  })
})
