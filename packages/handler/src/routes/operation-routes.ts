import { pacedText } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { Operation, OperationRequest, Parameter } from 'fhir-ops/operation'
import type { OperationNeeds, WrittenResponse } from 'fhir-ops/internal/operation'
import { parametersFromQuery, parametersOf, placedIn } from 'fhir-ops/internal/parameters'
import { prefersHandling, PROTOCOL_PARAMETERS } from '../http/negotiation.js'
import { withoutHidden } from '../content/reach.js'
import { authorizeAny, type AccessRequest } from '../auth/caller.js'
import { createAnswerSize, fhirPieces, ndjsonAnswer, type Answer } from '../http/answer.js'
import type { JsonObject } from 'fhir-ops/internal/json'
import { after, attempt, type Awaitable } from 'fhir-ops/internal/work'
import { answeredLater } from './async-routes.js'
import { FHIR_PATH, type Service } from '../service.js'
import type { Exchange, Route } from '../exchange.js'

/** Routes of every operation that has a descriptor: each method at each level. */
export function operationRoutes(service: Service): readonly Route[] {
  return service.operations.flatMap((operation) =>
    operation.levels.flatMap((level) => operation.methods.map((method) => operationRoute(service, operation, { level, method }))),
  )
}

interface Place {
  readonly level: Operation['levels'][number]
  readonly method: 'GET' | 'POST'
}

const PLACES: Readonly<Record<Place['level'], string>> = { system: '', type: ':type/', instance: ':type/:id/' }

function operationRoute(service: Service, operation: Operation, { level, method }: Place): Route {
  const { needs } = operation
  const run = (asked: Exchange): Awaitable<Answer> =>
    after(withoutHidden(asked), (exchange) => runOperation(service, operation, { exchange, method }))
  return {
    method,
    path: `${FHIR_PATH}/${PLACES[level]}${operation.name}`,
    types: operation.types === 'any' || level === 'system' ? undefined : operation.types,
    access: 'token',
    body: method === 'GET' ? 'none' : bodyKindOf(operation),
    needs: needs.text,
    summary: `The operation ${operation.name}`,
    isCacheable: operation.cacheable,
    operation: { name: operation.name, definition: operation.definition },
    authorize: (exchange) => authorizeOperation(exchange, operation.name, needs),
    run: (exchange) => (operation.asynchronous === true ? answeredLater(service, exchange, run) : run(exchange)),
    ...(operation.asynchronous === true && { isAsynchronous: true }),
    ...streamOf(operation, method),
  }
}

function streamOf({ stream, ...operation }: Operation, method: Place['method']): Pick<Route, 'stream'> {
  if (stream === undefined) return {}
  return {
    stream: async (asked) => {
      const exchange = await withoutHidden(asked)
      const request = operationRequest(operation, exchange, method)
      return ndjsonAnswer(await withErrorPlaces(request, () => stream(exchange.ctx, request)))
    },
  }
}

/** @throws {OperationError} `forbidden` */
function authorizeOperation(exchange: Exchange, name: string, { anyOf, keepsState }: OperationNeeds): void {
  authorizeAny(
    exchange.caller,
    anyOf.map((need) => accessFor(need, exchange)),
  )
  if (keepsState !== true || !exchange.caller.isNarrowed) return
  throw new OperationError(
    'forbidden',
    `The operation ${name} keeps state of its own: it takes no token with scopes of a patient or with a query.`,
  )
}

/**
 * If a need names no type, the type of the path applies; the id of the path belongs to that type. A type that is named is that of definitions. These are
 * resolved by canonical, so that a right to some of them cannot be distinguished from a right to all.
 */
function accessFor({ action, type }: { action: AccessRequest['action']; type?: string }, exchange: Exchange): AccessRequest {
  const own = exchange.params.get('type') ?? ''
  const id = type === undefined || type === own ? exchange.params.get('id') : undefined
  return { action, type: type ?? own, whole: type !== undefined, ...(id !== undefined && { id }) }
}

function bodyKindOf(operation: Operation): Route['body'] {
  return operation.body === 'text' ? 'fhir-text' : 'optional-fhir'
}

function runOperation(
  service: Service,
  operation: Operation,
  { exchange, method }: { exchange: Exchange; method: Place['method'] },
): Awaitable<Answer> {
  const request = operationRequest(operation, exchange, method)
  const response = withErrorPlaces(request, () => runAsText(exchange.ctx, operation, request))
  return after(response, (answered) => answerWith(service, exchange, answered))
}

/** Runs an operation. The places of its errors are looked for only when it fails, because there may be many parameters. */
function withErrorPlaces<T>({ parameters }: OperationRequest, run: () => Awaitable<T>): Awaitable<T> {
  return attempt(run, (error) => {
    throw placedIn(parameters, error)
  })
}

/** @throws {OperationError} `too-costly` if the answer is too long. */
function answerWith(service: Service, { ctx }: Exchange, { status, text, location }: WrittenResponse): Answer {
  const size = createAnswerSize({ maxBytes: ctx.limits.maxAnswerBytes, advice: 'Ask for less in one request.' })
  if ('bytes' in text) size.add('', text.bytes)
  else for (const piece of text) size.add(piece)
  return fhirPieces(status, text, location === undefined ? [] : [['Location', `${service.baseUrl}${FHIR_PATH}/${location}`]])
}

function runAsText(ctx: OperationContext, { write, run }: Operation, request: OperationRequest): Awaitable<WrittenResponse> {
  if (write !== undefined) return write(ctx, request)
  return after(run(ctx, request), ({ resource, ...response }) => after(pacedText(ctx, resource), (text) => ({ ...response, text: [text] })))
}

function operationRequest(operation: Operation, exchange: Exchange, method: Place['method']): OperationRequest {
  const { request, params, body } = exchange
  const type = exchange.params.get('type') ?? ''
  return {
    type,
    id: params.get('id'),
    method,
    parameters: [
      ...queryParameters(exchange),
      ...headerParameters(operation, exchange),
      ...(operation.body === 'text' ? [] : bodyParameters(operation, exchange, type)),
    ],
    body: body?.json,
    bodyText: body?.text,
    acceptLanguage: request.header('accept-language'),
    strict: prefersHandling(request, 'strict'),
  }
}

function queryParameters({ target }: Exchange): readonly Parameter[] {
  return parametersFromQuery(target.query.filter(([name]) => !PROTOCOL_PARAMETERS.has(name)))
}

function headerParameters({ header }: Operation, { request }: Exchange): readonly Parameter[] {
  const text = header && request.header(header.name)
  return header === undefined || text === undefined ? [] : header.parameters(text)
}

/** @throws {OperationError} `body-structure` for a resource that is neither Parameters nor of the type on which the operation is called. */
function bodyParameters({ resourceParameter }: Operation, { body }: Exchange, type: string): readonly Parameter[] {
  if (body?.json === undefined) return []
  const resourceType = body.json['resourceType']
  if (resourceType === 'Parameters') return parametersOf(body.json)
  if (resourceType === type) return resourceParameter === undefined ? [] : [resourceAs(resourceParameter, body.json, type)]
  const expected = ['Parameters', type].filter((name) => name !== '').join(' or ')
  throw new OperationError('body-structure', `The resourceType of the body must be ${expected}.`, { expression: ['resourceType'] })
}

function resourceAs(name: string, resource: JsonObject, expression: string): Parameter {
  return { name, value: undefined, resource, parts: [], expression }
}
