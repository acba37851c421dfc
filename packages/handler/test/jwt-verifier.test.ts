import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { OperationError } from 'fhir-ops/errors'
import { rejectionReason } from 'fhir-ops/internal/sessions'
import { CompactSign, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jwtVerifier, type JwtVerifierOptions } from '../src/index.js'
import { keySet, remoteKeys } from '../src/auth/issuer-keys.js'
import { signedPayload } from '../src/auth/jwt-verifier.js'
import { comparableMs } from '../../../test/processor-time.js'

const ISSUER = 'https://issuer.example'
const AUDIENCE = 'https://fhir.example'
const NOW = Date.UTC(2026, 0, 1)
const SECONDS = NOW / 1_000

let privateKey: CryptoKey
let publicJwk: JWK
beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true })
  privateKey = pair.privateKey
  publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }
})

/** With the `s` of an ECDSA signature, its difference to the order of the curve is valid, too. */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

const verifier = (change: Partial<Record<string, unknown>> = {}): ReturnType<typeof jwtVerifier> =>
  jwtVerifier({ issuer: ISSUER, audience: AUDIENCE, keys: [publicJwk], now: () => new Date(NOW), ...change })

interface Minting {
  readonly claims?: Record<string, unknown>
  readonly header?: Record<string, unknown>
  readonly key?: CryptoKey | Uint8Array
}

function mint({ claims = {}, header = {}, key = privateKey }: Minting = {}): Promise<string> {
  const payload = {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'ann',
    iat: SECONDS,
    exp: SECONDS + 60,
    jti: 'j1',
    scope: 'openid user/Patient.r',
    ...claims,
  }
  return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...header }).sign(key)
}

const part = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

async function outcomeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => 'accepted',
    (caught: unknown) => caught,
  )
  if (error === 'accepted') return 'accepted'
  return rejectionReason(error) ?? (error instanceof OperationError ? error.code : String(error))
}

describe('a signed token', () => {
  it('is read with subject, scopes, session key and times', async () => {
    const token = await mint({ claims: { client_id: 'app', name: 'Ann', project: 'p' } })
    expect(await verifier({ projectClaim: 'project' }).verify(token)).toEqual({
      issuer: ISSUER,
      sub: 'ann',
      sessionKey: 'jti:j1',
      issuedAt: NOW,
      expiresAt: NOW + 90_000,
      scopes: ['openid', 'user/Patient.r'],
      claims: { name: 'Ann' },
      client: 'app',
      project: 'p',
    })
  })

  it.each([
    [{ sid: 's1' }, /^sid:s1$/],
    [{ jti: 'j2', sid: '' }, /^jti:j2$/],
    [{ jti: undefined }, /^token:[0-9a-f]{64}$/],
    [{ jti: '', sid: '' }, /^token:/],
  ])('has a session key, that of the issuer before its own: %j', async (claims, key) => {
    expect((await verifier().verify(await mint({ claims }))).sessionKey).toMatch(key)
  })

  it('has the same session key in every form of its signature that is valid', async () => {
    const token = await mint({ claims: { jti: undefined } })
    const [signed, signature] = [token.slice(0, token.lastIndexOf('.')), token.slice(token.lastIndexOf('.') + 1)]
    const bytes = Buffer.from(signature, 'base64url')
    const other = (P256_ORDER - BigInt(`0x${bytes.toString('hex', 32)}`)).toString(16).padStart(64, '0')
    const forms = [
      // 64 bytes leave four bits of the last character unused.
      ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
        .split('')
        .map((last) => signature.slice(0, -1) + last)
        .filter((form) => Buffer.from(form, 'base64url').equals(bytes)),
      Buffer.concat([bytes.subarray(0, 32), Buffer.from(other, 'hex')]).toString('base64url'),
    ]
    const keys = await Promise.all(forms.map(async (form) => (await verifier().verify(`${signed}.${form}`)).sessionKey))
    expect([forms.length, new Set(keys).size]).toEqual([17, 1])
  })

  it('is chosen by its issuer, to the letter', async () => {
    expect(verifier().claims(await mint())).toBe(true)
    for (const iss of [`${ISSUER}/`, ISSUER.toUpperCase(), [ISSUER], '', null])
      expect(verifier().claims(await mint({ claims: { iss } }))).toBe(false)
    expect(['x', 'a.b.c', `${part('{}')}.${part('[]')}.x`, 'é.é.é'].map((token) => verifier().claims(token))).toEqual([
      false,
      false,
      false,
      false,
    ])
  })
})

