import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import Provider from 'oidc-provider'
import * as client from 'openid-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { introspectionVerifier, jwtVerifier, logoutTokenVerifier, type IntrospectionOptions } from '../src/index.js'
import { send, startServer, type Reply, type RunningServer } from './running-server.js'

const SCOPE = 'openid profile patient/Patient.rs'
const CLIENT = { client_id: 'app', client_secret: 'a secret of the test' }
const AUDIENCE = 'https://fhir.example'

let listener: Server
let oidc: Provider
let issuer: string
let config: client.Configuration
let running: RunningServer
/** Requests that the provider got, by path. */
const asked: string[] = []
/** Set to let the provider fail. */
let broken: number | undefined

const introspection = (): IntrospectionOptions => ({
  endpoint: `${issuer}/token/introspection`,
  allowInsecureLoopback: true,
  issuer,
  clientId: CLIENT.client_id,
  clientSecret: CLIENT.client_secret,
})

beforeAll(async () => {
  listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const keys = { jwksUri: `${issuer}/jwks`, allowInsecureLoopback: true }
  running = await startServer({
    verifiers: [jwtVerifier({ issuer, audience: AUDIENCE, ...keys }), introspectionVerifier(introspection())],
    logoutTokens: [logoutTokenVerifier({ issuer, audience: CLIENT.client_id, algorithms: ['ES256'], ...keys })],
    dpop: {},
  })
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  oidc = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] },
    clients: [
      {
        ...CLIENT,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: 'ES256',
        backchannel_logout_uri: `${running.base}/oauth2/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    scopes: SCOPE.split(' '),
    extraTokenClaims: () => ({ patient: 'p1' }),
    // Its own dispatcher refuses addresses of the loopback interface.
    fetch: (url: string, { dispatcher: _guarded, ...options }: RequestInit & { dispatcher: unknown }) => fetch(url, options),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      revocation: { enabled: true },
      backchannelLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: SCOPE, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }),
      },
    },
  })
  const answer = oidc.callback()
  listener.on('request', (request, response) => {
    asked.push(request.url ?? '')
    if (broken === undefined) return answer(request, response)
    response.writeHead(broken, { 'content-type': 'text/html' }).end('<h1>no</h1>')
  })
  config = await client.discovery(new URL(issuer), CLIENT.client_id, CLIENT.client_secret, undefined, {
    execute: [client.allowInsecureRequests],
  })
})
afterEach(() => (broken = undefined))
afterAll(async () => {
  await running.stop()
  listener.closeAllConnections()
  listener.close()
})

/** An opaque token that the provider has issued and keeps. */
async function opaqueToken({ sub = 'eve', sid }: { readonly sub?: string; readonly sid?: string } = {}): Promise<string> {
  const token = new oidc.AccessToken({
    accountId: sub,
    client: await oidc.Client.find(CLIENT.client_id),
    scope: SCOPE,
    gty: 'authorization_code',
    sid,
  })
  return token.save()
}

const get = (path: string, token: string, scheme = 'Bearer'): Promise<Reply> =>
  send(`${running.base}${path}`, { headers: { authorization: `${scheme} ${token}` } })
const statusOf = async (token: string): Promise<number> => (await get('/oauth2/userinfo', token)).status

describe('opaque tokens of an OpenID provider, by introspection', () => {
  it('are accepted with subject, scopes and patient', async () => {
    const token = await opaqueToken()
    expect((await get('/oauth2/userinfo', token)).json).toEqual({ sub: 'eve' })
    expect((await get('/auth/me', token)).json).toMatchObject({ sessions: [{ current: true, authMethod: issuer }] })
    expect(await introspectionVerifier(introspection()).verify(token)).toMatchObject({ scopes: SCOPE.split(' '), patient: 'p1' })
  })

  it('are refused from the next request on when the provider has revoked them', async () => {
    const token = await opaqueToken()
    expect(await statusOf(token)).toBe(200)
    await client.tokenRevocation(config, token)
    expect(await statusOf(token)).toBe(401)
  })

  it('TK-20 are refused after a logout here, whatever the provider says', async () => {
    const token = await opaqueToken()
    expect((await send(`${running.base}/oauth2/logout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status).toBe(
      200,
    )
    expect(await statusOf(token)).toBe(401)
  })

  it('are asked about once when they are none', async () => {
    expect(await statusOf('no-token-at-all')).toBe(401)
    const before = asked.length
    expect([await statusOf('no-token-at-all'), asked.length]).toEqual([401, before])
  })

  it.each([500, 401, 302, 200])('TK-07 an answer %i that is none is 503, not 401', async (status) => {
    const token = await opaqueToken()
    broken = status
    const reply = await get('/oauth2/userinfo', token)
    expect([reply.status, reply.headers['retry-after'], reply.text.includes('no</h1>')]).toEqual([503, '5', false])
    broken = undefined
    expect(await statusOf(token)).toBe(200)
  })

  it('are kept for as long as is said, and no longer', async () => {
    let now = 0
    const verifier = introspectionVerifier({ ...introspection(), cacheMs: 5_000, now: () => new Date(Date.now() + now) })
    const token = await opaqueToken()
    await verifier.verify(token)
    const before = asked.length
    await verifier.verify(token)
    expect(asked.length).toBe(before)
    now = 2 * 3_600_000
    await expect(verifier.verify(token)).rejects.toMatchObject({ cause: 'expired' })
  })

  it.each([
    ['another issuer', { issuer: 'https://other.example' }],
    ['another audience', { audience: 'https://other.example' }],
  ])('of %s are refused', async (_name, change) => {
    await expect(introspectionVerifier({ ...introspection(), ...change }).verify(await opaqueToken())).rejects.toMatchObject({
      cause: 'claims',
    })
  })

  it.each([{ endpoint: 'http://issuer.example/' }, { cacheMs: 5_001 }, { clockTolerance: 301 }])('%j is no option', (change) => {
    expect(() => introspectionVerifier({ ...introspection(), ...change })).toThrow(TypeError)
  })

  it('are not asked about when they are signed or our own', () => {
    const verifier = introspectionVerifier(introspection())
    const [header, payload] = [{ alg: 'ES256' }, { iss: 'x' }].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    expect(['opaque', `${header}.${payload}.x`, running.token, 'x'.repeat(8_193)].map((token) => verifier.claims(token))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
})

describe('BC-01 back-channel logout by an OpenID provider', () => {
  it('ends the session of the login that it names, and leaves the others', async () => {
    const [ended, other] = [await opaqueToken({ sid: 's1' }), await opaqueToken({ sid: 's2' })]
    expect([await statusOf(ended), await statusOf(other)]).toEqual([200, 200])
    const app = await oidc.Client.find(CLIENT.client_id)
    await app?.backchannelLogout('eve', 's1')
    expect([await statusOf(ended), await statusOf(other)]).toEqual([401, 200])
  })

  it('ends all of the user when nothing is known of that login', async () => {
    const token = await opaqueToken({ sub: 'bob' })
    const { token: own } = await running.sessions.create({ user: 'bob' })
    expect([await statusOf(token), await statusOf(own)]).toEqual([200, 200])
    const app = await oidc.Client.find(CLIENT.client_id)
    await app?.backchannelLogout('bob', 'never-seen')
    expect([await statusOf(token), await statusOf(own)]).toEqual([401, 401])
  })

  it('of a user that nobody knows succeeds', async () => {
    const app = await oidc.Client.find(CLIENT.client_id)
    await expect(app?.backchannelLogout('nobody', 'never-seen')).resolves.toBeUndefined()
  })
})

describe('BC-01 a logout token', () => {
  const ISSUER = 'https://issuer.example'
  let key: CryptoKey
  let server: RunningServer
  beforeAll(async () => {
    const pair = await generateKeyPair('ES256', { extractable: true })
    key = pair.privateKey
    const jwk: JWK = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }
    server = await startServer({ logoutTokens: [logoutTokenVerifier({ issuer: ISSUER, audience: 'us', keys: [jwk] })] })
  })
  afterAll(() => server.stop())

  const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const mint = (change: Record<string, unknown> = {}, typ = 'logout+jwt'): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: ISSUER, aud: 'us', iat: now, exp: now + 120, jti: crypto.randomUUID(), sub: 'ann', events: EVENTS, ...change }
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ, kid: 'k1' }).sign(key)
  }
  const post = (body: string, type = 'application/x-www-form-urlencoded'): Promise<Reply> =>
    send(`${server.base}/oauth2/backchannel-logout`, { method: 'POST', headers: { 'content-type': type }, body })

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

  const now = Math.floor(Date.now() / 1_000)
  it.each<[string, Record<string, unknown>, string?]>([
    ['without event', { events: undefined }],
    ['with another event', { events: { other: {} } }],
    ['with a nonce', { nonce: 'x' }],
    ['without subject and session', { sub: undefined }],
    ['without id', { jti: undefined }],
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
    expect([(await post(`logout_token=${token}&logout_token=${token}`)).status, (await post('{}', 'application/json')).status]).toEqual([
      400, 415,
    ])
  })
})

