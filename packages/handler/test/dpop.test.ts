import { calculateJwkThumbprint, exportJWK, SignJWT, type CryptoKey } from 'jose'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { introspectionVerifier, jwtVerifier, type TokenVerifier } from '../src/index.js'
import { send, startServer, userInfo, type Reply, type RunningServer } from './running-server.js'
import { AUDIENCE, testProvider, type TestProvider } from './test-provider.js'

const SCOPE = 'openid profile patient/Patient.rs'

let provider: TestProvider
let running: RunningServer

const verifiers = (): TokenVerifier[] => [
  jwtVerifier({ ...provider.keys, audience: AUDIENCE }),
  introspectionVerifier(provider.introspection),
]

beforeAll(async () => {
  provider = await testProvider(SCOPE)
  running = await startServer({ verifiers: verifiers(), dpop: {} })
  provider.open()
})
afterAll(async () => {
  await running.stop()
  provider.stop()
})

const statusOf = async (token: string): Promise<number> => (await userInfo(running, token)).status

describe('tokens that are bound to a key', () => {
  let config: client.Configuration
  let handle: client.DPoPHandle
  let token: string
  let pair: Awaited<ReturnType<typeof client.randomDPoPKeyPair>>
  beforeAll(async () => {
    config = await provider.config()
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

  it('are refused without it: the scheme Bearer is not a way around', async () => {
    const replies = await Promise.all([userInfo(running, token), userInfo(running, token, 'DPoP'), withProof(await proof(), 'Bearer')])
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
    const other = await startServer({ sessions, verifiers: verifiers(), dpop: {}, baseUrl: running.base })
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
    const signed = token
    token = await provider.opaqueToken({ sub: 'ann', jkt: await calculateJwkThumbprint(await exportJWK(pair.publicKey)) })
    expect([await statusOf(token), (await withProof(await proof())).status]).toEqual([401, 200])
    token = signed
  })

  it('are unknown where no proofs are taken', async () => {
    const plain = await startServer()
    const reply = await send(`${plain.base}/auth/me`, { headers: { authorization: `DPoP ${token}`, dpop: await proof() } })
    await plain.stop()
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, 'Bearer realm="fhir-ops"'])
  })
})
