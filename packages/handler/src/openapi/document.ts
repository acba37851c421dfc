import type { JsonObject } from 'fhir-ops/internal/json'
import manifest from '../../package.json' with { type: 'json' }
import type { Route } from '../exchange.js'
import { FHIR_PATH, type Service } from '../service.js'
import {
  PATH_PARAMETERS,
  publicContent,
  RESPONSES,
  schemasOf,
  SHARED_PARAMETERS,
  resourceSchema,
  schemaRef,
  SEARCH_FORM,
  definedOperation,
  type DefinedOperation,
} from './components.js'
import { NDJSON } from '../http/answer.js'
import { FORM, PATCH_TYPES, readingOf, type BodyKind } from '../http/body.js'
import { ASYNC_STATUS } from '../routes/async-routes.js'

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

/** Describes a route in the document. @see https://spec.openapis.org/oas/v3.1.1.html#operation-object */
function routeOperation(documented: DocumentedRoute): JsonObject {
  const { route, name, defined } = documented
  const body = requestBody(documented)
  const parameters = parametersOf(documented)
  const rights = route.access === 'public' ? '' : `Needs ${route.needs}.`
  return {
    operationId: name,
    tags: [tagOf(route)],
    summary: route.summary,
    description: [rights, defined?.description ?? ''].filter((text) => text !== '').join('\n\n') || undefined,
    ...(needsNoToken(documented) && { security: [] }),
    ...(parameters.length > 0 && { parameters: parameters.map((one) => ({ $ref: `#/components/parameters/${one}` })) }),
    ...(body !== undefined && { requestBody: body }),
    responses: { ...successes(documented), ...failures(documented) },
  }
}

/** Groups of routes, used when the document is displayed. */
const TAGS = ['Resources', 'Operations', 'Sessions', 'Service'] as const

function tagOf({ path, operation, access, family }: Route): (typeof TAGS)[number] {
  if (operation !== undefined) return 'Operations'
  if (isFhir({ path }) && access === 'token') return 'Resources'
  return access === 'token' || family !== undefined ? 'Sessions' : 'Service'
}

function isFhir({ path }: Pick<Route, 'path'>): boolean {
  return path === FHIR_PATH || path.startsWith(`${FHIR_PATH}/`)
}

function needsNoToken({ route, isOpen }: DocumentedRoute): boolean {
  return route.access === 'public' || (isOpen && isFhir(route))
}

const SEARCH = ['search', 'count', 'sort', 'total', 'summary', 'elements', 'include', 'revinclude']

/** Component names of the parameters in the query and in headers. */
function parametersOf(documented: DocumentedRoute): readonly string[] {
  const { route, defined } = documented
  if (route.operation !== undefined) {
    const own = [...Object.keys(defined?.query ?? {}), ...(isBotByIdentifier(route) ? ['identifier'] : [])]
    return route.isAsynchronous === true ? [...own, 'preferAsync'] : own
  }
  if (route.path.startsWith(ASYNC_STATUS)) return []
  if (route.path === `${FHIR_PATH}/metadata`) return ['mode', 'summary', 'elements']
  if (!isFhir(route) || route.access === 'public') return []
  return route.plan === undefined ? parametersOfReading(route) : parametersOfWriting(route)
}

function isBotByIdentifier({ path, answer }: Route): boolean {
  return answer === 'content' && !path.includes(':id')
}

function parametersOfWriting({ method, path }: Route): readonly string[] {
  const isByCriteria = method !== 'POST' && !path.includes(':id')
  return [...(isByCriteria ? ['search'] : []), ...(method === 'DELETE' ? [] : ['summary', 'elements']), ...WRITE_HEADERS[method], 'prefer']
}

function parametersOfReading(route: Route): readonly string[] {
  const { method, path, interaction } = route
  if (interaction === 'batch') return ['prefer']
  if (path.endsWith('/_history')) return ['since', 'at', 'count', 'total', 'summary', 'elements']
  if (!isSearch(route)) return ['summary', 'elements', 'ifNoneMatch', 'ifModifiedSince']
  if (method === 'POST') return []
  return isOfSeveralTypes(route) ? [...SEARCH, 'types'] : SEARCH
}

const WRITE_HEADERS: Readonly<Record<Route['method'], readonly string[]>> = {
  GET: [],
  POST: ['ifNoneExist'],
  PUT: ['ifMatch', 'ifNoneMatch'],
  PATCH: ['ifMatch'],
  DELETE: ['ifMatch'],
}

function isSearch({ answer, interaction }: Route): boolean {
  const isBundle = typeof answer === 'object' && 'resource' in answer && answer.resource === 'Bundle'
  return isBundle && (interaction === undefined || interaction.startsWith('search'))
}

