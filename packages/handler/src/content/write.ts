import { OperationError, quoted } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/json'
import { putResource, storedResource, type PutEntry, type StoredResource, type WriteResult } from 'fhir-ops/storage'
import { notFound } from '../auth/caller.js'
import { emptyAnswer, fhirText, type Answer } from '../http/answer.js'
import { param, type Call } from '../routes/route.js'
import { FHIR_PATH, type Service } from '../service.js'
import { checkBot } from './bot-check.js'
import { isReached } from './reach.js'
import { versionHeaders } from './read.js'

/** Stores a resource under a new id. @throws {OperationError} as `writableText`; `not-supported` for `If-None-Exist`. */
export async function createResource(service: Service, call: Call): Promise<Answer> {
  if (call.request.header('if-none-exist') !== undefined) throw unsupported('Conditional create')
  const type = param(call, 'type')
  return put(service, call, { type, id: call.ctx.newId(), ifVersion: null })
}

/**
 * Stores a resource under the id of the path, new or as the next version.
 *
 * @throws {OperationError} as `writableText`; `resource-invalid` when its id is not that of the path; `version-conflict` when `If-Match`
 *   does not hold.
 */
export async function updateResource(service: Service, call: Call): Promise<Answer> {
  const [type, id] = [param(call, 'type'), param(call, 'id')]
  const given = resourceOf(call)['id']
  if (given !== id) throw new OperationError('resource-invalid', `The id of the resource must be ${quoted(id)}.`, { expression: [`${type}.id`] })
  await checkReach(call, type, id)
  return put(service, call, { type, id, ifVersion: expectedVersion(call) })
}

/** Deletes a resource; deleting what does not exist succeeds. @throws {OperationError} `version-conflict` when `If-Match` does not hold. */
export async function deleteResource(call: Call): Promise<Answer> {
  const [type, id] = [param(call, 'type'), param(call, 'id')]
  await checkReach(call, type, id)
  const ifVersion = expectedVersion(call)
  await call.ctx.storage.write([{ op: 'delete', type, id, ...(typeof ifVersion === 'string' && { ifVersion }) }])
  return emptyAnswer(204)
}

interface Place {
  readonly type: string
  readonly id: string
  readonly ifVersion: string | null | undefined
}

async function put(service: Service, call: Call, { type, id, ifVersion }: Place): Promise<Answer> {
  if (type === 'Bot') checkBot({ ...resourceOf(call), id }, call.caller, service.bots?.limits)
  const entry = putResource({ type, id, source: call.body?.text ?? '', ifVersion }, service.indexer)
  const [result] = await call.ctx.storage.write([entry])
  if (result === undefined) throw new TypeError('The storage gave no result for a write.')
  const { created } = result
  return written(service, call, { stored: versionOf(entry, result), created })
}

function versionOf({ type, id, text }: PutEntry, { versionId = '', lastUpdated }: WriteResult): StoredResource {
  return storedResource({ type, id, versionId, lastUpdated, text })
}

/** `Prefer: return=minimal` leaves the resource out of the answer. */
function written(service: Service, { request }: Call, { stored, created }: { stored: StoredResource; created: boolean }): Answer {
  const { type, id, versionId } = stored
  const location = `${service.baseUrl}${FHIR_PATH}/${type}/${id}/_history/${versionId}`
  const headers = [...versionHeaders(stored), ...(created ? [['Location', location] as const] : [])]
  const status = created ? 201 : 200
  const isMinimal = /(^|[,;]\s*)return=minimal\b/i.test(request.header('prefer') ?? '')
  return isMinimal ? emptyAnswer(status, headers) : fhirText(status, stored.text, headers)
}

/** What is out of the caller's reach cannot be replaced or deleted, and looks as if it did not exist. */
async function checkReach(call: Call, type: string, id: string): Promise<void> {
  if (type !== 'Bot') return
  const current = await call.ctx.storage.read(type, id)
  if (current !== undefined && !isReached(call.caller, current)) throw notFound(type, id)
}

/** The version that `If-Match` names, or `null` for `If-None-Match: *`. A malformed one matches no version. */
function expectedVersion({ request }: Call): string | null | undefined {
  const match = request.header('if-match')
  if (match !== undefined) return /^\s*(?:W\/)?"([^"]*)"\s*$/.exec(match)?.[1] ?? ''
  return request.header('if-none-match')?.trim() === '*' ? null : undefined
}

function resourceOf({ body }: Call): JsonObject {
  return body?.json ?? {}
}

function unsupported(what: string): OperationError {
  return new OperationError('not-supported', `${what} is not supported.`)
}
