import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { dateInterval, MAX_COUNT, type SearchPair } from 'fhir-ops/internal/search'
import type { HistoryPage, HistoryQuery } from 'fhir-ops/storage'
import type { HistoryItem, HistoryPeriod, ResourceVersion } from 'fhir-ops/internal/storage'
import { authorize } from '../auth/caller.js'
import type { Answer } from '../http/answer.js'
import { param, type Exchange } from '../exchange.js'
import { FHIR_PATH, type Service } from '../service.js'
import { withDefinitions } from './definitions.js'
import { fhirTypes, isVersionReached, shownPage, type Part } from './reach.js'
import { PROTOCOL } from './search/search-request.js'
import { linksOf } from './search/searchset.js'
import { pageAnswer, type EntryParts } from './bundle-text.js'

const DEFAULT_PAGE = 100
const MAX_PAGE = 1_000

/** The resources whose versions are requested. */
interface HistoryPlace {
  /** Path below the FHIR base. */
  readonly path: string
  readonly query: Pick<HistoryQuery, 'types' | 'id'>
}

/**
 * Returns the versions of a resource, latest first.
 *
 * @throws {OperationError} as `historyOfType`; `not-found` for a resource that never existed.
 * @see https://hl7.org/fhir/R4/http.html#history
 */
export function historyOfInstance(service: Service, exchange: Exchange): Promise<Answer> {
  const [type, id] = [param(exchange, 'type'), param(exchange, 'id')]
  return historyAt(service, exchange, { path: `${type}/${id}/_history`, query: { types: [type], id } })
}

/** Returns the versions of all resources of a type. @throws {OperationError} `search-invalid`, `search-unsupported`, `forbidden`, `too-costly` */
export function historyOfType(service: Service, exchange: Exchange): Promise<Answer> {
  const type = param(exchange, 'type')
  return historyAt(service, exchange, { path: `${type}/_history`, query: { types: [type] } })
}

/** Returns the versions of all resources of FHIR's types. @throws {OperationError} as `historyOfType` */
export async function historyOfSystem(service: Service, exchange: Exchange): Promise<Answer> {
  const types = fhirTypes()
  for (const type of types) authorize(exchange.caller, { action: 'search', type })
  return historyAt(service, exchange, { path: '_history', query: { types } })
}

async function historyAt(service: Service, exchange: Exchange, { path, query }: HistoryPlace): Promise<Answer> {
  const base = `${service.baseUrl}${FHIR_PATH}`
  const pairs = exchange.target.query.filter(([name]) => !PROTOCOL.has(name))
  const { total: wanted, ...part } = readPairs(pairs)
  const asked = { ...query, ...part }
  const stored = await shownVersions(exchange, asked)
  const page = stored.items.length === 0 ? await definitionHistory(service, exchange, asked) : stored
  if (page.items.length === 0 && isOfNothing(asked)) throw new OperationError('not-found', `There is no ${path}.`)
  const total = wanted === undefined || wanted === 'none' ? undefined : await totalOf(exchange, { asked, page, wanted })
  return pageAnswer(
    exchange.ctx,
    { type: 'history', total, link: linksOf(page, { path, pairs, base }) },
    page.items.values().map((item) => entryParts(item, base)),
  )
}

/** Maximum number of versions that are counted, because they are read for that. */
const MOST_COUNTED = 1_000

interface Counting {
  readonly asked: HistoryQuery
  /** The page that was asked for. */
  readonly page: HistoryPage
  readonly wanted: 'estimate' | 'accurate'
}

/**
 * Returns the number of versions on all pages; `undefined` if an estimate is enough and they are not all on one page.
 *
 * @throws {OperationError} `too-costly` if more versions would have to be counted than may be.
 */
async function totalOf(exchange: Exchange, { asked, page, wanted }: Counting): Promise<number | undefined> {
  const { after, ...all } = asked
  if (after === undefined && page.next === undefined) return page.items.length
  if (wanted === 'estimate') return undefined
  let counted = await shownVersions(exchange, { ...all, limit: MOST_COUNTED + 1 })
  let total = counted.items.length
  while (counted.next !== undefined && total <= MOST_COUNTED) {
    counted = await shownVersions(exchange, { ...all, limit: MOST_COUNTED + 1 - total, after: counted.next })
    total += counted.items.length
  }
  if (total <= MOST_COUNTED) return total
  const problem = `The history has more than ${MOST_COUNTED} versions, which are not counted. Ask without _total=accurate.`
  throw new OperationError('too-costly', problem, { expression: ['_total'] })
}

/** True if an empty first page means that the resource never existed: otherwise it would contain at least one version. */
function isOfNothing({ id, since, at, after }: HistoryQuery): boolean {
  return id !== undefined && since === undefined && at === undefined && after === undefined
}

