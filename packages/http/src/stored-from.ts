import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Pace } from 'fhir-ops/internal/context'
import { isObject, objectAt, parseInPieces, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Work } from 'fhir-ops/internal/work'
import { isResourceId, storedResource, writableText, type StoredResource } from 'fhir-ops/storage'
import { unavailable } from './answer.js'

/** What the upstream says of a version apart from the resource. */
export interface Stamp {
  readonly type: string
  /** The id that was asked for. */
  readonly id?: string
  readonly headers?: Headers
  /** The version where the resource does not say it. */
  readonly versionId?: string | undefined
}

/**
 * The resource that the upstream sent, numbers as it wrote them.
 *
 * @param text JSON, known to be well-formed.
 * @throws {OperationError} `storage-unavailable` when it is of another type, has another id than was asked for or a version that is not a FHIR id.
 */
export async function resourceFrom(text: string, stated: Stamp, pace: Pace): Promise<StoredResource> {
  const { type, id: expectedId, headers, versionId = versionOf(headers) } = stated
  const resource = await pace.run(parseInPieces(text))
  if (!isObject(resource) || stringAt(resource, 'resourceType') !== type) throw unavailable('sent another type of resource')
  const id = stringAt(resource, 'id')
  if (id === undefined || (expectedId !== undefined && id !== expectedId)) throw unavailable('sent another resource')
  const meta = objectAt(resource, 'meta')
  const otherVersion = versionId ?? (meta?.['versionId'] === undefined ? await pace.run(contentVersion(text)) : undefined)
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
 * The version of a text where the upstream keeps none: another text must be another version, since what is made from a definition is kept by its version,
 * and clients ask whether it is still the same.
 */
function* contentVersion(text: string): Work<string> {
  const hash = sha256.create()
  for (let from = 0; from < text.length;) {
    // Not between the halves of a character.
    const to = from + HASHED - ((text.charCodeAt(from + HASHED - 1) & 0xfc00) === 0xd800 ? 1 : 0)
    hash.update(utf8ToBytes(text.slice(from, to)))
    from = to
    yield
  }
  return bytesToHex(hash.digest())
}

/** Characters that are hashed in one go. */
const HASHED = 64 * 1024

/** The version of the `ETag` among headers. */
export function versionOf(headers: Headers | undefined): string | undefined {
  return versionIn(headers?.get('etag') ?? undefined)
}

/** The version of an entity tag, as FHIR writes it: `W/"3"`. */
export function versionIn(etag: string | undefined): string | undefined {
  const version = /^(?:W\/)?"([^"]*)"$/.exec(etag ?? '')?.[1]
  return version !== undefined && isResourceId(version) ? version : undefined
}

/**
 * The version that a write made: of its entity tag, else of the resource that came back.
 *
 * @returns `undefined` where the upstream states none. @throws {OperationError} `storage-unavailable` for a version that is not a FHIR id.
 */
export function writtenVersion(etag: string | undefined, meta: JsonObject | undefined): string | undefined {
  const version = versionIn(etag) ?? meta?.['versionId']
  if (version === undefined) return undefined
  if (typeof version !== 'string' || !isResourceId(version)) throw unavailable('sent an invalid version')
  return version
}

/** UTC with milliseconds; the beginning of 1970 where the upstream keeps no time. */
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
