import { isObject, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { rejected, type ForeignToken } from 'fhir-ops/sessions'
import { isResourceId } from 'fhir-ops/storage'
import { base64UrlBytes } from '../http/base64.js'

/** Checks tokens of another issuer. */
export interface TokenVerifier {
  /** True if the token claims to come from this issuer; selects the verifier. Nothing is trusted yet. */
  claims(token: string): boolean
  /**
   * @param jkt Thumbprint of the key that the request has proved to hold (DPoP): the token must be bound to it. If absent, a token that
   *   is bound to a key must be refused.
   * @throws {OperationError} `token-invalid`; `unavailable` if the issuer cannot be reached.
   */
  verify(token: string, jkt?: string): Promise<ForeignToken>
}

/** Remembers keys of things that may be used only once. */
export interface Replays {
  /** True on the first call with this key. */
  isNew(key: string): boolean | Promise<boolean>
  /** True if `isNew` has been called with the key. If absent, a logout token counts as used even if its sessions could not be ended. */
  isUsed?(key: string): boolean | Promise<boolean>
}

/** The parts of a signed token, decoded and not yet trusted. */
interface JwtShape {
  readonly header: JsonObject
  readonly payload: JsonObject
}

const MAX_LENGTH = 8_192

/** Header members that change how a token is read; none is supported. */
const REFUSED: readonly string[] = ['crit', 'b64', 'zip', 'enc']

/**
 * Splits a token without any cryptography: three parts in the base64url alphabet, at most 8 KiB, two of them JSON objects.
 *
 * @returns `undefined` for a text that is not a signed token.
 */
export function jwtShape(token: string): JwtShape | undefined {
  if (token.length > MAX_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined
  const [header, payload] = token.split('.').map(objectIn)
  return header === undefined || payload === undefined ? undefined : { header, payload }
}

/** @throws {OperationError} `token-invalid` if the header requires more than a signature with one of these algorithms and types. */
export function checkHeader(
  header: JsonObject,
  { algorithms, typ }: { readonly algorithms: readonly string[]; readonly typ: readonly string[] },
): void {
  const isRefused = REFUSED.some((name) => Object.hasOwn(header, name))
  const isSigned = algorithms.includes(stringAt(header, 'alg') ?? '')
  const isTyped = typ.includes((stringAt(header, 'typ') ?? '').toLowerCase().replace(/^application\//, ''))
  if (isRefused || !isSigned || !isTyped) throw rejected('malformed')
}

function objectIn(part: string): JsonObject | undefined {
  const bytes = base64UrlBytes(part)
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** How the claims of a verified token are interpreted. */
interface ClaimRules {
  readonly issuer: string
  /** Allowed clock difference in seconds. */
  readonly clockTolerance: number
  /** Claim that names the caller's project. */
  readonly projectClaim?: string | undefined
}

/** A verified token, and the time of its check. */
interface VerifiedClaims {
  readonly payload: JsonObject
  /** SHA-256 of the token, without what its holder could change. */
  readonly digest: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** Thumbprint of the key that the request has proved to hold; if present, only a token bound to it is accepted. */
  readonly jkt?: string | undefined
}

/** Claims that occur only in other kinds of tokens: ID tokens, logout tokens and DPoP proofs. */
const OTHER_KINDS: readonly string[] = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events', 'htm', 'htu', 'ath']

/** The claims about the user that each scope releases. @see https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims */
export const SCOPE_CLAIMS: readonly (readonly [string, readonly string[]])[] = [
  [
    'profile',
    [
      'name',
      'given_name',
      'family_name',
      'preferred_username',
      'middle_name',
      'nickname',
      'profile',
      'picture',
      'website',
      'gender',
      'birthdate',
      'zoneinfo',
      'locale',
      'updated_at',
    ],
  ],
  ['email', ['email', 'email_verified']],
  ['phone', ['phone_number', 'phone_number_verified']],
  ['address', ['address']],
]

/** Claims about the user that are stored when a token is first seen. */
const USER_CLAIMS: readonly string[] = SCOPE_CLAIMS.flatMap(([, names]) => names)

const LAST_TIME = 8.64e15

/**
 * Reads a token whose signature, issuer, audience and expiry have been verified.
 *
 * @throws {OperationError} `token-invalid`
 */
export function foreignTokenOf({ payload, digest, now, jkt }: VerifiedClaims, rules: ClaimRules): ForeignToken {
  const { exp, iat } = timesOf(payload, now / 1_000 + rules.clockTolerance)
  if (OTHER_KINDS.some((name) => Object.hasOwn(payload, name)) || !isBoundTo(payload, jkt)) throw rejected('claims')
  const client = stringAt(payload, 'client_id') ?? stringAt(payload, 'azp')
  const patient = stringAt(payload, 'patient')
  const project = rules.projectClaim === undefined ? undefined : stringAt(payload, rules.projectClaim)
  return {
    issuer: rules.issuer,
    sub: subjectOf(payload),
    sessionKey: sessionKeyOf(payload, digest),
    issuedAt: iat * 1_000,
    expiresAt: Math.min((exp + rules.clockTolerance) * 1_000, LAST_TIME),
    scopes: scopesOf(payload),
    claims: Object.fromEntries(USER_CLAIMS.filter((name) => Object.hasOwn(payload, name)).map((name) => [name, payload[name]])),
    ...(client !== undefined && { client }),
    ...(project !== undefined && { project }),
    ...(patient !== undefined && isResourceId(patient) && { patient }),
  }
}

/** A token bound to a key is accepted only with a proof of that key, any other token only without a proof. */
function isBoundTo({ cnf }: JsonObject, jkt: string | undefined): boolean {
  if (cnf === undefined) return jkt === undefined
  return jkt !== undefined && isObject(cnf) && cnf['jkt'] === jkt
}

/** Returns times in seconds since 1970; rejects a token that was issued, or becomes valid, after `latest`. */
function timesOf({ exp, iat, nbf = iat }: JsonObject, latest: number): { exp: number; iat: number } {
  if (!isTime(exp) || !isTime(iat) || !isTime(nbf) || Math.max(iat, nbf) > latest) throw rejected('claims')
  return { exp, iat }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function subjectOf(payload: JsonObject): string {
  const sub = stringAt(payload, 'sub') ?? ''
  if (!/^[\x21-\x7e]{1,255}$/.test(sub)) throw rejected('claims')
  return sub
}

/** The issuer's session if the token names one, because its logout tokens end sessions. */
function sessionKeyOf(payload: JsonObject, digest: string): string {
  const [sid, jti] = [stringAt(payload, 'sid'), stringAt(payload, 'jti')]
  if (sid !== undefined && sid !== '') return `sid:${sid}`
  return jti !== undefined && jti !== '' ? `jti:${jti}` : `token:${digest}`
}

/** Reads `scope` of RFC 9068, or the list `scp` that some issuers send. */
function scopesOf(payload: JsonObject): readonly string[] {
  const { scope, scp } = payload
  if (typeof scope === 'string') return scope.split(' ').filter((one) => one !== '')
  return Array.isArray(scp) ? scp.filter((one) => typeof one === 'string') : []
}
