import { OperationError } from 'fhir-ops/errors'
import { INVALID_TOKEN } from 'fhir-ops/internal/sessions'
import { linesOf, type Connection, type HttpRequest } from '../http/http-request.js'

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
