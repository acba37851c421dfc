import { OperationError } from 'fhir-ops/errors'
import { execute, type Bots, type BotStorage } from 'fhir-ops/execute'
import {
  PASSED_HEADERS,
  QUERY_CONTENT_TYPE,
  readBotInput,
  readBotQuery,
  writeBotOutput,
  type BotInput,
  type BotAddress,
  type BotQuery,
} from 'fhir-ops/internal/execute'
import type { AuditEntry } from 'fhir-ops/internal/sessions'
import { createPace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import { readStrictJson, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { parseSearch } from 'fhir-ops/search'
import { searchTypesOf } from 'fhir-ops/internal/search'
import { isResourceType, storedResource, type SearchPage, type StoredResource } from 'fhir-ops/storage'
import { puttingResource } from 'fhir-ops/internal/storage'
import type { Work } from 'fhir-ops/internal/work'
import { audit } from '../observe.js'
import { authorizeAny, authorize } from '../auth/caller.js'
import type { Answer } from '../http/answer.js'
import { FHIR_PATH, type Service } from '../service.js'
import type { Exchange, Method, Route } from '../exchange.js'
import { checkLength } from '../http/body.js'
import { parseQuery } from '../http/target.js'
import { strictWithin, type HandlerLimits } from '../limits.js'
import { checkValid } from '../content/write.js'
import { authorizeQuery, checkReach, isReached, pageBytes, shownPage, showsTo, type Part } from '../content/reach.js'
import { searchOptions } from '../content/search/search-request.js'

/** Routes of `Bot/$execute`; none if the service has no bots. */
export function botRoutes(service: Service): readonly Route[] {
  const { bots } = service
  if (bots === undefined) return []
  const paths = [`${FHIR_PATH}/:type/:id/$execute`, `${FHIR_PATH}/:type/$execute`]
  return paths.flatMap((path) => [botRoute(service, bots, { path, method: 'POST' }), botRoute(service, bots, { path, method: 'GET' })])
}

function botRoute(service: Service, bots: Bots, { path, method }: { readonly path: string; readonly method: Method }): Route {
  return {
    method,
    path,
    types: ['Bot'],
    access: 'token',
    body: method === 'POST' ? 'bot' : 'none',
    needs: 'Bot.r',
    summary: 'Runs a bot',
    operation: { name: '$execute', definition: `${service.baseUrl}${FHIR_PATH}/OperationDefinition/Bot-execute` },
    negotiates: true,
    answer: 'content',
    withoutHead: true,
    ownTimeLimit: true,
    authorize: ({ caller, params }) => authorizeAny(caller, [{ action: 'read', type: 'Bot', id: params.get('id') }]),
    run: (exchange) => runBot(service, bots, exchange),
  }
}

async function runBot(service: Service, bots: Bots, exchange: Exchange): Promise<Answer> {
  try {
    const answer = await executeBot(service, bots, exchange)
    await auditRun(service, exchange, { type: 'bot-executed', outcome: 'success' })
    return answer
  } catch (error) {
    const reason = error instanceof OperationError ? error.code : 'unforeseen'
    await auditRun(service, exchange, { type: 'bot-stopped', outcome: 'refused', reason })
    throw error
  }
}

async function executeBot(service: Service, bots: Bots, exchange: Exchange): Promise<Answer> {
  const { request, requestId, caller, ctx, target } = exchange
  const query = readBotQuery(target.query, { byId: exchange.params.has('id') })
  const method = exchange.body === undefined ? 'GET' : 'POST'
  const { input, contentType } = inputOf(exchange, query)
  // The input is a part of the body or its text; beside it, the body would be in memory twice while the bot waits and runs.
  exchange.body = undefined
  const project = caller.principal?.project
  const answer = await execute(
    { ...ctx, bots },
    {
      bot: addressOf(exchange, query),
      input,
      contentType,
      method,
      query: query.query,
      headers: passedHeaders(exchange),
      requestId,
      capabilities: service.grantBotStorage ? { storage: botStorage(service, exchange) } : {},
      ...(project !== undefined && { project }),
    },
  )
  const { status, headers, body } = writeBotOutput(answer, request.header('accept'))
  return { status, headers: Object.entries(headers), ...(body !== undefined && { body }) }
}

function inputOf({ request, body }: Exchange, query: BotQuery): BotInput {
  if (body === undefined) return { input: query.query, contentType: QUERY_CONTENT_TYPE }
  return readBotInput(request.header('content-type'), body.text, () => body.json)
}

/** @throws {OperationError} `parameter-required` without id or identifier. */
function addressOf({ params }: Exchange, { identifier }: BotQuery): BotAddress {
  const id = params.get('id')
  if (id !== undefined) return { id }
  if (identifier !== undefined) return { identifier }
  throw new OperationError('parameter-required', 'Parameter identifier is missing: it names the bot as system|value.', {
    expression: ['identifier'],
  })
}

function passedHeaders({ request }: Exchange): Record<string, string> {
  const present = PASSED_HEADERS.flatMap((name): [string, string][] => {
    const value = request.header(name)
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(present)
}

function auditRun(service: Service, exchange: Exchange, event: Pick<AuditEntry, 'type' | 'outcome' | 'reason'>): Promise<void> {
  return audit(service, exchange, { ...event, operation: '$execute', resourceType: 'Bot', resourceId: exchange.params.get('id') })
}

const MAX_FOUND = 1_000

/** The storage that a bot sees: limited to the rights of its caller, and without Bots. */
function botStorage(service: Service, exchange: Exchange): BotStorage {
  const { storage } = exchange.ctx
  return {
    async read(type, id) {
      checkType(type)
      if (exchange.caller.decide('read', type, id) === 'hide') return undefined
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
  for (const searched of searchTypesOf(parsed)) checkType(searched)
  authorizeQuery(caller, parsed)
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
