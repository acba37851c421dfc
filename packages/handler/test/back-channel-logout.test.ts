import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import { OperationError } from 'fhir-ops/errors'
import { memorySessionStore } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { introspectionVerifier, logoutTokenVerifier, type LogoutTokenVerifier } from '../src/index.js'
import { send, startServer, userInfo, type Reply, type RunningServer } from './running-server.js'
import { CLIENT, testProvider, type TestProvider } from './test-provider.js'

const SCOPE = 'openid profile patient/Patient.rs'

let provider: TestProvider
let running: RunningServer

beforeAll(async () => {
  provider = await testProvider(SCOPE)
  running = await startServer({
    verifiers: [introspectionVerifier(provider.introspection)],
    logoutTokens: [logoutTokenVerifier({ ...provider.keys, audience: CLIENT.client_id, algorithms: ['ES256'] })],
  })
  provider.open(`${running.base}/oauth2/backchannel-logout`)
})
afterAll(async () => {
  await running.stop()
  provider.stop()
})

const statusOf = async (token: string): Promise<number> => (await userInfo(running, token)).status

describe('back-channel logout by an OpenID provider', () => {
  it('ends the session of the login that it names, and leaves the others', async () => {
    const [ended, other] = [await provider.opaqueToken({ sid: 's1' }), await provider.opaqueToken({ sid: 's2' })]
    expect([await statusOf(ended), await statusOf(other)]).toEqual([200, 200])
    await provider.endLogin('eve', 's1')
    expect([await statusOf(ended), await statusOf(other)]).toEqual([401, 200])
  })

  it('ends all of the user when nothing is known of that login', async () => {
    const token = await provider.opaqueToken({ sub: 'bob' })
    const { token: own } = await running.sessions.create({ user: 'bob' })
    expect([await statusOf(token), await statusOf(own)]).toEqual([200, 200])
    await provider.endLogin('bob', 'never-seen')
    expect([await statusOf(token), await statusOf(own)]).toEqual([401, 401])
  })

  it('of a user that nobody knows succeeds', async () => {
    await expect(provider.endLogin('nobody', 'never-seen')).resolves.toBeUndefined()
  })
})

describe('a logout token', () => {
  const ISSUER = 'https://issuer.example'
  let key: CryptoKey
  let jwk: JWK
  let server: RunningServer
  beforeAll(async () => {
    const pair = await generateKeyPair('ES256', { extractable: true })
    key = pair.privateKey
    jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }
    server = await startServer({ logoutTokens: [verifier()] })
  })
  afterAll(() => server.stop())

  const verifier = (): LogoutTokenVerifier => logoutTokenVerifier({ issuer: ISSUER, audience: 'us', keys: [jwk] })
  const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const mint = (change: Record<string, unknown> = {}, typ = 'logout+jwt'): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: ISSUER, aud: 'us', iat: now, exp: now + 120, jti: crypto.randomUUID(), sub: 'ann', events: EVENTS, ...change }
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ, kid: 'k1' }).sign(key)
  }
  const post = (body: string, { type = 'application/x-www-form-urlencoded', at = server } = {}): Promise<Reply> =>
    send(`${at.base}/oauth2/backchannel-logout`, { method: 'POST', headers: { 'content-type': type }, body })

  it('is taken once', async () => {
    const token = await mint()
    const [first, second] = [await post(`logout_token=${token}`), await post(`logout_token=${token}`)]
    expect([first.status, first.headers['cache-control'], second.status]).toEqual([200, 'no-store', 400])
    expect(
      await server.sessions.verify(server.token).then(
        () => 'accepted',
        () => 'refused',
      ),
    ).toBe('refused')
  })

  it('is taken once by all instances with the same sessions', async () => {
    const token = await mint({ sub: 'nobody' })
    const other = await startServer({ sessions: server.sessions, logoutTokens: [verifier()] })
    const [there, here] = [await post(`logout_token=${token}`, { at: other }), await post(`logout_token=${token}`)]
    await other.stop()
    expect([there.status, here.status]).toEqual([200, 400])
  })

  it.each(['user', 'raiseEpoch', 'useOnce'] as const)(
    'is accepted again if the sessions could not be ended, when %s failed',
    async (method) => {
      const store = memorySessionStore()
      let isAway = true
      const failing = async (...input: never[]): Promise<unknown> => {
        if (isAway) throw new OperationError('storage-full', 'There is no space left.')
        return (store[method] as (...input: never[]) => Promise<unknown>)(...input)
      }
      const inner = createSessions({ store: { ...store, [method]: failing } })
      const { token: signedIn } = await createSessions({ store }).create({ user: 'zoe' })
      const other = await startServer({ sessions: { ...inner, create: running.sessions.create }, logoutTokens: [verifier()] })
      const token = await mint({ sub: 'zoe' })
      const refused = await post(`logout_token=${token}`, { at: other })
      isAway = false
      const [accepted, repeated] = [await post(`logout_token=${token}`, { at: other }), await post(`logout_token=${token}`, { at: other })]
      await other.stop()
      expect([refused.status, accepted.status, repeated.status]).toEqual([503, 200, 400])
      await expect(createSessions({ store }).verify(signedIn)).rejects.toMatchObject({ code: 'token-invalid' })
    },
  )

  it('counts as used at once with replays that cannot be asked', async () => {
    const seen = new Set<string>()
    const replays = { isNew: (key: string) => !seen.has(key) && seen.add(key).has(key) }
    const other = await startServer({ logoutTokens: [logoutTokenVerifier({ issuer: ISSUER, audience: 'us', keys: [jwk], replays })] })
    const token = await mint({ sub: 'nobody' })
    const statuses = [await post(`logout_token=${token}`, { at: other }), await post(`logout_token=${token}`, { at: other })]
    await other.stop()
    expect(statuses.map(({ status }) => status)).toEqual([200, 400])
  })

  const now = Math.floor(Date.now() / 1_000)
  it.each<[string, Record<string, unknown>, string?]>([
    ['without event', { events: undefined }],
    ['with another event', { events: { other: {} } }],
    ['with a nonce', { nonce: 'x' }],
    ['without subject and session', { sub: undefined }],
    ['without id', { jti: undefined }],
    ['with an empty id', { jti: '' }],
    ['whose id is a number', { jti: 5 }],
    ['whose id is an object', { jti: {} }],
    ['without expiry', { exp: undefined }],
    ['that is expired', { exp: now - 60 }],
    ['that is old', { iat: now - 200 }],
    ['of the future', { iat: now + 200 }],
    ['for another client', { aud: 'them' }],
    ['of another issuer', { iss: 'https://other.example' }],
    ['of another type', {}, 'at+jwt'],
    ['without a type of its own', {}, 'JWT'],
  ])('%s is refused like all others', async (_name, change, typ) => {
    const reply = await post(`logout_token=${await mint(change, typ)}`)
    expect([reply.status, reply.json]).toEqual([400, { error: 'invalid_request', error_description: 'The logout token is not valid.' }])
  })

  it.each([
    ['', 400],
    ['logout_token=x', 400],
    ['other=x', 400],
  ])('%j is %i', async (body, status) => expect((await post(body)).status).toBe(status))

  it('is given once, in a form', async () => {
    const token = await mint()
    expect([
      (await post(`logout_token=${token}&logout_token=${token}`)).status,
      (await post('{}', { type: 'application/json' })).status,
    ]).toEqual([400, 415])
  })
})