describe('claims', () => {
  it.each([
    ['expired by less than the skew', { exp: SECONDS - 29 }, 'accepted'],
    ['expired by the skew', { exp: SECONDS - 30 }, 'expired'],
    ['exp missing', { exp: undefined }, 'claims'],
    ['exp a text', { exp: '9999999999' }, 'claims'],
    ['exp null', { exp: null }, 'claims'],
    ['nbf ahead by the skew', { nbf: SECONDS + 30 }, 'accepted'],
    ['nbf ahead by more', { nbf: SECONDS + 31 }, 'claims'],
    ['nbf a text', { nbf: '0' }, 'claims'],
    ['iat ahead by the skew', { iat: SECONDS + 30 }, 'accepted'],
    ['iat ahead by more', { iat: SECONDS + 31 }, 'claims'],
    ['iat missing', { iat: undefined }, 'claims'],
    ['iat a text', { iat: '0' }, 'claims'],
    ['iss wrong', { iss: 'https://evil.example' }, 'claims'],
    ['iss with a slash', { iss: `${ISSUER}/` }, 'claims'],
    ['iss a list', { iss: [ISSUER] }, 'claims'],
    ['aud wrong', { aud: 'other' }, 'claims'],
    ['aud missing', { aud: undefined }, 'claims'],
    ['aud among several', { aud: ['other', AUDIENCE] }, 'accepted'],
    ['sub missing', { sub: undefined }, 'claims'],
    ['sub a number', { sub: 5 }, 'claims'],
    ['sub empty', { sub: '' }, 'claims'],
    ['sub too long', { sub: 'x'.repeat(256) }, 'claims'],
    ['sub not ASCII', { sub: 'änn' }, 'claims'],
    ['bound to a key', { cnf: { jkt: 'x' } }, 'claims'],
    ['an ID token', { nonce: 'x' }, 'claims'],
    ['a logout token', { events: {} }, 'claims'],
    ['a DPoP proof', { htm: 'GET', htu: 'x' }, 'claims'],
  ])('%s: %s', async (_name, claims, outcome) => {
    expect(await outcomeOf(mint({ claims }).then((token) => verifier().verify(token)))).toBe(outcome)
  })

  it('exp beyond every number: refused', async () => {
    const payload = `{"iss":"${ISSUER}","aud":"${AUDIENCE}","sub":"ann","iat":${SECONDS},"exp":1e999}`
    const token = await new CompactSign(Buffer.from(payload))
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' })
      .sign(privateKey)
    expect(await outcomeOf(verifier().verify(token))).toBe('claims')
  })

  it('no skew: refused from the second of exp on', async () => {
    expect(await outcomeOf(verifier({ clockTolerance: 0 }).verify(await mint({ claims: { exp: SECONDS } })))).toBe('expired')
    expect(await outcomeOf(verifier({ clockTolerance: 0 }).verify(await mint({ claims: { exp: SECONDS + 1 } })))).toBe('accepted')
  })

  it('a signature that was checked before does not outlive exp', async () => {
    const clock = { time: NOW }
    const one = verifier({ now: () => new Date(clock.time) })
    const token = await mint()
    await one.verify(token)
    clock.time = NOW + 90_000
    expect(await outcomeOf(one.verify(token))).toBe('expired')
  })
})