function isOfSeveralTypes({ path }: Route): boolean {
  return path === FHIR_PATH || path.endsWith('/*')
}

/** Describes the request body; `undefined` if none is read. @see https://spec.openapis.org/oas/v3.1.1.html#request-body-object */
function requestBody(documented: DocumentedRoute): JsonObject | undefined {
  const { body } = documented.route
  const reading = readingOf(body)
  if (reading === undefined) return undefined
  const { mediaTypes, optional } = reading
  const schema = schemaFor(documented)
  const content = Object.fromEntries((mediaTypes === 'any' ? ANY_TYPES : mediaTypes).map((one) => [one, { schema: schema(one) }]))
  return { ...(optional === undefined && { required: true }), content }
}

/** A Binary is sent as a resource, or as content of any other type. */
const ANY_TYPES = ['application/fhir+json', '*/*']

type SchemaOfMediaType = (mediaType: string) => JsonObject

/** Code generators need a schema even where there may be anything. */
const ANYTHING: JsonObject = {}

/** Returns the schema of a body, by media type. */
function schemaFor(documented: DocumentedRoute): SchemaOfMediaType {
  const { route } = documented
  const { bodySchema } = route
  if (bodySchema !== undefined) return () => bodySchema
  return SCHEMAS[route.body](documented)
}

const SCHEMAS: Readonly<Record<BodyKind, (documented: DocumentedRoute) => SchemaOfMediaType>> = {
  none: () => () => ANYTHING,
  bot: () => (mediaType) => (mediaType === FORM ? SEARCH_FORM : ANYTHING),
  fhir: (documented) => () => storedSchema(documented),
  binary: () => (mediaType) => (mediaType === '*/*' ? ANYTHING : resourceSchema('Binary')),
  patch: () => patchSchema,
  form: () => () => SEARCH_FORM,
  'optional-form':
    ({ place }) =>
    () =>
      place.path.endsWith('/_search') ? SEARCH_FORM : { type: 'object' },
  'optional-json': () => () => ({ type: 'object' }),
  'optional-fhir': (documented) => () => inputSchema(documented),
  'fhir-text':
    ({ defined }) =>
    () => ({ anyOf: [defined?.input ?? schemaRef('Parameters'), schemaRef('Resource')] }),
}

function storedSchema({ place, route, defined }: DocumentedRoute): JsonObject {
  // What is submitted to an operation is not of the type in its path.
  if (route.operation !== undefined) return defined?.input ?? schemaRef('Parameters')
  return resourceSchema(route.interaction === 'batch' ? 'Bundle' : (place.type ?? 'Resource'))
}

/** Schema of the operation's parameters, or of the resource on which it is called. */
function inputSchema({ place: { type }, defined }: DocumentedRoute): JsonObject {
  const parameters = defined?.input ?? schemaRef('Parameters')
  return type === undefined ? parameters : { anyOf: [parameters, resourceSchema(type)] }
}

const [JSON_PATCH] = PATCH_TYPES

/** JSON Patch has its own media type, but may be sent as plain JSON too. */
function patchSchema(mediaType: string): JsonObject {
  if (mediaType === JSON_PATCH) return schemaRef('JsonPatch')
  return mediaType === 'application/json' ? { anyOf: [schemaRef('JsonPatch'), schemaRef('Parameters')] } : schemaRef('Parameters')
}

const DONE = 'The answer'

function successes(documented: DocumentedRoute): JsonObject {
  const { route } = documented
  const answer = { description: DONE, ...contentOf(documented) }
  const made = { ...answer, headers: HEADERS_OF_VERSION }
  if (route.path.startsWith(ASYNC_STATUS)) return route.method === 'DELETE' ? { 202: LATER } : { 200: answer, 202: LATER }
  if (route.isAsynchronous === true) return { 200: answer, 202: ACCEPTED }
  if (route.plan === undefined) return { 200: answer }
  if (route.method === 'DELETE')
    return { 204: { description: 'It is deleted' }, 200: { description: DONE, ...fhirContent('OperationOutcome') } }
  return route.method === 'PATCH' ? { 200: made } : { 200: made, 201: { ...made, description: 'It is stored as a new resource' } }
}

const LATER: JsonObject = {
  description: 'It is not there yet, or it is cancelled',
  headers: { 'X-Progress': { description: 'How far it is', schema: { type: 'string' } } },
}

const ACCEPTED: JsonObject = {
  description: 'It will be answered later',
  headers: { 'Content-Location': { description: 'Where its state is asked for', schema: { type: 'string' } } },
}

