import { OperationError } from 'fhir-ops/errors'

/** Nothing that the upstream said goes into an error: neither its body, nor its address, nor what we sent it. */
export function unavailable(reason: string, retryAfterSeconds?: number): OperationError {
  return new OperationError(
    'storage-unavailable',
    `The upstream FHIR server ${reason}.`,
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  )
}

/** The upstream did not answer in time; whether it did what it was asked is unknown. */
export function timedOut(): OperationError {
  return new OperationError('storage-timeout', 'The upstream FHIR server did not answer in time.')
}

/** The upstream is well, but does not let the caller do this. */
export function callerRefused(): OperationError {
  return new OperationError('forbidden', 'The upstream FHIR server does not allow this to the caller.')
}

/** The adapter does not ask upstreams for this. */
export function unsupported(what: string): OperationError {
  return new OperationError('search-unsupported', `The upstream FHIR server cannot be asked for ${what}.`)
}