describe('forged tokens', () => {
  const forged: readonly (readonly [string, () => Promise<string>])[] = [
    ...['none', 'NONE', 'nOnE', '', null, 5, ['ES256'], { a: 1 }, undefined].map((alg): [string, () => Promise<string>] => [
      `alg ${JSON.stringify(alg)}`,
      async () => withHeader(await mint(), { alg }),
    ]),
    ['alg none without signature', async () => `${part({ alg: 'none', typ: 'at+jwt' })}.${(await mint()).split('.')[1]}.`],
    ['HS256 with the public key as secret', async () => hmac(JSON.stringify(publicJwk))],
    ['HS256 with an empty secret', async () => hmac('')],
    ['another algorithm of the same key type', async () => withHeader(await mint(), { alg: 'ES384' })],
    ['another key', async () => mint({ key: (await generateKeyPair('ES256')).privateKey })],
    ['an unknown kid', () => mint({ header: { kid: 'k2' } })],
    ['kid a path', async () => withHeader(await mint(), { kid: '../../../../dev/null' })],
    ['kid a statement', async () => withHeader(await mint(), { kid: "x' UNION SELECT 1" })],
    ['kid no text', async () => withHeader(await mint(), { kid: { a: 1 } })],
    ['own key in jwk', async () => ownKey('jwk')],
    ['own key in x5c', async () => ownKey('x5c')],
    [
      'own key behind jku',
      async () => withHeader(await mint({ key: (await generateKeyPair('ES256')).privateKey }), { jku: 'https://evil.example/jwks' }),
    ],
    [
      'own key behind x5u',
      async () => withHeader(await mint({ key: (await generateKeyPair('ES256')).privateKey }), { x5u: 'https://evil.example/x' }),
    ],
    ['crit', async () => withHeader(await mint(), { crit: ['exp'] })],
    ['b64 false', async () => withHeader(await mint(), { b64: false, crit: ['b64'] })],
    ['zip', async () => withHeader(await mint(), { zip: 'DEF' })],
    ['typ JWT', () => mint({ header: { typ: 'JWT' } })],
    ['typ missing', () => mint({ header: { typ: undefined } })],
    ['typ of an ID token', () => mint({ header: { typ: 'id+jwt' } })],
    ['typ of a logout token', () => mint({ header: { typ: 'logout+jwt' } })],
    ['typ of a DPoP proof', () => mint({ header: { typ: 'dpop+jwt' } })],
    ['the signature cut', async () => (await mint()).slice(0, -4)],
    ['the signature empty', async () => (await mint()).replace(/[^.]*$/, '')],
    ['the signature all zero', async () => (await mint()).replace(/[^.]*$/, part('\0'.repeat(64)))],
    ['the payload changed', async () => swapPayload(await mint(), { sub: 'root' })],
    ['two parts', async () => (await mint()).split('.').slice(0, 2).join('.')],
    ['four parts', async () => `${await mint()}.x`],
    ['five parts', async () => `${await mint()}.x.y`],
    ['no base64url', async () => `${await mint()}=`],
    ['a blank', async () => `${await mint()} `],
    ['too long', () => mint({ claims: { x: 'x'.repeat(8_192) } })],
    ['header no JSON', async () => `${part('{')}.${part('{}')}.x`],
    ['header a list', async () => `${part([])}.${part({})}.x`],
    ['payload a list', async () => `${part({ alg: 'ES256', typ: 'at+jwt' })}.${part([])}.x`],
    ['exp missing', () => mint({ claims: { exp: undefined } })],
    ['exp a text', () => mint({ claims: { exp: '9999999999' } })],
    ['iss of another', () => mint({ claims: { iss: `${ISSUER}/` } })],
    ['aud of another', () => mint({ claims: { aud: 'https://other.example' } })],
    ['sub no text', () => mint({ claims: { sub: 5 } })],
    ['nbf in the future', () => mint({ claims: { nbf: SECONDS + 3_600 } })],
    ['header no UTF-8', async () => `${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.${part({})}.x`],
  ]

  it.each(forged)('%s: refused', async (_name, make) => {
    expect(['malformed', 'signature', 'claims']).toContain(await outcomeOf(verifier().verify(await make())))
  })

  it('of fifty shapes and more each takes less than 50 ms of processor time', async () => {
    expect(forged.length).toBeGreaterThanOrEqual(50)
    for (const [name, make] of forged) {
      const token = await make()
      const verifying = verifier()
      const times: number[] = []
      for (let round = 0; round < 3; round++) {
        const before = process.cpuUsage()
        await outcomeOf(verifying.verify(token))
        const { user, system } = process.cpuUsage(before)
        times.push((user + system) / 1_000)
      }
      expect(comparableMs(Math.min(...times), 50), name).toBeLessThan(50)
    }
  })

  it('typ JWT is accepted with the option', async () => {
    expect(await outcomeOf(verifier({ allowPlainType: true }).verify(await mint({ header: { typ: 'JWT' } })))).toBe('accepted')
    expect(await outcomeOf(verifier().verify(await mint({ header: { typ: 'application/at+jwt' } })))).toBe('accepted')
  })

  function withHeader(token: string, change: Record<string, unknown>): string {
    const [, payload, signature] = token.split('.')
    return `${part({ alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...change })}.${payload}.${signature}`
  }

  function swapPayload(token: string, change: Record<string, unknown>): string {
    const [header, payload = '', signature] = token.split('.')
    return `${header}.${part({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), ...change })}.${signature}`
  }

  function hmac(secret: string): string {
    const signed = `${part({ alg: 'HS256', typ: 'at+jwt', kid: 'k1' })}.${part({ iss: ISSUER, aud: AUDIENCE, sub: 'ann', iat: SECONDS, exp: SECONDS + 60 })}`
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
  }

  async function ownKey(member: 'jwk' | 'x5c'): Promise<string> {
    const { privateKey: key, publicKey } = await generateKeyPair('ES256', { extractable: true })
    return mint({ key, header: { [member]: member === 'jwk' ? await exportJWK(publicKey) : ['x'] } })
  }
})

