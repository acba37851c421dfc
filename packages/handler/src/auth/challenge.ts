import type { OperationError } from 'fhir-ops/errors'
import { INVALID_TOKEN } from 'fhir-ops/sessions'

/** Where a challenge is sent from. */
export interface ChallengePlace {
  readonly realm: string
  readonly atUserInfo: boolean
}

/** The value of `WWW-Authenticate` for an error about credentials; `undefined` for other errors. */
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

/** The description of a request whose credentials are not well-formed. */
export function badRequest(atUserInfo: boolean): string {
  return atUserInfo ? 'Bad OAuth2 request at UserInfo Endpoint' : 'Bad OAuth2 request'
}

/** @throws {TypeError} for a realm that cannot stand in a quoted string. */
export function checkRealm(realm: string): string {
  if (!/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(realm)) throw new TypeError('The realm is printable ASCII without quotes and backslashes.')
  return realm
}