/** The history of a definition that no stored resource ever replaced: its only version. */
async function definitionHistory(
  service: Service,
  exchange: Exchange,
  { types, id, since, at, after }: HistoryQuery,
): Promise<HistoryPage> {
  const [type] = types
  if (type === undefined || id === undefined || after !== undefined) return { items: [] }
  const { storage } = await withDefinitions(service, exchange, type)
  const stored = await storage.read(type, id)
  if (stored === undefined || (await storage.history?.page({ types, id, limit: 1 }))?.items.length !== 0) return { items: [] }
  const { versionId, lastUpdated } = stored
  const item: HistoryItem = { type, id, versionId, lastUpdated, created: true, stored }
  const written = Date.parse(lastUpdated)
  const isAsked = (since === undefined || written >= since) && (at === undefined || written <= at.to)
  return { items: isAsked && (await isShown(exchange, item)) ? [item] : [] }
}

/** Returns a page without resources that a rule of the host hides or that are out of reach. */
async function shownVersions({ ctx, caller }: Exchange, query: HistoryQuery): Promise<HistoryPage> {
  if (ctx.storage.history === undefined) throw new TypeError('The storage keeps no history.')
  const { history } = ctx.storage
  const isWhole = !caller.hides && caller.principal?.project === undefined && !query.types.includes('Binary')
  const shows = isWhole ? undefined : (version: HistoryItem): Promise<boolean> => isShown({ ctx, caller }, version)
  const pageOf = (part: Part): Promise<HistoryPage> => history.page({ ...query, ...part })
  return shownPage({ ctx, pageOf, shows, lengthOf: ({ stored }) => stored?.text.length ?? 0 }, { limit: DEFAULT_PAGE, ...query })
}

async function isShown(asking: Pick<Exchange, 'ctx' | 'caller'>, version: ResourceVersion): Promise<boolean> {
  const { caller } = asking
  return (await isVersionReached(asking, version)) && (!caller.hides || caller.decide('read', version.type, version.id) === 'allow')
}

const UNSUPPORTED: ReadonlySet<string> = new Set(['_list'])

/** What the parameters of a history ask for. */
interface Wanted extends Pick<HistoryQuery, 'since' | 'at' | 'limit' | 'after'> {
  readonly total?: ReturnType<typeof readTotal>
}

function readPairs(pairs: readonly SearchPair[]): Wanted {
  const values = new Map(pairs)
  const repeated = pairs.find(([name], at) => pairs.findIndex(([other]) => other === name) < at)
  if (repeated !== undefined)
    throw new OperationError('search-invalid', 'A parameter of the history is repeated.', { expression: [repeated[0]] })
  for (const name of values.keys()) if (!KNOWN.has(name)) throw refused(name)
  const [since, at, count, total, after] = ['_since', '_at', '_count', '_total', '_cursor'].map((name) => values.get(name))
  return {
    limit: count === undefined ? DEFAULT_PAGE : Math.min(readCount(count), MAX_PAGE),
    ...(since !== undefined && { since: readSince(since) }),
    ...(at !== undefined && { at: readAt(at) }),
    ...(total !== undefined && { total: readTotal(total) }),
    ...(after !== undefined && { after }),
  }
}

const KNOWN: ReadonlySet<string> = new Set(['_since', '_at', '_count', '_total', '_cursor'])

function refused(name: string): OperationError {
  const code = UNSUPPORTED.has(name) ? 'search-unsupported' : 'search-invalid'
  const problem = UNSUPPORTED.has(name) ? 'is not supported' : 'is not known'
  return new OperationError(code, `The parameter ${quoted(name)} of a history ${problem}.`, { expression: [name] })
}

function readSince(value: string): number {
  const interval = dateInterval(value)
  if (interval === undefined) throw invalid('_since', value, 'an instant')
  return interval.low
}

function readAt(value: string): HistoryPeriod {
  const interval = dateInterval(value)
  if (interval === undefined) throw invalid('_at', value, 'a date')
  return { from: interval.low, to: interval.high }
}

function readTotal(value: string): 'none' | 'estimate' | 'accurate' {
  if (value === 'none' || value === 'estimate' || value === 'accurate') return value
  throw invalid('_total', value, 'none, estimate or accurate')
}

function readCount(value: string): number {
  if (!/^[1-9]\d{0,9}$/.test(value) || Number(value) > MAX_COUNT) throw invalid('_count', value, `a whole number from 1 to ${MAX_COUNT}`)
  return Number(value)
}

function invalid(name: string, value: string, expected: string): OperationError {
  return new OperationError('search-invalid', `The parameter ${quoted(name)} has the value ${quoted(value)}, which is not ${expected}.`, {
    expression: [name],
  })
}

/** Writes a version as an entry whose request would create it again: always PUT, because the original method is not stored and PUT covers both. */
function entryParts({ type, id, versionId, lastUpdated, created, stored }: HistoryItem, base: string): EntryParts {
  const address = `${type}/${id}`
  const request = { method: stored === undefined ? 'DELETE' : 'PUT', url: address }
  const status = created ? '201' : stored === undefined ? '204' : '200'
  const response = { status, etag: `W/"${versionId}"`, lastModified: lastUpdated }
  const resource = stored === undefined ? [] : ['"resource":', stored.text, ',']
  const rest = `"request":${JSON.stringify(request)},"response":${JSON.stringify(response)}}`
  return [`{"fullUrl":${JSON.stringify(`${base}/${address}`)},`, ...resource, rest]
}
