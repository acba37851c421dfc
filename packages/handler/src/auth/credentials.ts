import { OperationError } from 'fhir-ops/errors'
import type { Connection, HttpRequest } from '../http/http-request.js'

/**
 * The bearer token of a request (AUTH-01 to AUTH-14).
 *
 * @throws {OperationError} `token-missing` when there is none; `token-malformed` when it is not given once, as one word.
 */
export function bearerToken(request: HttpRequest, connection: Connection): string {
  if (authorizationLines(connection) > 1) throw malformedCredentials()
  const header = request.header('authorization')?.trim() ?? ''
  if (!/^bearer(\s|$)/i.test(header)) throw new OperationError('token-missing', 'An access token is required.')
  const token = /^bearer +([^\s,]+)$/i.exec(header)?.[1]
  if (token === undefined) throw malformedCredentials()
  return token
}

/** The error for credentials that are not one bearer token in the header. */
export function malformedCredentials(): OperationError {
  return new OperationError('token-malformed', 'Bad OAuth2 request: one bearer token is expected, in the Authorization header.')
}

/** Node keeps only the first of several Authorization lines, so the raw ones are counted. */
function authorizationLines({ rawHeaders = [] }: Connection): number {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization').length
}
