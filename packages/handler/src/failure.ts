import type { OperationOutcome } from 'fhir/r4.js'
import { ERRORS, OperationError, outcomeOf } from 'fhir-ops/errors'
import { badRequest, challengeOf } from './auth/challenge.js'
import { emptyAnswer, fhirAnswer, jsonAnswer, type Answer } from './http/answer.js'
import type { Family } from './routes/route.js'

/** Where a failure is answered. */
export interface FailurePlace {
  readonly family: Family
  readonly realm: string
  /** Of the OperationOutcome. */
  readonly newId: () => string
}

/** The error behind whatever was thrown: what nobody foresaw becomes `unforeseen`, naming the log line only (section 1). */
export function foreseen(error: unknown, requestId: string): OperationError {
  if (error instanceof OperationError) return error
  return new OperationError('unforeseen', `The request could not be answered. Reference: ${requestId}.`, { cause: error })
}

/** Writes a failure in the form of the endpoint. */
export function failureAnswer(error: OperationError, place: FailurePlace): Answer {
  const headers = failureHeaders(error, place)
  const { status } = ERRORS[error.code]
  if (place.family === 'fhir') return fhirAnswer(status, outcomeOf(error, place.newId()), headers)
  // RFC 6750 3.1: without credentials, a challenge and nothing else.
  if (error.code === 'token-missing') return emptyAnswer(status, headers)
  return jsonAnswer(status, { error: oauthError(error), error_description: oauthDescription(error) }, headers)
}

/**
 * A text that is being sent, with its failure told: the last line is an OperationOutcome then, and the answer is cut off behind it.
 *
 * @param onFailure Told of the error before the last line is sent.
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

function failureHeaders(error: OperationError, { realm, family }: FailurePlace): Answer['headers'] {
  const { status } = ERRORS[error.code]
  const challenge = challengeOf(error, { realm, atUserInfo: family === 'userinfo' })
  const retry = error.detail.retryAfterSeconds ?? (status === 429 || status === 503 ? RETRY_SECONDS : undefined)
  return [
    ...(challenge === undefined ? [] : [['WWW-Authenticate', challenge] as const]),
    ...(retry === undefined ? [] : [['Retry-After', String(Math.max(1, Math.ceil(retry)))] as const]),
  ]
}

function oauthError({ code }: OperationError): string {
  if (code === 'token-invalid') return 'invalid_token'
  if (code === 'forbidden') return 'insufficient_scope'
  return ERRORS[code].status >= 429 ? 'temporarily_unavailable' : 'invalid_request'
}

function oauthDescription(error: OperationError): string {
  return error.code === 'token-malformed' ? badRequest(true) : error.message
}