describe('DP-01 tokens that are bound to a key', () => {
  let handle: client.DPoPHandle
  let token: string
  let pair: Awaited<ReturnType<typeof client.randomDPoPKeyPair>>
  beforeAll(async () => {
    pair = await client.randomDPoPKeyPair('ES256', { extractable: true })
    handle = client.getDPoPHandle(config, pair)
    token = (await client.clientCredentialsGrant(config, { scope: SCOPE, resource: AUDIENCE }, { DPoP: handle })).access_token
  })

  const URI = (): string => `${running.base}/oauth2/userinfo`
  async function proof(
    change: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
    key: CryptoKey = pair.privateKey,
  ): Promise<string> {
    const ath = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(token))).toString('base64url')
    const claims = { htm: 'GET', htu: URI(), ath, jti: crypto.randomUUID(), iat: Math.floor(Date.now() / 1_000), ...change }
    const jwk = await exportJWK(pair.publicKey)
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header }).sign(key)
  }
  const withProof = (dpop: string | string[], scheme = 'DPoP'): Promise<Reply> =>
    send(`${URI()}?x=1`, { headers: { authorization: `${scheme} ${token}`, dpop } })

  it('are accepted with the proof that a client makes', async () => {
    const fetched = await client.fetchProtectedResource(config, token, new URL(URI()), 'GET', undefined, undefined, { DPoP: handle })
    expect([fetched.status, await fetched.json()]).toEqual([200, { sub: 'app' }])
    expect((await withProof(await proof())).status).toBe(200)
  })

  it('are refused without it: the scheme Bearer is no way around', async () => {
    const replies = await Promise.all([
      get('/oauth2/userinfo', token),
      get('/oauth2/userinfo', token, 'DPoP'),
      withProof(await proof(), 'Bearer'),
    ])
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401])
    const challenges = replies[0]?.headers['www-authenticate'] ?? ''
    expect([challenges.includes('error="invalid_token"'), challenges.includes('DPoP algs="ES256 EdDSA"')]).toEqual([true, true])
  })

  it('are refused with a proof that was used', async () => {
    const used = await proof()
    expect([(await withProof(used)).status, (await withProof(used)).status]).toEqual([200, 401])
  })

  it('are refused with a proof that was used at another instance with the same sessions', async () => {
    const { sessions } = running
    const verifiers = [jwtVerifier({ issuer, audience: AUDIENCE, jwksUri: `${issuer}/jwks`, allowInsecureLoopback: true })]
    const other = await startServer({ sessions, verifiers, dpop: {}, baseUrl: running.base })
    const used = await proof()
    const there = await send(`${other.base}/oauth2/userinfo`, { headers: { authorization: `DPoP ${token}`, dpop: used } })
    expect([there.status, (await withProof(used)).status]).toEqual([200, 401])
    await other.stop()
  })

  const now = Math.floor(Date.now() / 1_000)
  it.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ['for another method', { htm: 'POST' }],
    ['for another address', { htu: 'https://other.example/oauth2/userinfo' }],
    ['for another path', { htu: 'http://127.0.0.1/oauth2' }],
    ['for another token', { ath: 'x' }],
    ['without token', { ath: undefined }],
    ['without id', { jti: undefined }],
    ['that is old', { iat: now - 100 }],
    ['of the future', { iat: now + 100 }],
    ['without time', { iat: undefined }],
    ['of another type', {}, { typ: 'JWT' }],
    ['without key', {}, { jwk: undefined }],
    ['with extensions', {}, { crit: ['x'], x: 1 }],
  ])('are refused with a proof %s', async (_name, change, header) => {
    const made = await proof(change, header).catch(async () => `${(await proof(change)).slice(0, -4)}AAAA`)
    expect((await withProof(made)).status).toBe(401)
  })

  it('are refused with the proof of another key', async () => {
    const other = await client.randomDPoPKeyPair('ES256', { extractable: true })
    const [foreign, mixed] = [
      await proof({}, { jwk: await exportJWK(other.publicKey) }, other.privateKey),
      await proof({}, {}, other.privateKey),
    ]
    expect([(await withProof(foreign)).status, (await withProof(mixed)).status]).toEqual([401, 401])
  })

  it('and their proofs are given once', async () => {
    expect((await withProof([await proof(), await proof()])).status).toBe(400)
  })

  it('are the only ones that the scheme DPoP takes', async () => {
    const ath = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(running.token))).toString('base64url')
    const reply = await send(URI(), { headers: { authorization: `DPoP ${running.token}`, dpop: await proof({ ath }) } })
    expect(reply.status).toBe(401)
  })

  it('are known by introspection, too', async () => {
    const opaque = new oidc.AccessToken({
      accountId: 'ann',
      client: await oidc.Client.find(CLIENT.client_id),
      scope: SCOPE,
      gty: 'authorization_code',
    })
    opaque.jkt = await calculateJwkThumbprint(await exportJWK(pair.publicKey))
    token = await opaque.save()
    expect([await statusOf(token), (await withProof(await proof())).status]).toEqual([401, 200])
  })

  it('are unknown where no proofs are taken', async () => {
    const plain = await startServer()
    const reply = await send(`${plain.base}/auth/me`, { headers: { authorization: `DPoP ${token}`, dpop: await proof() } })
    await plain.stop()
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, 'Bearer realm="fhir-ops"'])
  })
})