describe('options that cannot be', () => {
  const rsa = (modulusLength: number): JWK => generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' })
  const [rsa1024, rsa2048] = [rsa(1_024), rsa(2_048)]
  it.each([
    ['the curve is not supported', { crv: 'P-521' }, 'Key k1 fits none of the algorithms.'],
    ['a coordinate is short', { x: 'AAAA' }, 'Key k1 of the type EC is malformed.'],
  ])('are refused with what is wrong with a key: %s', (_, change, message) => {
    expect(() => verifier({ keys: [{ ...publicJwk, ...change }] })).toThrow(new TypeError(message))
  })
  it.each([
    ['an RSA key of 1024 bits', { keys: [rsa1024] }],
    ['an RSA key of 1024 bits with zeros before them', { keys: [{ ...rsa1024, n: `${'A'.repeat(172)}${rsa1024.n}` }] }],
    ['no key at all', { keys: [] }],
    ['a key that is no point of its curve', { keys: () => [{ ...publicJwk, x: publicJwk.y }] }],
    ['a key with a short coordinate', { keys: () => [{ ...publicJwk, x: 'AAAA' }] }],
    ['a key without a coordinate', { keys: () => [{ ...publicJwk, y: undefined }] }],
    ['a key whose coordinate is not base64url', { keys: () => [{ ...publicJwk, x: `${String(publicJwk.x).slice(1)}!` }] }],
    ['a key of another curve', { keys: () => [{ ...publicJwk, crv: 'P-521' }] }],
    ['a key with the name of another curve', { keys: () => [{ ...publicJwk, crv: 'P-384' }] }],
    ['a key of Ed25519 of 31 bytes', { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(42) }] }],
    ['an RSA key without exponent', { keys: [{ ...rsa2048, e: undefined }] }],
    ['a private key', { keys: async () => [await exportJWK(privateKey)] }],
    ['a key to encrypt with', { keys: () => [{ ...publicJwk, use: 'enc' }] }],
    ['a key to sign with', { keys: () => [{ ...publicJwk, key_ops: ['sign'] }] }],
    ['a key whose algorithm is another', { keys: () => [{ ...publicJwk, alg: 'ES384' }] }],
    ['a key that fits none of the algorithms', { algorithms: ['RS256'] }],
    ['a symmetric key among public ones', { keys: [{ kty: 'oct', k: 'x' }] }],
    ['a short secret', { keys: undefined, secret: new Uint8Array(31) }],
    ['a symmetric algorithm with public keys', { algorithms: ['ES256', 'HS256'] }],
    ['none', { algorithms: ['none'] }],
    ['too much skew', { clockTolerance: 301 }],
    ['negative skew', { clockTolerance: -1 }],
    ['no audience', { audience: '' }],
    ['an audience that is not set', { audience: null }],
    ['an issuer that is not set', { issuer: null }],
    ['a JWKS that is not set', { keys: undefined }],
    ['a JWKS by http', { keys: undefined, jwksUri: 'http://issuer.example/jwks' }],
    ['a JWKS by http on loopback without the option', { keys: undefined, jwksUri: 'http://127.0.0.1/jwks' }],
    ['a JWKS by http of a name like loopback', { keys: undefined, jwksUri: 'http://127.example.org/jwks', allowInsecureLoopback: true }],
    ['a JWKS with a password in its address', { keys: undefined, jwksUri: 'https://me:secret@issuer.example/jwks' }],
    ['a JWKS by file', { keys: undefined, jwksUri: 'file:///etc/passwd' }],
  ])('%s', async (_name, change) => {
    // The key of the tests is made after the table.
    const keys = 'keys' in change && typeof change.keys === 'function' ? { keys: await change.keys() } : {}
    const given = Object.fromEntries(Object.entries({ keys: [publicJwk], ...change, ...keys }).filter(([, value]) => value !== undefined))
    expect(() => jwtVerifier({ issuer: ISSUER, audience: AUDIENCE, ...given } as unknown as JwtVerifierOptions)).toThrow(TypeError)
  })

  it('are none or two of the sources of keys, which is said', () => {
    const create = (given: object): unknown =>
      jwtVerifier({ issuer: ISSUER, audience: AUDIENCE, ...given } as unknown as JwtVerifierOptions)
    expect(() => create({})).toThrow('One of jwksUri, keys, secret must be given, and only one (none is).')
    const two = { keys: [publicJwk], jwksUri: 'https://issuer.example/jwks' }
    expect(() => create(two)).toThrow('One of jwksUri, keys, secret must be given, and only one (jwksUri, keys).')
  })

  it('may be undefined, as those that a program reads from its environment are', async () => {
    const verifying = verifier({ keys: [publicJwk], secret: undefined, jwksUri: undefined })
    expect(await outcomeOf(verifying.verify(await mint()))).toBe('accepted')
  })

  it('a key to encrypt with is ignored among others', async () => {
    const verifying = verifier({ keys: [{ ...publicJwk, kid: 'enc', use: 'enc' }, publicJwk] })
    expect(await outcomeOf(verifying.verify(await mint()))).toBe('accepted')
  })

  it('keys of every kind that verify are taken', async () => {
    const made = ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256'].map(async (alg) => {
      const pair = await generateKeyPair(alg, { extractable: true })
      const jwk = await exportJWK(pair.publicKey)
      const keys = [jwk, { ...jwk, alg, use: 'sig', key_ops: ['verify'] }]
      return Promise.all(
        keys.map(async (key) =>
          outcomeOf(verifier({ keys: [key] }).verify(await mint({ key: pair.privateKey, header: { alg, kid: undefined } }))),
        ),
      )
    })
    expect((await Promise.all(made)).flat()).toEqual(Array<string>(10).fill('accepted'))
  })

  it('a long secret makes HMAC the only thing accepted', async () => {
    const secret = crypto.getRandomValues(new Uint8Array(32))
    const one = jwtVerifier({ issuer: ISSUER, audience: AUDIENCE, secret, now: () => new Date(NOW) })
    expect(await outcomeOf(mint({ key: secret, header: { alg: 'HS256' } }).then((token) => one.verify(token)))).toBe('accepted')
    expect(await outcomeOf(mint().then((token) => one.verify(token)))).toBe('malformed')
  })
})

