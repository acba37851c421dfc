import type { PartRunner } from '../content/bundle/bundle-entries.js'
import type { Service } from '../service.js'
import { botRoutes } from './bot-routes.js'
import { contentRoutes } from './content-routes.js'
import { operationRoutes } from './operation-routes.js'
import type { Route } from '../exchange.js'
import { serviceRoutes } from './service-routes.js'
import { sessionRoutes } from './session-routes.js'

/** Every route of the service. The router, the CapabilityStatement and the documentation are made from it. */
export function routeTable(service: Service, parts: PartRunner): readonly Route[] {
  const routes = [...sessionRoutes(service), ...operationRoutes(service), ...botRoutes(service), ...contentRoutes(service, parts)]
  return [...routes, ...serviceRoutes(service, routes)]
}
