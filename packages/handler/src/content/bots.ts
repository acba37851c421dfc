import { createPace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { DEFAULT_BOT_LIMITS, type Bots, type BotStorage } from 'fhir-ops/execute'
import { checkBotSchemas, readBot } from 'fhir-ops/internal/execute'
import { readStrictJson, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { parseSearch } from 'fhir-ops/search'
import { searchTypesOf } from 'fhir-ops/internal/search'
import { isResourceType, storedResource, type SearchPage, type StoredResource } from 'fhir-ops/storage'
import { puttingResource } from 'fhir-ops/internal/storage'
import type { Work } from 'fhir-ops/internal/work'
import { authorize, type Caller } from '../auth/caller.js'
import type { Exchange } from '../exchange.js'
import { checkLength } from '../http/body.js'
import { parseQuery } from '../http/target.js'
import { strictWithin, type HandlerLimits } from '../limits.js'
import type { Service } from '../service.js'
import { checkValid } from './check-valid.js'
import { checkReach, isReached, pageBytes, shownPage, showsTo, type Part } from './reach.js'
import { searchOptions } from './search/search-request.js'

/**
 * Checks a Bot before it is stored: it is well-formed, does not use a runtime of the host, its source is not too long, its schemas are usable,
 * and it belongs to the caller's project if the token names one.
 *
 * @throws {OperationError} `resource-invalid`, `too-costly`, `forbidden`, `definition-invalid`, `not-supported`
 */
export function checkBot(resource: JsonObject, { principal }: Caller, bots: Bots | undefined): void {
  const { sourceBytes } = bots?.limits ?? DEFAULT_BOT_LIMITS
  const bot = readBot(resource)
  if (new TextEncoder().encode(bot.code).length > sourceBytes) {
    throw new OperationError('too-costly', `The source of a Bot must not be longer than ${sourceBytes} bytes.`, {
      expression: ['Bot.code'],
    })
  }
  if (principal?.project !== undefined && bot.project !== principal.project) {
    throw new OperationError('forbidden', 'The Bot must belong to the project of the access token.', { expression: ['Bot.project'] })
  }
  if (bots !== undefined) checkBotSchemas(bot, bots)
}

const MAX_FOUND = 1_000

/** The storage that a bot sees: limited to the rights of its caller, and without Bots. */
export function botStorage(service: Service, exchange: Exchange): BotStorage {
  const { storage } = exchange.ctx
  return {
    async read(type, id) {
      checkType(type)
      authorize(exchange.caller, { action: 'read', type, id })
      const stored = await storage.read(type, id)
      return stored !== undefined && (await isReached(exchange, stored)) ? stored.resource : undefined
    },
    search: (query) => search(service, exchange, query),
    write: (resource) => write(service, exchange, resource),
  }
}

/** @throws {OperationError} `search-unsupported` if the service has no search; `too-costly` for more than fits a page of an answer; as `parseSearch`. */
async function search(service: Service, { ctx, caller }: Exchange, query: string): Promise<readonly JsonObject[]> {
  const options = searchOptions(service, { ctx })
  const mark = query.includes('?') ? query.indexOf('?') : query.length
  const [type, parameters] = [query.slice(0, mark), query.slice(mark + 1)]
  const { query: parsed, countOnly } = await parseSearch(type, parseQuery(parameters, service.limits), options)
  for (const searched of searchTypesOf(parsed)) {
    checkType(searched)
    authorize(caller, { action: 'search', type: searched })
  }
  if (countOnly) return []
  const limit = Math.min(parsed.limit ?? MAX_FOUND, MAX_FOUND)
  const pageOf = (part: Part): Promise<SearchPage> => ctx.storage.search({ ...parsed, ...part })
  const pages = { ctx, pageOf, shows: showsTo({ ctx, caller }, parsed.type), lengthOf }
  const pace = createPace(ctx)
  const found: StoredResource[] = []
  let { after } = parsed
  // A storage may return less than it was asked for, as an upstream server does.
  do {
    pace.check()
    const { items, next } = await shownPage(pages, { limit: limit - found.length, ...(after !== undefined && { after }) })
    found.push(...items)
    after = found.length < limit ? next : undefined
    if (after !== undefined && found.reduce((sum, item) => sum + lengthOf(item), 0) > pageBytes(ctx))
      throw new OperationError('too-costly', 'A search of the bot finds too much at once: ask for fewer resources with _count.')
  } while (after !== undefined)
  return found.map(({ resource }) => resource)
}

function lengthOf({ text }: StoredResource): number {
  return text.length
}

async function write(service: Service, exchange: Exchange, given: JsonObject): Promise<JsonObject> {
  const { ctx, caller } = exchange
  const pace = createPace(ctx)
  const resource = await pace.run(readLikeBody(given, service.limits))
  const type = stringAt(resource, 'resourceType') ?? ''
  checkType(type)
  const named = stringAt(resource, 'id')
  const id = named ?? ctx.newId()
  authorize(caller, named === undefined ? { action: 'create', type } : { action: 'update', type, id })
  await checkReach(exchange, type, id)
  await checkValid(service, ctx, { type, resource })
  const put = { type, id, source: resource, ifVersion: named === undefined ? null : undefined }
  const entry = await pace.run(puttingResource(put, service.indexer))
  const [result] = await ctx.storage.write([entry])
  if (result === undefined) throw new TypeError('The storage gave no result for a write.')
  return storedResource({ ...entry, versionId: result.versionId ?? '', lastUpdated: result.lastUpdated }).resource
}

/** Applies the limits and checks of a request body to a resource that a bot stores. @throws {OperationError} `body-too-long`; as `readStrictJson`. */
function readLikeBody(given: JsonObject, limits: HandlerLimits): Work<JsonObject> {
  const text = JSON.stringify(given) ?? ''
  checkLength(new TextEncoder().encode(text).length, limits.bodyBytes)
  return readStrictJson(text, strictWithin(limits))
}

function checkType(type: string): void {
  if (isResourceType(type) && type !== 'Bot') return
  throw new OperationError('forbidden', `Bots have no access to resources of the type ${quoted(type)}.`)
}
