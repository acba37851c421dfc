import { serviceRoutes } from './routes/service-routes.js'
import { contentRoutes } from './routes/content-routes.js'
import { asyncRoutes } from './routes/async-routes.js'
import { botRoutes } from './routes/bot-routes.js'
import { operationRoutes } from './routes/operation-routes.js'
import { submitDataRoutes } from './routes/submit-data-routes.js'
import { sessionRoutes } from './routes/session-routes.js'
import type { EntryRunner } from './content/bundle/bundle-entries.js'
import type { Route, RouteDescription } from './exchange.js'
import { toWebResponse, type Answer } from './http/answer.js'
import { inflatedRequest } from './http/body.js'
import { fromWebRequest, type Connection, type HttpRequest } from './http/http-request.js'
import type { HandlerOptions } from './options.js'
import { planEntry, readEntry, respond, respondToEntry } from './pipeline.js'
import { createRouter } from './routes/router.js'
import { createService, type Service } from './service.js'

/** The service as one function from request to response. It never rejects. */
export interface Handler {
  (request: Request, connection?: Connection): Promise<Response>
  /** Serves a request without `Request` and `Response`, for other kinds of servers (`@fhir-ops/handler/node`). */
  respond(request: HttpRequest, connection?: Connection): Promise<Answer>
  /** Refuses new requests with 503, waits for running ones, and cancels those that take too long. Storage and sessions stay open. */
  close(): Promise<void>
  /** Every route with its method, path and rights, for documentation such as OpenAPI. */
  readonly routes: readonly RouteDescription[]
}

/**
 * Creates the handler of a service.
 *
 * @throws {TypeError} for an option that is missing, unknown, of another type, or impossible, such as a realm with a quotation mark.
 */
export function createHandler(options: HandlerOptions): Handler {
  const service = createService(options)
  const routes = routeTable(service, {
    serve: (request, bundle) => respondToEntry(server, bundle, request),
    read: (request, bundle) => readEntry(server, bundle, request),
    plan: (request, bundle) => planEntry(server, bundle, request),
  })
  const server = { ...service, router: createRouter(routes, service.mount) }
  const answer = (request: HttpRequest, connection?: Connection | null): Promise<Answer> =>
    Promise.resolve(respond(server, server.gzipRequests ? inflatedRequest(request) : request, connection ?? {}))
  const handle = async (request: Request, connection?: Connection): Promise<Response> =>
    toWebResponse(await answer(await fromWebRequest(request), connection))
  return Object.assign(handle, {
    respond: answer,
    close: async () => void (await Promise.all([service.executor.close(), service.jobs.close()])),
    routes,
  })
}

/** Every route of the service. Router, CapabilityStatement and documentation are derived from it. */
function routeTable(service: Service, runner: EntryRunner): readonly Route[] {
  const routes = [
    ...sessionRoutes(service),
    ...operationRoutes(service),
    ...botRoutes(service),
    ...asyncRoutes(service),
    ...submitDataRoutes(service, runner),
    ...contentRoutes(service, runner),
  ]
  return [...routes, ...serviceRoutes(service, routes)]
}
