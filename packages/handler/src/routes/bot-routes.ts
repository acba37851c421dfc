import { OperationError } from 'fhir-ops/errors'
import { execute, type Bots } from 'fhir-ops/execute'
import {
  type BotInput,
  type BotAddress,
  type BotQuery,
  PASSED_HEADERS,
  QUERY_CONTENT_TYPE,
  readBotInput,
  readBotQuery,
  writeBotOutput,
} from 'fhir-ops/internal/execute'
import type { AuditEntry } from 'fhir-ops/internal/sessions'
import { audit } from '../audit.js'
import { authorizeAny } from '../auth/caller.js'
import { botStorage } from '../content/bots.js'
import type { Answer } from '../http/answer.js'
import { FHIR_PATH, type Service } from '../service.js'
import type { Exchange, Method, Route } from '../exchange.js'

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
