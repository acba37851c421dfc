import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { readStrictJson, type JsonObject } from 'fhir-ops/internal/json'

/** The error for an unavailable upstream. It contains nothing that the upstream sent (neither body nor address) and nothing that we sent. */
export function unavailable(reason: string, retryAfterSeconds?: number): OperationError {
  return new OperationError(
    'storage-unavailable',
    `The upstream FHIR server ${reason}.`,
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  )
}

/** The error if the upstream does not answer in time; whether the request took effect is unknown. */
export function timedOut(): OperationError {
  return new OperationError('storage-timeout', 'The upstream FHIR server did not answer in time.')
}

/** The error if the upstream works but does not allow this to the caller. */
export function callerRefused(): OperationError {
  return new OperationError('forbidden', 'The upstream FHIR server does not allow this to the caller.')
}

/** The error if nobody waits for the answer any longer. */
export function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

/** The error for something that the adapter never requests from upstreams. */
export function unsupported(what: string): OperationError {
  return new OperationError('search-unsupported', `The upstream FHIR server cannot be asked for ${what}.`)
}

/** An answer of the upstream, read in full within the limits. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Reads a body of at most `maxBytes`, as strict UTF-8; stops at the limit. */
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
 * Parses the body of an answer. It must be a JSON object by media type and text, not too deep, without duplicate members, and without the names and
 * values that are forbidden in request bodies too.
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

/** Errors of `readStrictJson` about a text. */
const FAULTS: ReadonlySet<string> = new Set(['body-invalid', 'body-structure', 'parameter-too-long'])

/** Far above any resource; the length of an answer is limited separately. */
const LIMITS = { maxDepth: 128, maxMembers: 1_000_000 }

function isJsonType(contentType: string): boolean {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  return type === 'application/fhir+json' || type === 'application/json'
}
