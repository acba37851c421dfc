import type { OperationOutcome } from 'fhir/r4.js'
import { ERRORS, OperationError, outcomeOf } from 'fhir-ops/errors'
import { DPOP_CHALLENGE, badRequest, challengeOf } from './auth/credentials.js'
import { emptyAnswer, fhirAnswer, jsonAnswer, type Answer } from './http/answer.js'
import { ACCEPT_PATCH } from './http/body.js'
import type { Exchange, Family } from './exchange.js'
import { allowOf } from './routes/router.js'
import type { Service } from './service.js'

/** Converts whatever was thrown to an OperationError; an unexpected error becomes `unforeseen`, whose message only refers to the log line. */
export function toOperationError(thrown: unknown, requestId: string): OperationError {
  // An error of another version of the library may have an unknown code.
  if (thrown instanceof OperationError && Object.hasOwn(ERRORS, thrown.code)) return thrown
  return new OperationError('unforeseen', `The request could not be answered. Reference: ${requestId}.`, { cause: thrown })
}

/** Writes a failure in the format of the endpoint. */
export function failureAnswer(service: Service, exchange: Exchange, error: OperationError): Answer {
  const family = familyOf(service, exchange)
  const headers = failureHeaders(service, exchange, error)
  const { status } = ERRORS[error.code]
  if (family === 'fhir') return fhirAnswer(status, outcomeOf(error, service.ctx.newId()), headers)
  // RFC 6750 3.1: without credentials, only a challenge.
  if (error.code === 'token-missing') return emptyAnswer(status, headers)
  return jsonAnswer(status, { error: oauthError(error), error_description: oauthDescription(error) }, headers)
}

/** The user-information endpoint fails in OAuth's format, all others with an OperationOutcome. Also works before the URL has been parsed. */
export function familyOf({ mount }: Service, { request, match, target, bundle }: Exchange): Family {
  const [route] = match?.routes.values() ?? []
  if (route !== undefined) return route.family ?? 'fhir'
  if (bundle !== undefined || target.segments.length > 0) return 'fhir'
  const path = ['', ...mount, 'oauth2', 'userinfo'].join('/')
  return request.target === path || request.target.startsWith(`${path}?`) || request.target.startsWith(`${path}/`) ? 'userinfo' : 'fhir'
}

/**
 * Streams a text. On failure, the last line is an OperationOutcome, after which the answer is cut off.
 *
 * @param onFailure Makes the outcome.
 * @yields the text in pieces
 */
export async function* streamWithFailure(
  stream: AsyncIterable<string>,
  onFailure: (thrown: unknown) => OperationOutcome,
): AsyncGenerator<string, void, undefined> {
  try {
    yield* stream
  } catch (thrown) {
    yield `${JSON.stringify(onFailure(thrown))}\n`
    throw thrown
  }
}

const RETRY_SECONDS = 1

function failureHeaders(service: Service, exchange: Exchange, error: OperationError): Answer['headers'] {
  const { status } = ERRORS[error.code]
  const challenge = challengeOf(error, { realm: service.realm, atUserInfo: familyOf(service, exchange) === 'userinfo' })
  const retry = error.detail.retryAfterSeconds ?? (status === 429 || status === 503 ? RETRY_SECONDS : undefined)
  const headers: (readonly [string, string])[] = []
  if (challenge !== undefined) headers.push(['WWW-Authenticate', challenge])
  if (retry !== undefined) headers.push(['Retry-After', String(Math.max(1, Math.ceil(retry)))])
  if (error.code === 'method-not-allowed' && exchange.match !== undefined) headers.push(['Allow', allowOf(exchange.match)])
  if (status === 415) headers.push(...acceptedBodies(service, exchange))
  if (status === 401 && service.dpop !== undefined && exchange.bundle === undefined) headers.push(['WWW-Authenticate', DPOP_CHALLENGE])
  return headers
}

/** What a request could have sent instead. @see https://www.rfc-editor.org/rfc/rfc9110#section-15.5.16 */
function acceptedBodies({ gzipRequests }: Service, { route }: Exchange): Answer['headers'] {
  const codings = ['Accept-Encoding', gzipRequests ? 'gzip, identity' : 'identity'] as const
  return route?.method === 'PATCH' ? [codings, ACCEPT_PATCH] : [codings]
}

function oauthError({ code }: OperationError): string {
  if (code === 'token-invalid') return 'invalid_token'
  if (code === 'forbidden') return 'insufficient_scope'
  return ERRORS[code].status >= 429 ? 'temporarily_unavailable' : 'invalid_request'
}

function oauthDescription(error: OperationError): string {
  return error.code === 'token-malformed' ? badRequest(true) : error.message
}