const HEADERS_OF_VERSION: JsonObject = {
  ETag: { description: 'The version', schema: { type: 'string' } },
  Location: { description: 'Where the version is read', schema: { type: 'string' } },
}

function fhirContent(type: string): JsonObject {
  return { content: { 'application/fhir+json': { schema: resourceSchema(type) } } }
}

function contentOf({ route, defined }: DocumentedRoute): JsonObject {
  const { answer = defaultAnswer(defined), stream } = route
  if (answer === 'nothing') return {}
  if (answer === 'content') return { content: { '*/*': { schema: ANYTHING } } }
  const known =
    'json' in answer ? { 'application/json': { schema: answer.json } } : { 'application/fhir+json': { schema: schemaOf(answer) } }
  return { content: { ...known, ...(stream !== undefined && { [NDJSON]: { schema: ANYTHING } }) } }
}

function defaultAnswer(defined: DefinedOperation | undefined): DefinedOperation['output'] {
  return defined?.output ?? { resource: 'Resource' }
}

function schemaOf(answer: DefinedOperation['output']): JsonObject {
  return 'schema' in answer ? answer.schema : resourceSchema(answer.resource)
}

function failures(documented: DocumentedRoute): JsonObject {
  const family = documented.route.family === 'userinfo' ? 'OAuth' : ''
  const answer = (name: string): JsonObject => ({ $ref: `#/components/responses/${family}${name}` })
  return { ...(!needsNoToken(documented) && { 401: answer('Unauthorized') }), default: answer('Failure') }
}

/** A route at a path, with everything else that its description needs. */
interface DocumentedRoute {
  readonly place: PathPlace
  readonly route: Route
  readonly name: string
  /** Absent if the route is not an operation, or if there is no definition of the operation. */
  readonly defined: DefinedOperation | undefined
  readonly isOpen: boolean
}

/** A path of the document, with the routes of its methods. */
interface PathPlace {
  /** Path with variables in braces. */
  readonly path: string
  /** Names of the variables in order. */
  readonly variables: readonly string[]
  /** The type in the path, if its routes apply to some types only. */
  readonly type: string | undefined
  readonly routes: readonly Route[]
}

/**
 * Returns the paths of a route table. Routes for some types are listed at paths of these types, together with the routes of every type: as in the
 * router, a path without variables takes precedence over one with variables.
 */
function pathPlaces(routes: readonly Route[]): readonly PathPlace[] {
  return [...Map.groupBy(routes, ({ path }) => path)].flatMap(([path, rows]) => {
    const general = rows.filter(({ types }) => types === undefined)
    const types = new Set(rows.flatMap((row) => row.types ?? []))
    const named = [...types].map((type) => placeOf(path, type, rows))
    return general.length === 0 ? named : [placeOf(path, undefined, general), ...named]
  })
}

function placeOf(path: string, type: string | undefined, rows: readonly Route[]): PathPlace {
  const own = rows.filter(({ types }) => types === undefined || (type !== undefined && types.includes(type)))
  const concrete = type === undefined ? path : path.replace(':type', type)
  const variables = [...concrete.matchAll(/:(\w+)/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))
  // The last route of a method takes precedence.
  const routes = [...new Map(own.map((route) => [route.method, route])).values()]
  return { path: concrete.replaceAll(/:(\w+)/g, '{$1}'), variables, type, routes }
}

/** Gives each route a unique name, which generated clients use: `readResource` or `getValueSetExpand`. */
function operationNames(): (place: PathPlace, route: Route) => string {
  const taken = new Set<string>()
  return ({ path, type }, { method, interaction }) => {
    const words = interaction === undefined ? [method.toLowerCase(), ...wordsOf(path)] : [interaction, type ?? wordOfAny(interaction)]
    const name = words.flatMap(partsOf).map(capitalized).join('')
    let free = name
    for (let number = 2; taken.has(free); number++) free = `${name}${number}`
    taken.add(free)
    return free
  }
}

/** Words such as `delete` are reserved in languages and clients. */
function wordOfAny(interaction: string): string {
  return interaction.includes('-') || interaction === 'batch' ? '' : 'resource'
}

function wordsOf(path: string): readonly string[] {
  const below = path.startsWith(`${FHIR_PATH}/`) ? path.slice(FHIR_PATH.length) : path
  return below.split('/').map((word) => (word === '*' ? 'all' : word))
}

function partsOf(word: string): readonly string[] {
  return word.split(/[^A-Za-z0-9]+/).filter((part) => part !== '')
}

function capitalized(word: string, at: number): string {
  const [first, rest] = [word.charAt(0), word.slice(1)]
  return `${at === 0 ? first.toLowerCase() : first.toUpperCase()}${rest}`
}
