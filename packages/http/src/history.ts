import { isResourceId, isResourceType, type HistoryPage, type HistoryQuery } from 'fhir-ops/storage'
import type { HistoryItem, ResourceVersion } from 'fhir-ops/internal/storage'
import { isGone, jsonOf, unavailable, unsupported, type Answer, resourceFrom, instantOf, versionIn } from './answer.js'
import { linkedPage, memberText, readBundlePage, type UpstreamPage, type ExpectedPage } from './bundle-page.js'
import type { Reach } from './search.js'
import type { Pair } from './upstream.js'
import type { Pace } from 'fhir-ops/internal/context'
import { isObject, objectAt, parseInPieces, stringAt } from 'fhir-ops/internal/json'

/** Reads a version of a resource. The time of a deletion is known only from the resource's history. */
export async function versionUpstream(
  reach: Reach,
  { type, id, versionId }: Pick<ResourceVersion, 'type' | 'id' | 'versionId'>,
): Promise<ResourceVersion | undefined> {
  if (!isResourceType(type) || !isResourceId(id) || !isResourceId(versionId)) return undefined
  const answer = await reach.upstream.version(type, id, versionId)
  if (await isGone(answer, reach.pace)) return answer.status === 410 ? deletionIn(reach, { types: [type], id }, versionId) : undefined
  if (answer.status !== 200) throw unavailable('refused to give a version')
  await jsonOf(answer, reach.pace)
  const stored = await resourceFrom(answer.text, { type, id, headers: answer.headers }, reach.pace)
  if (stored.versionId !== versionId) throw unavailable('sent another version')
  return { type, id, versionId, lastUpdated: stored.lastUpdated, stored }
}

async function deletionIn(reach: Reach, query: HistoryQuery, versionId: string): Promise<ResourceVersion | undefined> {
  let page: HistoryPage = { items: [] }
  do {
    page = await historyUpstream(reach, { ...query, ...(page.next !== undefined && { after: page.next }) })
    const found = page.items.find((item) => item.versionId === versionId)
    if (found !== undefined) return found
  } while (page.next !== undefined)
  return undefined
}

/**
 * Fetches a page of versions, in the order of the upstream. For several types, the upstream is asked for the history of all types, which is then
 * filtered: a page may have fewer items than requested.
 *
 * @throws {OperationError} `search-unsupported` for `at`: a server may ignore `_at`, and its answer would not reveal that.
 */
export async function historyUpstream(reach: Reach, query: HistoryQuery): Promise<HistoryPage> {
  const { types, id, limit } = query
  if (query.at !== undefined) throw unsupported('the versions that were current at a time')
  if (!types.some(isResourceType) || (id !== undefined && !isResourceId(id))) return { items: [] }
  const page = await linkedPage(reach.settings, query, {
    first: async () => firstPage(reach, query),
    at: async (link) => pageAt(reach, link, limit),
  })
  const items = page.items.filter((item) => types.includes(item.type) && (id === undefined || item.id === id))
  if (types.length === 1 && items.length < page.items.length) throw unavailable('sent versions of another resource')
  return { ...page, items }
}

async function firstPage({ upstream, settings, pace }: Reach, query: HistoryQuery): Promise<UpstreamPage<HistoryItem>> {
  const since: readonly Pair[] = query.since === undefined ? [] : [['_since', new Date(query.since).toISOString()]]
  const count: readonly Pair[] = query.limit === undefined ? [] : [['_count', String(query.limit)]]
  const answer = await upstream.history(addressOf(query), [...since, ...count])
  // The resource never existed.
  if (query.id !== undefined && answer.status === 404 && (await isGone(answer, pace))) return { items: [] }
  return readHistoryPage(answer, { base: settings.base, ...(since.length > 0 && { pairs: since }) }, pace)
}

async function pageAt({ upstream, settings, pace }: Reach, link: URL, limit: number | undefined): Promise<UpstreamPage<HistoryItem>> {
  return readHistoryPage(await upstream.page(link, limit), { base: settings.base }, pace)
}

function addressOf({ types: [type = '', ...others], id }: HistoryQuery): string {
  if (others.length > 0) return '_history'
  return id === undefined ? `${type}/_history` : `${type}/${id}/_history`
}

/**
 * Reads a page of a history.
 *
 * @throws {OperationError} as `readBundlePage`; `storage-unavailable` for an entry without its version.
 */
async function readHistoryPage(answer: Answer, expected: Omit<ExpectedPage, 'kind'>, pace: Pace): Promise<UpstreamPage<HistoryItem>> {
  const { entries, next } = await readBundlePage(answer, { ...expected, kind: 'history' }, pace)
  const items: HistoryItem[] = []
  for (const entry of entries) items.push(await itemOf(entry, pace))
  return { items, ...(next !== undefined && { next }) }
}

async function itemOf(text: string, pace: Pace): Promise<HistoryItem> {
  await pace.step()
  const entry = await pace.run(parseInPieces(text))
  const [request, response] = isObject(entry) ? [objectAt(entry, 'request'), objectAt(entry, 'response')] : []
  const { type, id, version } = addressIn(stringAt(request, 'url') ?? '')
  const method = stringAt(request, 'method')
  const created = method === 'POST' || stringAt(response, 'status')?.startsWith('201') === true
  const named = versionIn(stringAt(response, 'etag')) ?? version
  if (method !== 'DELETE') return { ...(await putOf(await memberText(text, 'resource', pace), named, pace)), created }
  if (!isResourceType(type) || !isResourceId(id) || named === undefined) throw unavailable('does not say what was deleted')
  return { type, id, versionId: named, lastUpdated: instantOf(stringAt(response, 'lastModified')), created: false }
}

async function putOf(text: string | undefined, named: string | undefined, pace: Pace): Promise<Omit<HistoryItem, 'created'>> {
  const resource = await pace.run(parseInPieces(text ?? 'null'))
  const type = isObject(resource) ? stringAt(resource, 'resourceType') : undefined
  if (text === undefined || type === undefined || !isResourceType(type)) throw unavailable('sent a version without its resource')
  const stored = await resourceFrom(text, { type, versionId: named }, pace)
  const { id, versionId, lastUpdated } = stored
  return { type, id, versionId, lastUpdated, stored }
}

/** Parses `Patient/a` or `Patient/a/_history/2`, with or without a base. */
function addressIn(url: string): { readonly type: string; readonly id: string; readonly version?: string } {
  const parts = url.split('/')
  const at = parts.at(-2) === '_history' ? -4 : -2
  return { type: parts.at(at) ?? '', id: parts.at(at + 1) ?? '', ...(at === -4 && { version: parts.at(-1) ?? '' }) }
}
