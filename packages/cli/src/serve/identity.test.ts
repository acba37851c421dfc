import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AUDIENCE, CLIENT, testProvider, type TestProvider } from '../../../handler/test/test-provider.js'
import { identityOf } from './identity.js'
import { serve, type RunningServer, type ServeOptions } from './service.js'

const SCOPE = 'openid user/Patient.rs'
const OPTIONS: ServeOptions = { host: '127.0.0.1', port: 0, storage: 'memory', load: [] }

let provider: TestProvider
let server: RunningServer
let proofKey: { readonly key: CryptoKey; readonly jwk: JWK }
const told: string[] = []
const io = { out: () => {}, err: (line: string) => void told.push(line), stdin: async () => '' }

beforeAll(async () => {
  provider = await testProvider(SCOPE)
  const { client_id: clientId, client_secret: clientSecret } = CLIENT
  server = await serve({ ...OPTIONS, issuer: provider.issuer, audience: AUDIENCE, clientId, clientSecret, dpop: true }, io)
  const pair = await generateKeyPair('ES256', { extractable: true })
  proofKey = { key: pair.privateKey, jwk: await exportJWK(pair.publicKey) }
})
afterAll(async () => {
  await server.close()
  provider.stop()
})

const ask = (authorization: string, headers: Record<string, string> = {}, path = '/fhir/R4/Patient'): Promise<Response> =>
  fetch(`${server.url}${path}`, { headers: { authorization, ...headers } })

describe('serve --issuer', () => {
  test('starts before the provider does, says so, and is ready as soon as that answers', async () => {
    const readiness = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status
    expect([told.join(), await readiness(), (await ask('Bearer unknown')).status]).toEqual([
      expect.stringContaining(`the issuer '${provider.issuer}'`),
      503,
      503,
    ])
    provider.open(`${server.url}/oauth2/backchannel-logout`)
    expect([await readiness(), (await ask('Bearer unknown')).status]).toEqual([200, 401])
  })

  test('tells clients where tokens come from', async () => {
    const documents = ['smart-configuration', 'openid-configuration', 'oauth-authorization-server'].map((name) => `/.well-known/${name}`)
    const token_endpoint = `${provider.issuer}/token`
    for (const document of documents)
      expect(await (await fetch(server.url + document)).json()).toMatchObject({ issuer: provider.issuer, token_endpoint })
  })

  test('takes signed tokens of the provider for its audience', async () => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'user/Patient.rs', resource: AUDIENCE })
    const authorization = `Basic ${btoa(`${CLIENT.client_id}:${encodeURIComponent(CLIENT.client_secret)}`)}`
    const answer: unknown = await (await fetch(`${provider.issuer}/token`, { method: 'POST', headers: { authorization }, body })).json()
    const token = String(Reflect.get(Object(answer), 'access_token'))
    expect((await ask(`Bearer ${token}`)).status).toBe(200)
    expect((await ask(`Bearer ${token.slice(0, -4)}AAAA`)).status).toBe(401)
  })

  test('asks the provider about opaque tokens, and takes what it grants', async () => {
    const token = await provider.opaqueToken()
    expect((await ask(`Bearer ${token}`)).status).toBe(200)
    expect((await ask(`Bearer ${token}`, {}, '/fhir/R4/Observation')).status).toBe(403)
    expect((await ask('Bearer unknown')).status).toBe(401)
  })

  test('ends the sessions that the provider says have ended', async () => {
    const token = await provider.opaqueToken({ sid: 's1' })
    expect((await ask(`Bearer ${token}`)).status).toBe(200)
    await provider.endLogin('eve', 's1')
    expect((await ask(`Bearer ${token}`)).status).toBe(401)
  })

  test('takes a token that is bound to a key with a proof of it only', async () => {
    const token = await provider.opaqueToken({ jkt: await calculateJwkThumbprint(proofKey.jwk) })
    const ath = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(token))).toString('base64url')
    const dpop = await new SignJWT({ htm: 'GET', htu: `${server.url}/fhir/R4/Patient`, ath, jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: proofKey.jwk })
      .setIssuedAt()
      .sign(proofKey.key)
    const statuses = [(await ask(`DPoP ${token}`, { dpop })).status, (await ask(`DPoP ${token}`, { dpop })).status]
    expect([...statuses, (await ask(`Bearer ${token}`)).status]).toEqual([200, 401, 401])
  })

  test.each([{ issuer: 'https://issuer.example' }, { audience: AUDIENCE }, { clientId: 'fhir' }, { dpop: true }])(
    'refuses options that do nothing: %j',
    async (options) => expect(identityOf(options, io)).rejects.toMatchObject({ code: 'parameter-value' }),
  )
})
