import { isObject, objectAt, stringAt } from 'fhir-ops/json'
import { isResourceId, isResourceType, type HistoryItem } from 'fhir-ops/storage'
import type { Answer } from './answer.js'
import { memberText, readBundlePage, type ExpectedPage } from './bundle-page.js'
import { unavailable } from './failure.js'
import type { UpstreamPage } from './linked-page.js'
import { instantOf, resourceFrom, versionIn } from './stored-from.js'

/**
 * Reads a page of a history.
 *
 * @throws {OperationError} as `readBundlePage`; `storage-unavailable` for an entry that does not tell which version it is.
 */
export function readHistoryPage(answer: Answer, expected: Omit<ExpectedPage, 'kind'>): UpstreamPage<HistoryItem> {
  const { entries, next } = readBundlePage(answer, { ...expected, kind: 'history' })
  return { items: entries.map(itemOf), ...(next !== undefined && { next }) }
}

function itemOf(text: string): HistoryItem {
  const entry: unknown = JSON.parse(text)
  const [request, response] = isObject(entry) ? [objectAt(entry, 'request'), objectAt(entry, 'response')] : []
  const { type, id, version } = addressIn(stringAt(request, 'url') ?? '')
  const method = stringAt(request, 'method')
  const created = method === 'POST' || stringAt(response, 'status')?.startsWith('201') === true
  const told = versionIn(stringAt(response, 'etag')) ?? version
  if (method !== 'DELETE') return { ...putOf(memberText(text, 'resource'), told), created }
  if (!isResourceType(type) || !isResourceId(id) || told === undefined) throw unavailable('does not tell what was deleted')
  return { type, id, versionId: told, lastUpdated: instantOf(stringAt(response, 'lastModified')), created: false }
}

function putOf(text: string | undefined, told: string | undefined): Omit<HistoryItem, 'created'> {
  const resource: unknown = JSON.parse(text ?? 'null')
  const type = isObject(resource) ? stringAt(resource, 'resourceType') : undefined
  if (text === undefined || type === undefined || !isResourceType(type)) throw unavailable('sent a version without its resource')
  const stored = resourceFrom(text, { type, versionId: told })
  const { id, versionId, lastUpdated } = stored
  return { type, id, versionId, lastUpdated, stored }
}

/** `Patient/a`, `Patient/a/_history/2`, or either behind a base. */
function addressIn(url: string): { readonly type: string; readonly id: string; readonly version?: string } {
  const parts = url.split('/')
  const at = parts.at(-2) === '_history' ? -4 : -2
  return { type: parts.at(at) ?? '', id: parts.at(at + 1) ?? '', ...(at === -4 && { version: parts.at(-1) ?? '' }) }
}
