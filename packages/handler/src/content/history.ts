import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { createPace } from 'fhir-ops/internal/context'
import { dateInterval, MAX_COUNT, parseSeveral, type SearchPair } from 'fhir-ops/internal/search'
import type { ParsedSearch, SearchOptions } from 'fhir-ops/search'
import type { HistoryPage, HistoryQuery } from 'fhir-ops/storage'
import type { HistoryItem, HistoryPeriod, ResourceVersion } from 'fhir-ops/internal/storage'
import { authorize, notFound } from '../auth/caller.js'
import type { Answer } from '../http/answer.js'
import { param, type Exchange } from '../exchange.js'
import { FHIR_PATH, type Service } from '../service.js'
import { withDefinitions } from './definitions.js'
import { fhirTypes, isVersionReached, shownPage, type Part } from './reach.js'
import { PROTOCOL_PARAMETERS } from '../http/negotiation.js'
import { searchOptions } from './search/search-request.js'
import { linksOf } from './search/searchset.js'
import { SHAPING, subsetsFor } from './search/subset.js'
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
  const pairs = exchange.target.query.filter(([name]) => !PROTOCOL_PARAMETERS.has(name))
  const { total, ...part } = readPairs(pairs)
  const asked = { ...query, ...part }
  const shape = await shapeOf(service, exchange, query.types)
  const stored = await shownVersions(exchange, asked)
  const page = stored.items.length === 0 ? await definitionHistory(service, exchange, asked) : stored
  if (page.items.length === 0 && isOfNothing(asked)) throw notFound(asked.types.join(), asked.id ?? '')
  const countOnly = shape?.parsed.countOnly === true
  const wanted = countOnly ? 'count' : total
  const number = wanted === undefined || wanted === 'none' ? undefined : await totalOf(exchange, { asked, page, wanted })
  const shown = countOnly ? { items: [] } : page
  const items = shape === undefined ? shown.items : await shapedVersions(exchange, shown.items, shape)
  return pageAnswer(
    exchange.ctx,
    { type: 'history', total: number, link: linksOf(shown, { path, pairs, base }) },
    items.values().map((item) => entryParts(item, base)),
  )
}

/** What `_summary` or `_elements` leave of the versions. */
interface Shape {
  readonly options: SearchOptions
  readonly parsed: Pick<ParsedSearch, 'countOnly' | 'elements' | 'summary'>
}

/** Returns what to leave of the versions; `undefined` for all of them in full. @throws {OperationError} as `parseSeveral` */
async function shapeOf(service: Service, exchange: Exchange, types: readonly string[]): Promise<Shape | undefined> {
  const asked = exchange.target.query.filter(([name]) => SHAPING.has(name))
  if (asked.length === 0) return undefined
  const options = searchOptions(service, exchange)
  return { options, parsed: await parseSeveral(types, asked, options) }
}

async function shapedVersions(
  exchange: Exchange,
  items: readonly HistoryItem[],
  { options, parsed }: Shape,
): Promise<readonly HistoryItem[]> {
  const types = items.flatMap(({ type, stored }) => (stored === undefined ? [] : [type]))
  const subset = await subsetsFor(exchange, options, { types, parsed })
  const pace = createPace(exchange.ctx)
  const shaped: HistoryItem[] = []
  for (const item of items) {
    const { stored } = item
    const part = subset(item.type)
    await pace.step()
    shaped.push(
      stored === undefined || part === undefined ? item : { ...item, stored: { ...stored, text: await pace.run(part(stored.text)) } },
    )
  }
  return shaped
}

/** Maximum number of versions that are counted, because they are read for that. */
const MOST_COUNTED = 1_000

interface Counting {
  readonly asked: HistoryQuery
  /** The page that was asked for. */
  readonly page: HistoryPage
  /** `count` for the number alone, which is accurate. */
  readonly wanted: 'estimate' | 'accurate' | 'count'
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
  const [name, value] = wanted === 'count' ? ['_summary', 'count'] : ['_total', 'accurate']
  const problem = `The history has more than ${MOST_COUNTED} versions, which are not counted. Ask without ${name}=${value}.`
  throw new OperationError('too-costly', problem, { expression: [name] })
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
  const repeated = pairs.find(([name], at) => name !== '_at' && pairs.findIndex(([other]) => other === name) < at)?.[0]
  if (repeated !== undefined) throw onlyOnce(repeated)
  for (const name of values.keys()) if (!KNOWN.has(name)) throw refused(name)
  const [since, count, total, after] = ['_since', '_count', '_total', '_cursor'].map((name) => values.get(name))
  return {
    limit: count === undefined ? DEFAULT_PAGE : Math.min(readCount(count), MAX_PAGE),
    ...(since !== undefined && { since: readSince(since) }),
    ...(values.has('_at') && { at: readPeriod(pairs.flatMap(([name, value]) => (name === '_at' ? [value] : []))) }),
    ...(total !== undefined && { total: readTotal(total) }),
    ...(after !== undefined && { after }),
  }
}

function onlyOnce(name: string): OperationError {
  return new OperationError('search-invalid', `The parameter ${quoted(name)} of a history may come only once.`, { expression: [name] })
}

const KNOWN: ReadonlySet<string> = new Set(['_since', '_at', '_count', '_total', '_cursor', ...SHAPING])

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

/** The years that dates have. */
const EVER: HistoryPeriod = { from: Date.parse('0001-01-01'), to: Date.parse('9999-12-31T23:59:59.999Z') }

/** Reads the values of `_at`: a date, or the start and the end of a period with the prefixes of searches, as HAPI's client sends them. */
function readPeriod(values: readonly string[]): HistoryPeriod {
  const bounds = values.map(readAt)
  for (const end of ['from', 'to'] as const) if (bounds.filter((bound) => bound[end] !== undefined).length > 1) throw onlyOnce('_at')
  const period: HistoryPeriod = Object.assign({}, EVER, ...bounds)
  if (period.from > period.to) throw invalid('_at', values.join(' '), 'a period, because it ends before it starts')
  return period
}

function readAt(value: string): Partial<HistoryPeriod> {
  const [, prefix = 'eq', date = ''] = /^(eq|ge|gt|le|lt)?(.*)$/.exec(value) ?? []
  const interval = dateInterval(date)
  if (interval === undefined) throw invalid('_at', value, 'a date, nor one after ge, gt, le or lt')
  const { low, high } = interval
  if (prefix === 'eq') return { from: low, to: high }
  if (prefix.startsWith('g')) return { from: prefix === 'ge' ? low : high + 1 }
  return { to: prefix === 'le' ? high : low - 1 }
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
