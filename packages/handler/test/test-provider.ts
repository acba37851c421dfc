import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import * as client from 'openid-client'
import type { IntrospectionOptions } from '../src/index.js'

export const CLIENT = { client_id: 'app', client_secret: 'a secret of the test' } as const
/** What its signed tokens are for. */
export const AUDIENCE = 'https://fhir.example'

/** An OpenID provider on the loopback interface with one client. */
export interface TestProvider {
  readonly issuer: string
  /** Where its keys are, for verifiers of signed tokens. */
  readonly keys: { readonly issuer: string; readonly jwksUri: string; readonly allowInsecureLoopback: true }
  readonly introspection: IntrospectionOptions
  /** Paths of the requests that it got. */
  readonly asked: readonly string[]
  /** Set to let it answer with this status and no JSON; 503 until it is opened. */
  broken: number | undefined
  /** Lets it answer, and tell the ends of sessions at this address. */
  open(logoutUri?: string): void
  /** What its client knows of it. */
  config(): Promise<client.Configuration>
  /** An opaque token that it has issued and keeps; `jkt` is the thumbprint of the key that it is bound to. */
  opaqueToken(token?: { readonly sub?: string; readonly sid?: string; readonly jkt?: string }): Promise<string>
  /** A refresh token that it has issued and keeps. */
  refreshToken(): Promise<string>
  /** Tells that a login, or everything of a user, has ended. */
  endLogin(sub: string, sid: string): Promise<void>
  stop(): void
}

/** @param scope The scopes that it grants. */
export async function testProvider(scope: string): Promise<TestProvider> {
  const asked: string[] = []
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'k1', alg: 'ES256', use: 'sig' }
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  let oidc = new Provider(issuer, configuration({ scope, key }))
  const provider: TestProvider = {
    issuer,
    keys: { issuer, jwksUri: `${issuer}/jwks`, allowInsecureLoopback: true },
    introspection: {
      endpoint: `${issuer}/token/introspection`,
      allowInsecureLoopback: true,
      issuer,
      clientId: CLIENT.client_id,
      clientSecret: CLIENT.client_secret,
    },
    asked,
    broken: 503,
    open(logoutUri) {
      oidc = new Provider(issuer, configuration({ scope, key, ...(logoutUri !== undefined && { logoutUri }) }))
      provider.broken = undefined
    },
    config: () =>
      client.discovery(new URL(issuer), CLIENT.client_id, CLIENT.client_secret, undefined, { execute: [client.allowInsecureRequests] }),
    async opaqueToken({ sub = 'eve', sid, jkt } = {}) {
      const app = await oidc.Client.find(CLIENT.client_id)
      const token = new oidc.AccessToken({ accountId: sub, client: app, scope, gty: 'authorization_code', sid })
      if (jkt !== undefined) token.jkt = jkt
      return token.save()
    },
    async refreshToken() {
      const app = await oidc.Client.find(CLIENT.client_id)
      return new oidc.RefreshToken({ accountId: 'eve', client: app, scope, gty: 'authorization_code' }).save()
    },
    async endLogin(sub, sid) {
      const app = await oidc.Client.find(CLIENT.client_id)
      await app?.backchannelLogout(sub, sid)
    },
    stop() {
      listener.closeAllConnections()
      listener.close()
    },
  }
  listener.on('request', (request, response) => {
    asked.push(request.url ?? '')
    if (provider.broken === undefined) return oidc.callback()(request, response)
    response.writeHead(provider.broken, { 'content-type': 'text/html' }).end('<h1>no</h1>')
  })
  return provider
}

interface Setup {
  readonly scope: string
  readonly key: object
  readonly logoutUri?: string
}

function configuration({ scope, key, logoutUri }: Setup): object {
  return {
    jwks: { keys: [key] },
    clients: [
      {
        ...CLIENT,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: 'ES256',
        ...(logoutUri !== undefined && { backchannel_logout_uri: logoutUri, backchannel_logout_session_required: true }),
      },
    ],
    scopes: [...scope.split(' '), 'offline_access'],
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
        getResourceServerInfo: () => ({ scope, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }),
      },
    },
  }
}
