import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

/** The public client that a page is. */
export const APP = 'app'
/** What its tokens are for, and may do. */
export const AUDIENCE = 'https://fhir.example'
export const GRANTED = 'openid fhirUser launch/patient offline_access patient/*.rs'

/** An OpenID provider on the loopback interface, at which a user is logged in as soon as a page asks for it. */
export interface SmartProvider {
  readonly issuer: string
  stop(): void
}

/** @param app Address of the page to which the user comes back. @param launch What is said beside a token: the patient that the user has chosen. */
export async function smartProvider(app: string, launch: object): Promise<SmartProvider> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'k1', alg: 'ES256', use: 'sig' }
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configuration(app, key, launch))
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.path === '/token') ctx.body = { ...ctx.body, ...launch, scope: GRANTED }
  })
  const answer = provider.callback()
  listener.on('request', (request, response) => {
    if (!String(request.url).startsWith('/interaction/')) return answer(request, response)
    void provider.interactionFinished(request, response, { login: { accountId: 'ann' } })
  })
  const stop = (): void => {
    listener.closeAllConnections()
    listener.close()
  }
  return { issuer, stop }
}

function configuration(app: string, key: object, launch: object): object {
  return {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: APP,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [app],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    scopes: GRANTED.split(' '),
    claims: { openid: ['sub', 'fhirUser'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of the test'] },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, fhirUser: 'Practitioner/ann' }) }),
    clientBasedCORS: () => true,
    issueRefreshToken: () => true,
    extraTokenClaims: () => launch,
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }: GrantContext): Promise<object> {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope(GRANTED)
      grant.addResourceScope(AUDIENCE, GRANTED)
      await grant.save()
      return grant
    },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        // SMART names the server by `aud`, which this provider does not know.
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: GRANTED, audience: AUDIENCE, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }),
      },
    },
  }
}

interface Grant {
  addOIDCScope(scope: string): void
  addResourceScope(resource: string, scope: string): void
  save(): Promise<string>
}

interface GrantContext {
  readonly oidc: {
    readonly provider: { readonly Grant: new (of: object) => Grant }
    readonly client: { readonly clientId: string }
    readonly session: { readonly accountId: string }
  }
}
