import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { readStrictJson, type JsonObject } from 'fhir-ops/internal/json'

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

/** Nobody waits for the answer any more. */
export function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

/** The adapter does not ask upstreams for this. */
export function unsupported(what: string): OperationError {
  return new OperationError('search-unsupported', `The upstream FHIR server cannot be asked for ${what}.`)
}

/** What the upstream answered, read to its end within the bounds. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Reads a body of at most `maxBytes`, which must be UTF-8; reading stops at the limit. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    throw unavailable('sent an answer that is too large')
  }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw unavailable('sent an answer that is too large')
    text += decoded(() => decoder.decode(chunk, { stream: true }))
  }
  return text + decoded(() => decoder.decode())
}

function decoded(decode: () => string): string {
  try {
    return decode()
  } catch {
    throw unavailable('sent an answer that is not UTF-8')
  }
}

/**
 * The answer's body, which must be a JSON object by its type and its text, not too deep, without a member twice, and without the names and
 * values that bodies of requests may not have either.
 */
export async function jsonOf({ headers, text }: Answer, pace: Pace): Promise<JsonObject> {
  if (!isJsonType(headers.get('content-type') ?? '')) throw unavailable('sent an answer that is not JSON')
  try {
    return await pace.run(readStrictJson(text, LIMITS))
  } catch (cause) {
    if (!(cause instanceof OperationError) || !FAULTS.has(cause.code)) throw cause
    throw unavailable('sent an answer that is not a well-formed JSON object')
  }
}

/** What `readStrictJson` says of a text. */
const FAULTS: ReadonlySet<string> = new Set(['body-invalid', 'body-structure', 'parameter-too-long'])

/** Far above any resource, and bounded by the length of an answer besides. */
const LIMITS = { maxDepth: 128, maxMembers: 1_000_000 }

function isJsonType(contentType: string): boolean {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  return type === 'application/fhir+json' || type === 'application/json'
}
