import * as client from 'openid-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { introspectionVerifier } from '../src/index.js'
import { send, startServer, userInfo, type RunningServer } from './running-server.js'
import { testProvider, type TestProvider } from './test-provider.js'

const SCOPE = 'openid profile patient/Patient.rs'

let provider: TestProvider
let running: RunningServer

beforeAll(async () => {
  provider = await testProvider(SCOPE)
  running = await startServer({ verifiers: [introspectionVerifier(provider.introspection)] })
  provider.open()
})
afterEach(() => (provider.broken = undefined))
afterAll(async () => {
  await running.stop()
  provider.stop()
})

const statusOf = async (token: string): Promise<number> => (await userInfo(running, token)).status

describe('opaque tokens of an OpenID provider, by introspection', () => {
  it('are accepted with subject, scopes and patient', async () => {
    const token = await provider.opaqueToken()
    expect((await userInfo(running, token)).json).toEqual({ sub: 'eve' })
    expect((await send(`${running.base}/auth/me`, { headers: { authorization: `Bearer ${token}` } })).json).toMatchObject({
      sessions: expect.arrayContaining([expect.objectContaining({ current: true, authMethod: provider.issuer })]) as object[],
    })
    expect(await introspectionVerifier(provider.introspection).verify(token)).toMatchObject({ scopes: SCOPE.split(' '), patient: 'p1' })
  })

  it('are refused from the next request on when the provider has revoked them', async () => {
    const token = await provider.opaqueToken()
    expect(await statusOf(token)).toBe(200)
    await client.tokenRevocation(await provider.config(), token)
    expect(await statusOf(token)).toBe(401)
  })

  it('are refused after a logout here, whatever the provider says', async () => {
    const token = await provider.opaqueToken()
    expect((await send(`${running.base}/oauth2/logout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status).toBe(
      200,
    )
    expect(await statusOf(token)).toBe(401)
  })

  it('are refused when they are refresh tokens, which are active, too', async () => {
    const token = await provider.refreshToken()
    expect(await statusOf(token)).toBe(401)
    expect(await introspectionVerifier({ ...provider.introspection, allowUntyped: true }).verify(token)).toMatchObject({ sub: 'eve' })
  })

  it('are asked about once when they are none', async () => {
    expect(await statusOf('no-token-at-all')).toBe(401)
    const before = provider.asked.length
    expect([await statusOf('no-token-at-all'), provider.asked.length]).toEqual([401, before])
  })

  it.each([500, 401, 302, 200])('an answer %i that is none is 503, not 401', async (status) => {
    const token = await provider.opaqueToken()
    provider.broken = status
    const reply = await userInfo(running, token)
    expect([reply.status, reply.headers['retry-after'], reply.text.includes('no</h1>')]).toEqual([503, '5', false])
    provider.broken = undefined
    expect(await statusOf(token)).toBe(200)
  })

  it('are kept for as long as is said, and no longer', async () => {
    let now = 0
    const verifier = introspectionVerifier({ ...provider.introspection, cacheMs: 5_000, now: () => new Date(Date.now() + now) })
    const token = await provider.opaqueToken()
    await verifier.verify(token)
    const before = provider.asked.length
    await verifier.verify(token)
    expect(provider.asked.length).toBe(before)
    now = 2 * 3_600_000
    await expect(verifier.verify(token)).rejects.toMatchObject({ cause: 'expired' })
  })

  it.each([
    ['another issuer', { issuer: 'https://other.example' }],
    ['another audience', { audience: 'https://other.example' }],
  ])('of %s are refused', async (_name, change) => {
    await expect(
      introspectionVerifier({ ...provider.introspection, ...change }).verify(await provider.opaqueToken()),
    ).rejects.toMatchObject({
      cause: 'claims',
    })
  })

  it.each([{ endpoint: 'http://issuer.example/' }, { cacheMs: 5_001 }, { clockTolerance: 301 }])('%j is not an option', (change) => {
    expect(() => introspectionVerifier({ ...provider.introspection, ...change })).toThrow(TypeError)
  })

  it('are not asked about when they are signed or our own', () => {
    const verifier = introspectionVerifier(provider.introspection)
    const [header, payload] = [{ alg: 'ES256' }, { iss: 'x' }].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    expect(['opaque', `${header}.${payload}.x`, running.token, 'x'.repeat(8_193)].map((token) => verifier.claims(token))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
})