describe('keys of an issuer', () => {
  const servers: Server[] = []
  afterAll(() => servers.forEach((server) => server.close()))

  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener)
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`
  }
  const issuer = async (): Promise<{ uri: string; state: { keys: JWK[]; down: boolean; fetches: number }; clock: { time: number } }> => {
    const state = { keys: [publicJwk], down: false, fetches: 0 }
    const uri = await serve((_request, response) => {
      state.fetches++
      response.writeHead(state.down ? 500 : 200).end(JSON.stringify({ keys: state.keys }))
    })
    return { uri, state, clock: { time: 0 } }
  }
  const source = (uri: string, clock: { time: number }): ReturnType<typeof remoteKeys> =>
    remoteKeys({ uri, allowInsecureLoopback: true, fetch, monotonic: () => clock.time })
  const found = async (keys: ReturnType<typeof remoteKeys>, kid: string): Promise<string> => {
    const error: unknown = await keys.keyFor({ alg: 'ES256', kid }).then(
      () => 'found',
      (caught: unknown) => caught,
    )
    if (error === 'found') return 'found'
    return error instanceof OperationError ? error.code : 'no such key'
  }

  it('are fetched once, for callers at once too', async () => {
    const { uri, state, clock } = await issuer()
    const keys = source(uri, clock)
    expect(await Promise.all([found(keys, 'k1'), found(keys, 'k1')])).toEqual(['found', 'found'])
    expect(state.fetches).toBe(1)
  })

  it('are fetched again for an unknown kid, at most every 30 seconds', async () => {
    const { uri, state, clock } = await issuer()
    const keys = source(uri, clock)
    await found(keys, 'k1')
    for (let i = 0; i < 5; i++) expect(await found(keys, 'k2')).toBe('no such key')
    expect(state.fetches).toBe(1)
    state.keys = [{ ...publicJwk, kid: 'k2' }]
    clock.time += 30_000
    expect(await found(keys, 'k2')).toBe('found')
    expect(state.fetches).toBe(2)
  })

  it('are fetched again for a token without kid that none has signed, at most every 30 seconds', async () => {
    const { uri, state, clock } = await issuer()
    const unnamed = ({ kid: _kid, ...key }: JWK): JWK => key
    const next = await generateKeyPair('ES256', { extractable: true })
    const keys = source(uri, clock)
    const checks = { algorithms: ['ES256'], currentDate: new Date(NOW) }
    const verified = async (key?: CryptoKey): Promise<string> =>
      outcomeOf(signedPayload(keys, await mint({ header: { kid: undefined }, ...(key && { key }) }), checks))
    state.keys = [unnamed(publicJwk)]
    expect(await verified()).toBe('accepted')
    state.keys = [unnamed(await exportJWK(next.publicKey))]
    expect([await verified(next.privateKey), state.fetches]).toEqual([expect.stringMatching('signature'), 1])
    clock.time += 30_000
    expect(await Promise.all([verified(next.privateKey), verified(next.privateKey)])).toEqual(['accepted', 'accepted'])
    expect(await verified()).toMatch('signature')
    expect(state.fetches).toBe(2)
    state.down = true
    clock.time += 30_000
    expect([await verified(next.privateKey), await verified()]).toEqual(['accepted', 'unavailable'])
  })

  it('are used for 24 hours while the issuer is down, then nobody is signed out but told to come back', async () => {
    const { uri, state, clock } = await issuer()
    const keys = source(uri, clock)
    await found(keys, 'k1')
    state.down = true
    clock.time += 24 * 3_600_000
    expect(await found(keys, 'k1')).toBe('found')
    clock.time += 30_000
    expect(await found(keys, 'k2')).toBe('unavailable')
    clock.time += 1
    expect(await found(keys, 'k1')).toBe('unavailable')
    state.down = false
    clock.time += 30_000
    expect(await found(keys, 'k1')).toBe('found')
  })

  it('that were withdrawn, all of them, verify nothing more and sign nobody out; others are found within a second', async () => {
    const { uri, state, clock } = await issuer()
    const keys = source(uri, clock)
    await found(keys, 'k1')
    state.keys = []
    clock.time += 10 * 60_000 + 1
    expect(await found(keys, 'k1')).toBe('unavailable')
    state.keys = [{ ...publicJwk, kid: 'k2' }]
    clock.time += 1_000
    expect(await found(keys, 'k2')).toBe('found')
    expect(await found(keys, 'k1')).toBe('no such key')
  })

  it('are used on where the issuer answers with an object that is not a set of keys', async () => {
    let body: unknown = { keys: [publicJwk] }
    const clock = { time: 0 }
    const uri = await serve((_request, response) => response.end(JSON.stringify(body)))
    const keys = source(uri, clock)
    await found(keys, 'k1')
    for (body of [{}, { keys: null }, { keys: { k1: publicJwk } }, { error: 'maintenance' }]) {
      clock.time += 10 * 60_000 + 1
      expect(await found(keys, 'k1')).toBe('found')
    }
  })

  it.each([
    ['is down', (_q: unknown, response: { writeHead(status: number): { end(): void } }) => response.writeHead(500).end()],
    ['sends no JSON', (_q: unknown, response: { end(text: string): void }) => response.end('<html>')],
    ['sends no object', (_q: unknown, response: { end(text: string): void }) => response.end('[]')],
    [
      'redirects',
      (_q: unknown, response: { writeHead(status: number, headers: object): { end(): void } }) =>
        response.writeHead(302, { location: '/x' }).end(),
    ],
    [
      'sends without end',
      (_q: unknown, response: { end(text: string): void }) => response.end(`{"keys":[],"x":"${'x'.repeat(256 * 1024)}"}`),
    ],
    ['sends no set of keys', (_q: unknown, response: { end(text: string): void }) => response.end('{}')],
    ['has no keys', (_q: unknown, response: { end(text: string): void }) => response.end('{"keys":[]}')],
    [
      'has symmetric, short and shapeless keys only',
      (_q: unknown, response: { end(text: string): void }) =>
        response.end('{"keys":[null,1,{},{"kty":"oct","k":"AAAA","kid":"k1"},{"kty":"RSA","n":"x","e":"AQAB","kid":"k1"}]}'),
    ],
    ['hangs up', (_q: unknown, response: { destroy(): void }) => response.destroy()],
  ])('cannot be had when the issuer %s: 503, not 401', async (_name, listener) => {
    const uri = await serve(listener)
    expect(await found(source(uri, { time: 0 }), 'k1')).toBe('unavailable')
    const one = jwtVerifier({ issuer: ISSUER, audience: AUDIENCE, jwksUri: uri, allowInsecureLoopback: true, now: () => new Date(NOW) })
    expect(await outcomeOf(one.verify(await mint()))).toBe('unavailable')
  })

  const published = (keys: readonly unknown[]): ReturnType<typeof jwtVerifier> =>
    jwtVerifier({
      issuer: ISSUER,
      audience: AUDIENCE,
      jwksUri: 'https://issuer.example/jwks',
      fetch: async () => Response.json({ keys }),
      now: () => new Date(NOW),
    })
  const otherKey = async (): Promise<JWK> => exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey)

  it.each([
    ['without kid', undefined],
    ['with the same kid', 'k1'],
  ])('%s are tried in turn', async (_, kid) => {
    const [wrong, { kid: _kid, ...right }] = [await otherKey(), publicJwk]
    const named = (key: JWK): JWK => ({ ...key, ...(kid !== undefined && { kid }) })
    const token = await mint({ header: { kid } })
    expect(await outcomeOf(published([named(wrong), named(right)]).verify(token))).toBe('accepted')
    expect(await outcomeOf(published([named(wrong), named(await otherKey())]).verify(token))).toBe('signature')
    const expired = await mint({ header: { kid }, claims: { exp: SECONDS - 60 } })
    expect(await outcomeOf(published([named(wrong), named(right)]).verify(expired))).toBe('expired')
  })

  it('that fit a token are tried up to 16', async () => {
    const wrong = await otherKey()
    const among = (count: number): unknown[] => [...Array.from({ length: count }, () => wrong), { ...publicJwk, kid: undefined }]
    const token = await mint({ header: { kid: undefined } })
    const outcomes = [15, 16].map(async (count) => outcomeOf(published(among(count)).verify(token)))
    expect(await Promise.all(outcomes)).toEqual(['accepted', 'signature'])
  })

  it.each([
    ['is no point of its curve', async () => ({ ...publicJwk, x: 'AAAA' })],
    ['lacks a member', async () => ({ kty: 'EC', crv: 'P-256', kid: 'k1' })],
    ['has a member of another type', async () => ({ ...publicJwk, x: 5 })],
    ['is private', async () => ({ ...(await exportJWK(privateKey)), kid: 'k1' })],
  ])('one that %s cannot be used: 503, not 401; one with another kid does no harm', async (_, broken) => {
    expect(await outcomeOf(published([await broken()]).verify(await mint()))).toBe('unavailable')
    expect(await outcomeOf(published([await broken(), await broken()]).verify(await mint()))).toBe('unavailable')
    const elsewhere = { ...(await broken()), kid: 'k2' }
    expect(await outcomeOf(published([elsewhere, publicJwk]).verify(await mint()))).toBe('accepted')
  })

  it('that are there are not said to be missing, where one cannot be used', async () => {
    const broken = { ...publicJwk, x: 'AAAA' }
    await expect(keySet({ keys: [broken] }).keyFor({ alg: 'ES256', kid: 'k1' })).rejects.toThrow(
      'A key of the token issuer cannot be used by this server.',
    )
  })

  it('that are symmetric, short or shapeless are passed over', async () => {
    const keys = keySet({
      keys: [
        { kty: 'oct', k: 'x', kid: 'k1' },
        { kid: 'k1', kty: 'nonsense' },
      ],
    })
    await expect(keys.keyFor({ alg: 'ES256', kid: 'k1' })).rejects.toThrow()
  })
})
