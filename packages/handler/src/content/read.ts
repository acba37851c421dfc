import type { StoredResource } from 'fhir-ops/storage'
import { notFound } from '../auth/caller.js'
import { emptyAnswer, fhirText, type Answer } from '../http/answer.js'
import { param, type Call } from '../routes/route.js'
import { isReached } from './reach.js'

/** The current version of a resource; 304 when the caller has it (`If-None-Match`). @throws {OperationError} `not-found` */
export async function readResource(call: Call): Promise<Answer> {
  const stored = await storedOf(call)
  const headers = versionHeaders(stored)
  return hasVersion(call, stored) ? emptyAnswer(304, headers) : fhirText(200, stored.text, headers)
}

/** A version by its number. Only the current one is kept. @throws {OperationError} `not-found` */
export async function readVersion(call: Call): Promise<Answer> {
  const stored = await storedOf(call)
  if (stored.versionId !== param(call, 'version')) throw notFound(stored.type, `${stored.id}/_history/${param(call, 'version')}`)
  return fhirText(200, stored.text, versionHeaders(stored))
}

/** The resource of the path. @throws {OperationError} `not-found` when it does not exist or is out of the caller's reach. */
export async function storedOf(call: Call): Promise<StoredResource> {
  const [type, id] = [param(call, 'type'), param(call, 'id')]
  const stored = await call.ctx.storage.read(type, id)
  if (stored === undefined || !isReached(call.caller, stored)) throw notFound(type, id)
  return stored
}

/** `ETag` and `Last-Modified` of a version. */
export function versionHeaders({ versionId, lastUpdated }: Pick<StoredResource, 'versionId' | 'lastUpdated'>): Answer['headers'] {
  return [
    ['ETag', `W/"${versionId}"`],
    ['Last-Modified', new Date(lastUpdated).toUTCString()],
  ]
}

function hasVersion({ request }: Call, { versionId }: StoredResource): boolean {
  const known = (request.header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return known.includes(`"${versionId}"`)
}
