import { OperationError } from 'fhir-ops/errors'
import { INVALID_TOKEN, sha256 } from 'fhir-ops/internal/sessions'
import { rejected } from 'fhir-ops/sessions'
import type { JWTPayload } from 'jose'
import { linesOf, type Connection, type HttpRequest } from '../http/http-request.js'
import { checkHeader, jwtShape, type Replays } from './token-verifier.js'

/** An access token as sent by the client. */
export interface Credentials {
  readonly token: string
  /** The `DPoP` header, if the scheme is DPoP; empty if the header is missing. */
  readonly proof?: string
}

/**
 * Reads the access token of a request.
 *
 * @param schemes `bearer`, and `dpop` if it is accepted.
 * @throws {OperationError} `token-missing` without a token; `token-malformed` unless it is sent exactly once, as one word.
 */
export function credentialsOf(request: HttpRequest, connection: Connection, schemes: readonly string[]): Credentials {
  // Node keeps only the first of several Authorization headers.
  if (linesOf(connection, 'authorization') > 1 || linesOf(connection, 'dpop') > 1) throw malformedCredentials()
  // Only spaces and tabs, because `trim` also removes other characters.
  const header = (request.header('authorization') ?? '').replace(/^[ \t]+/, '')
  const scheme = (/^\S*/.exec(header) ?? [''])[0].toLowerCase()
  if (!schemes.includes(scheme))
    throw new OperationError('token-missing', "An access token is required, in the header 'Authorization: Bearer <token>'.")
  const token = /^[a-z]+ +([^\s,]+)[ \t]*$/i.exec(header)?.[1]
  if (token === undefined) throw malformedCredentials()
  return scheme === 'dpop' ? { token, proof: request.header('dpop') ?? '' } : { token }
}

/** The error for credentials that are not one bearer token in the header. */
export function malformedCredentials(): OperationError {
  return new OperationError('token-malformed', 'Bad OAuth2 request: one bearer token is expected, in the Authorization header.')
}

/** Realm of a challenge, and whether it is for the user-information endpoint. */
interface ChallengePlace {
  readonly realm: string
  readonly atUserInfo: boolean
}

/** Returns the value of `WWW-Authenticate` for an error about credentials; `undefined` for other errors. */
export function challengeOf(error: OperationError, { realm, atUserInfo }: ChallengePlace): string | undefined {
  const bearer = `Bearer realm="${realm}"`
  if (error.code === 'token-missing') return bearer
  if (error.code === 'token-malformed') return `${bearer}, error="invalid_request", error_description="${badRequest(atUserInfo)}"`
  if (error.code === 'token-invalid') return `${bearer}, error="invalid_token", error_description="${INVALID_TOKEN}"`
  if (error.code === 'forbidden' && atUserInfo) {
    return `${bearer}, error="insufficient_scope", error_description="${error.message}", scope="openid"`
  }
  return undefined
}

/** The error description for malformed credentials. */
export function badRequest(atUserInfo: boolean): string {
  return atUserInfo ? 'Bad OAuth2 request at UserInfo Endpoint' : 'Bad OAuth2 request'
}

/** @throws {TypeError} for a realm that a quoted string cannot contain. */
export function checkRealm(realm: string): string {
  if (!/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(realm)) throw new TypeError('The realm is printable ASCII without quotes and backslashes.')
  return realm
}

/** Options for checking DPoP proofs of possession. */
export interface DpopOptions {
  /** Store that remembers used proofs for 2 minutes. Default: the store of the sessions, which instances share. */
  readonly replays?: Replays
  /** Default: the system's clock. */
  readonly now?: () => Date
}

/** The request that a proof must match. */
interface ProvenRequest {
  /** The `DPoP` header. */
  readonly proof: string
  readonly method: string
  /** Address of the request as the client knows it; query and fragment are ignored. */
  readonly uri: string
  readonly token: string
}

/** A valid proof. */
interface Proof {
  /** Thumbprint of the key that signed the proof. */
  readonly jkt: string
  /** Records the use of the proof, after its token was accepted. @throws {OperationError} `token-invalid` on the second use. */
  use(): Promise<void>
}

/** @throws {OperationError} `token-invalid` */
export type DpopCheck = (request: ProvenRequest) => Promise<Proof>

/** Algorithms of proofs, and the challenge that lists them. */
const ALGORITHMS = ['ES256', 'EdDSA']
export const DPOP_CHALLENGE: string = `DPoP algs="${ALGORITHMS.join(' ')}"`

const WINDOW_SECONDS = 60
/** How long used proofs are remembered. */
export const PROOF_MS = 120_000
const MAX_JTI = 256

/** Creates the check of DPoP proofs; the verifier is loaded with the first proof. @see https://www.rfc-editor.org/rfc/rfc9449#section-4.3 */
export function dpopCheck({ replays, now = () => new Date() }: DpopOptions & { readonly replays: Replays }): DpopCheck {
  return async (request) => {
    const payload = await verifiedProof(request.proof, now())
    const { jti } = payload
    if (
      !isAbout(payload, request, await digestOf(request.token)) ||
      !isFresh(payload, now()) ||
      typeof jti !== 'string' ||
      jti === '' ||
      jti.length > MAX_JTI
    ) {
      throw rejected('proof')
    }
    const jwk = jwtShape(request.proof)?.header['jwk']
    const { calculateJwkThumbprint } = await import('jose/jwk/thumbprint')
    const jkt = await calculateJwkThumbprint({ ...(typeof jwk === 'object' && jwk) })
    return {
      jkt,
      async use() {
        if (!(await replays.isNew(`${jkt} ${jti}`))) throw rejected('proof')
      },
    }
  }
}

async function verifiedProof(proof: string, currentDate: Date): Promise<JWTPayload> {
  const shape = jwtShape(proof)
  if (shape === undefined) throw rejected('proof')
  checkHeader(shape.header, { algorithms: ALGORITHMS, typ: ['dpop+jwt'] })
  const [{ jwtVerify }, { EmbeddedJWK }] = await Promise.all([import('jose/jwt/verify'), import('jose/jwk/embedded')])
  try {
    const { payload } = await jwtVerify(proof, EmbeddedJWK, { algorithms: ALGORITHMS, currentDate })
    return payload
  } catch {
    throw rejected('proof')
  }
}

function isAbout({ htm, htu, ath }: JWTPayload, { method, uri }: ProvenRequest, digest: string): boolean {
  return htm === method && typeof htu === 'string' && placeOf(htu) === placeOf(uri) && ath === digest
}

/** Returns the address in normalized form, without query and fragment. */
function placeOf(uri: string): string | undefined {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  return url && `${url.origin}${url.pathname}`
}

/** Returns the SHA-256 of the token in base64url. */
async function digestOf(token: string): Promise<string> {
  const { encode } = await import('jose/base64url')
  const hex = await sha256(token)
  return encode(Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16)))
}

function isFresh({ iat }: JWTPayload, now: Date): boolean {
  return typeof iat === 'number' && Math.abs(now.getTime() / 1_000 - iat) <= WINDOW_SECONDS
}
