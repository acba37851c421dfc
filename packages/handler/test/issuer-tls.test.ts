import { describe, expect, it } from 'vitest'
import { TLS_FAULTS } from '../../../test/tls-faults.js'
import { discoverIssuer, introspectionVerifier, jwtVerifier, logoutTokenVerifier } from '../src/index.js'

const ISSUER = 'https://issuer.example'
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const signed = (typ: string, claims: object): string => `${part({ alg: 'ES256', typ })}.${part({ iss: ISSUER, ...claims })}.AAAA`

describe('an issuer', () => {
  it.each(TLS_FAULTS)('cannot be asked where it %s: 503, not 401', async (_, start) => {
    const { origin, stop } = await start()
    const keys = { issuer: ISSUER, audience: 'x', jwksUri: `${origin}/jwks` }
    const introspection = { issuer: ISSUER, endpoint: `${origin}/introspect`, clientId: 'me', clientSecret: 'my-secret' }
    const asked = [
      jwtVerifier(keys).verify(signed('at+jwt', {})),
      introspectionVerifier(introspection).verify('opaque'),
      logoutTokenVerifier(keys).verify(signed('logout+jwt', {}), { isNew: () => true }),
      discoverIssuer(origin),
    ]
    for (const failure of await Promise.allSettled(asked)) {
      expect(failure).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
      expect(String((failure as PromiseRejectedResult).reason)).not.toMatch(/certificate|SSL|TLS|ECONN|my-secret/i)
    }
    await stop()
  })
})
