import type { JsonObject } from 'fhir-ops/internal/json'
import manifest from '../../package.json' with { type: 'json' }
import type { Route } from '../exchange.js'
import type { Service } from '../service.js'
import { PATH_PARAMETERS, publicContent, RESPONSES, schemasOf, SHARED_PARAMETERS } from './components.js'
import { definedOperation, type DefinedOperation } from './operation-definition.js'
import { operationNames, pathPlaces, type PathPlace, routeOperation, TAGS } from './route-operation.js'

const DESCRIPTION =
  'FHIR R4 operations, stored resources and sessions. HEAD is answered wherever GET is, except for bots; OPTIONS needs no token. `_pretty=true` lays out answers below /fhir/R4.'

/**
 * Makes the OpenAPI document of a route table. It contains nothing about stored resources, because it is public.
 *
 * @param issuer Another issuer of tokens, with an OpenID Connect discovery document.
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export async function openApiDocument(service: Service, routes: readonly Route[], issuer: string | undefined): Promise<JsonObject> {
  const defined = await definedOperations(service, routes)
  const schemes = securitySchemes(service, issuer)
  const found = [...defined.values()]
  return {
    openapi: '3.1.1',
    info: {
      title: 'fhir-ops',
      version: manifest.version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: service.baseUrl }],
    security: Object.keys(schemes).map((name) => ({ [name]: [] })),
    tags: TAGS.map((name) => ({ name })),
    paths: pathsOf(service, routes, defined),
    components: {
      securitySchemes: schemes,
      parameters: Object.assign({}, PATH_PARAMETERS, SHARED_PARAMETERS, ...found.map(({ query }) => query)),
      responses: RESPONSES,
      schemas: Object.assign({}, await schemasOf(service.ctx), ...found.map(({ schemas }) => schemas)),
    },
  }
}

type Defined = ReadonlyMap<string, DefinedOperation>

/** Operations by canonical, as defined by the definitions that are part of the service. */
async function definedOperations({ ctx }: Service, routes: readonly Route[]): Promise<Defined> {
  const canonicals = new Set(routes.flatMap(({ operation }) => (operation === undefined ? [] : [operation.definition])))
  const content = publicContent(ctx)
  const found = await Promise.all(
    [...canonicals].map(async (canonical) => [canonical, await definedOperation(content, canonical)] as const),
  )
  return new Map(found.flatMap(([canonical, one]) => (one === undefined ? [] : [[canonical, one]])))
}

function pathsOf({ isOpen }: Service, routes: readonly Route[], defined: Defined): JsonObject {
  const nameOf = operationNames()
  const itemOf = (place: PathPlace): JsonObject => ({
    ...(place.variables.length > 0 && { parameters: place.variables.map((name) => ({ $ref: `#/components/parameters/${name}` })) }),
    ...Object.fromEntries(
      place.routes.map((route) => {
        const known = route.operation && defined.get(route.operation.definition)
        return [route.method.toLowerCase(), routeOperation({ place, route, name: nameOf(place, route), defined: known, isOpen })]
      }),
    ),
  })
  return Object.fromEntries(pathPlaces(routes).map((place) => [place.path, itemOf(place)]))
}

/** Ways to authenticate, of which a caller uses one. */
function securitySchemes({ dpop }: Service, issuer: string | undefined): JsonObject {
  return {
    bearer: { type: 'http', scheme: 'bearer', description: 'An access token of this service, or of an issuer that it trusts' },
    ...(dpop !== undefined && {
      dpop: { type: 'http', scheme: 'dpop', description: 'A token that is bound to a key, with a proof (RFC 9449)' },
    }),
    ...(issuer !== undefined && {
      openIdConnect: { type: 'openIdConnect', openIdConnectUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration` },
    }),
  }
}
