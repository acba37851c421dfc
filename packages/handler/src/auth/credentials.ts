import { OperationError } from 'fhir-ops/errors'
import { linesOf, type Connection, type HttpRequest } from '../http/http-request.js'

/** An access token as it was given. */
export interface Credentials {
  readonly token: string
  /** The header `DPoP`, for the scheme of this name; an empty one when it is missing. */
  readonly proof?: string
}

/**
 * The access token of a request (AUTH-01 to AUTH-14).
 *
 * @param schemes `bearer`, and `dpop` where it is taken.
 * @throws {OperationError} `token-missing` when there is none; `token-malformed` when it is not given once, as one word.
 */
export function credentialsOf(request: HttpRequest, connection: Connection, schemes: readonly string[]): Credentials {
  // Node keeps only the first of several Authorization lines.
  if (linesOf(connection, 'authorization') > 1 || linesOf(connection, 'dpop') > 1) throw malformedCredentials()
  const header = (request.header('authorization') ?? '').trim()
  const scheme = (/^\S*/.exec(header) ?? [''])[0].toLowerCase()
  if (!schemes.includes(scheme)) throw new OperationError('token-missing', 'An access token is required.')
  const token = /^[a-z]+ +([^\s,]+)$/i.exec(header)?.[1]
  if (token === undefined) throw malformedCredentials()
  return scheme === 'dpop' ? { token, proof: request.header('dpop') ?? '' } : { token }
}

/** The error for credentials that are not one bearer token in the header. */
export function malformedCredentials(): OperationError {
  return new OperationError('token-malformed', 'Bad OAuth2 request: one bearer token is expected, in the Authorization header.')
}
