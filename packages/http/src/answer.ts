import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { readStrictJson, type JsonObject, isObject, objectAt, parseInPieces, stringAt } from 'fhir-ops/internal/json'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { chunksOf } from 'fhir-ops/internal/text'
import { isResourceId, storedResource, writableText, type StoredResource } from 'fhir-ops/storage'

/** The error for an unavailable upstream. It contains nothing that the upstream sent (neither body nor address) and nothing that we sent. */
export function unavailable(reason: string, retryAfterSeconds?: number): OperationError {
  return new OperationError(
    'storage-unavailable',
    `The upstream FHIR server ${reason}.`,
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  )
}

/** The error if the upstream does not answer in time; whether the request took effect is unknown. */
export function timedOut(message = 'The upstream FHIR server did not answer in time.'): OperationError {
  return new OperationError('storage-timeout', message)
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
  for await (const chunk of chunksOf(response.body)) {
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

/** Version metadata that the upstream sends outside the resource. */
interface Stamp {
  readonly type: string
  /** The requested id. */
  readonly id?: string
  readonly headers?: Headers
  /** The version to use if the resource does not state it. */
  readonly versionId?: string | undefined
}

/**
 * Returns the resource that the upstream sent, with numbers as written.
 *
 * @param text Well-formed JSON.
 * @throws {OperationError} `storage-unavailable` if it has another type, another id than requested, or a version that is not a FHIR id.
 */
export async function resourceFrom(text: string, stated: Stamp, pace: Pace): Promise<StoredResource> {
  const { type, id: expectedId, headers, versionId = versionOf(headers) } = stated
  const resource = await pace.run(parseInPieces(text))
  if (!isObject(resource) || stringAt(resource, 'resourceType') !== type) throw unavailable('sent another type of resource')
  const id = stringAt(resource, 'id')
  if (id === undefined || (expectedId !== undefined && id !== expectedId)) throw unavailable('sent another resource')
  const meta = objectAt(resource, 'meta')
  const otherVersion = versionId ?? (meta?.['versionId'] === undefined ? await contentVersion(text, pace) : undefined)
  const stamp = stampOf(meta, headers, otherVersion)
  return storedResource({ type, id, ...stamp, text: laidOut(type, id, text) })
}

function stampOf(
  meta: JsonObject | undefined,
  headers: Headers | undefined,
  otherVersion: string | undefined,
): { readonly versionId: string; readonly lastUpdated: string } {
  const said = meta?.['versionId'] ?? otherVersion
  if (typeof said !== 'string' || !isResourceId(said)) throw unavailable('sent an invalid version')
  return {
    versionId: said,
    lastUpdated: instantOf(stringAt(meta, 'lastUpdated') ?? headers?.get('last-modified') ?? undefined),
  }
}

/**
 * Makes a version from the text, for an upstream without versions: a different text must have a different version, because what is compiled from a
 * definition is cached by version, and clients ask whether a version is still current.
 */
async function contentVersion(text: string, pace: Pace): Promise<string> {
  const hash = sha256.create()
  for (let from = 0; from < text.length;) {
    // Do not split a surrogate pair.
    const to = from + HASHED - ((text.charCodeAt(from + HASHED - 1) & 0xfc00) === 0xd800 ? 1 : 0)
    hash.update(utf8ToBytes(text.slice(from, to)))
    from = to
    await pace.step()
  }
  return bytesToHex(hash.digest())
}

/** Number of characters hashed without a pause. */
const HASHED = 64 * 1024

/** Returns the version in the `ETag` header. */
export function versionOf(headers: Headers | undefined): string | undefined {
  return versionIn(headers?.get('etag') ?? undefined)
}

/** Returns the version in an entity tag, as FHIR writes it: `W/"3"`. */
export function versionIn(etag: string | undefined): string | undefined {
  const version = /^(?:W\/)?"([^"]*)"$/.exec(etag ?? '')?.[1]
  return version !== undefined && isResourceId(version) ? version : undefined
}

/**
 * Returns the version that a write created: from the entity tag, or else from the returned resource.
 *
 * @returns `undefined` if the upstream states none. @throws {OperationError} `storage-unavailable` for a version that is not a FHIR id.
 */
export function writtenVersion(etag: string | undefined, meta: JsonObject | undefined): string | undefined {
  const version = versionIn(etag) ?? meta?.['versionId']
  if (version === undefined) return undefined
  if (typeof version !== 'string' || !isResourceId(version)) throw unavailable('sent an invalid version')
  return version
}

/** Normalizes an instant to UTC with milliseconds; returns the beginning of 1970 if the upstream does not store times. */
export function instantOf(text: string | undefined): string {
  const time = Date.parse(text ?? '')
  return new Date(Number.isNaN(time) ? 0 : time).toISOString()
}

function laidOut(type: string, id: string, text: string): string {
  try {
    return writableText(type, id, text)
  } catch {
    throw unavailable('sent a resource that cannot be kept')
  }
}

/** True if the upstream does not have the resource. @throws {OperationError} as `checkFhir`. */
export async function isGone(answer: Answer, pace: Pace): Promise<boolean> {
  if (answer.status !== 404 && answer.status !== 410) return false
  await checkFhir(answer, pace)
  return true
}

/**
 * @throws {OperationError} `storage-unavailable` for a body without a resource: it comes from something in front of the upstream, such as a proxy with
 *   another path, and says nothing about the resource.
 */
export async function checkFhir(answer: Answer, pace: Pace): Promise<void> {
  if (answer.text === '') return
  if (stringAt(await jsonOf(answer, pace), 'resourceType') === undefined) throw unavailable('answered with something else than FHIR')
}
