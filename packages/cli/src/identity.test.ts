import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import Provider from 'oidc-provider'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identityOf } from './identity.js'
import { serve, type RunningServer, type ServeOptions } from './serve.js'

const CLIENT = { client_id: 'fhir', client_secret: 'a secret of the test' }
const AUDIENCE = 'https://fhir.example'
const SCOPE = 'openid user/Patient.rs'
const QUIET = { out: () => {}, err: () => {}, stdin: async () => '' }

let listener: Server
let issuer: string
let oidc: Provider
let server: RunningServer
let proofKey: { readonly key: CryptoKey; readonly jwk: JWK }

beforeAll(async () => {
  listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  listener.on('request', (request, response) => oidc.callback()(request, response))
  oidc = await provider('http://127.0.0.1:9/unused')
  server = await serve(
    { ...OPTIONS, issuer, audience: AUDIENCE, clientId: CLIENT.client_id, clientSecret: CLIENT.client_secret, dpop: true },
    QUIET,
  )
  oidc = await provider(`${server.url}/oauth2/backchannel-logout`)
  const pair = await generateKeyPair('ES256', { extractable: true })
  proofKey = { key: pair.privateKey, jwk: await exportJWK(pair.publicKey) }
})
afterAll(async () => {
  await server.close()
  listener.closeAllConnections()
  listener.close()
})

const OPTIONS: ServeOptions = { host: '127.0.0.1', port: 0, storage: 'memory', load: [] }

let signingKey: JWK | undefined

async function provider(logoutUri: string): Promise<Provider> {
  signingKey ??= {
    ...(await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)),
    kid: 'k1',
    alg: 'ES256',
    use: 'sig',
  }
  return new Provider(issuer, {
    jwks: { keys: [signingKey] },
    clients: [
      {
        ...CLIENT,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: 'ES256',
        backchannel_logout_uri: logoutUri,
        backchannel_logout_session_required: true,
      },
    ],
    scopes: SCOPE.split(' '),
    // Its own dispatcher refuses addresses of the loopback interface.
    fetch: (url: string, { dispatcher: _guarded, ...options }: RequestInit & { dispatcher: unknown }) => fetch(url, options),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      backchannelLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: SCOPE, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }),
      },
    },
  })
}

async function opaqueToken(bound: { readonly jkt?: string; readonly sid?: string } = {}): Promise<string> {
  const token = new oidc.AccessToken({
    accountId: 'eve',
    client: await oidc.Client.find(CLIENT.client_id),
    scope: SCOPE,
    gty: 'authorization_code',
    sid: bound.sid,
  })
  if (bound.jkt !== undefined) token.jkt = bound.jkt
  return token.save()
}

const ask = (authorization: string, headers: Record<string, string> = {}, path = '/fhir/R4/Patient'): Promise<Response> =>
  fetch(`${server.url}${path}`, { headers: { authorization, ...headers } })

describe('serve --issuer', () => {
  test('takes signed tokens of the provider for its audience', async () => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'user/Patient.rs', resource: AUDIENCE })
    const authorization = `Basic ${btoa(`${CLIENT.client_id}:${encodeURIComponent(CLIENT.client_secret)}`)}`
    const answer: unknown = await (await fetch(`${issuer}/token`, { method: 'POST', headers: { authorization }, body })).json()
    const token = String(Reflect.get(Object(answer), 'access_token'))
    expect((await ask(`Bearer ${token}`)).status).toBe(200)
    expect((await ask(`Bearer ${token.slice(0, -4)}AAAA`)).status).toBe(401)
  })

  test('asks the provider about opaque tokens, and takes what it grants', async () => {
    const token = await opaqueToken()
    expect((await ask(`Bearer ${token}`)).status).toBe(200)
    expect((await ask(`Bearer ${token}`, {}, '/fhir/R4/Observation')).status).toBe(403)
    expect((await ask('Bearer unknown')).status).toBe(401)
  })

  test('BC-01 ends the sessions that the provider says have ended', async () => {
    const token = await opaqueToken({ sid: 's1' })
    expect((await ask(`Bearer ${token}`)).status).toBe(200)
    const client = await oidc.Client.find(CLIENT.client_id)
    await client?.backchannelLogout('eve', 's1')
    expect((await ask(`Bearer ${token}`)).status).toBe(401)
  })

  test('DP-01 takes a token that is bound to a key with a proof of it only', async () => {
    const token = await opaqueToken({ jkt: await calculateJwkThumbprint(proofKey.jwk) })
    const ath = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(token))).toString('base64url')
    const dpop = await new SignJWT({ htm: 'GET', htu: `${server.url}/fhir/R4/Patient`, ath, jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: proofKey.jwk })
      .setIssuedAt()
      .sign(proofKey.key)
    const statuses = [(await ask(`DPoP ${token}`, { dpop })).status, (await ask(`DPoP ${token}`, { dpop })).status]
    expect([...statuses, (await ask(`Bearer ${token}`)).status]).toEqual([200, 401, 401])
  })

  test('tells an issuer that cannot be asked', async () => {
    const absent = { issuer: 'http://127.0.0.1:9', audience: AUDIENCE }
    await expect(serve({ ...OPTIONS, ...absent }, QUIET)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test.each([{ issuer: 'https://issuer.example' }, { audience: AUDIENCE }, { clientId: 'fhir' }, { dpop: true }])(
    'refuses options that do nothing: %j',
    async (options) => expect(identityOf(options)).rejects.toMatchObject({ code: 'parameter-value' }),
  )
})
