import { isResourceId, isResourceType } from 'fhir-ops/storage'
import { COMPARTMENT_TYPES } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { resourceTypes } from 'fhir-ops/internal/storage'
import { didYouMean, nearest } from 'fhir-ops/internal/text'
import type { Operation } from 'fhir-ops/operation'
import type { Match, Method, Route } from '../exchange.js'
import type { Target } from '../http/target.js'
import { FHIR_PATH, type Service } from '../service.js'

/** Finds the routes of a path; `undefined` if there are none. */
export type Router = (segments: readonly string[]) => Match | undefined

interface Node {
  readonly children: Map<string, Node>
  readonly routes: Route[]
  /** Routes by method: for each type that has its own routes, and under `undefined` for all other types. */
  readonly byType: Map<string | undefined, ReadonlyMap<Method, Route>>
}

/** Allowed values of variable segments. Sets and patterns decide, not objects: `constructor` is an unknown type. */
const VARIABLES: ReadonlyMap<string, (segment: string) => boolean> = new Map([
  [':type', isResourceType],
  [':id', isResourceId],
  [':member', isResourceType],
  [':version', (segment: string) => /^\d{1,15}$/.test(segment)],
])

/**
 * Creates the router of a table. Literals take precedence over variables.
 *
 * @param prefix Path segments under which the service is mounted.
 */
export function createRouter(routes: readonly Route[], prefix: readonly string[]): Router {
  const root = newNode()
  for (const route of routes) nodeFor(root, [...prefix, ...route.path.split('/').slice(1)]).routes.push(route)
  sortRoutes(root)
  return (segments) => {
    const params = new Map<string, string>()
    const node = segments.reduce<Node | undefined>((at, segment) => at && step(at, segment, params), root)
    const found = node && (node.byType.get(params.get('type')) ?? node.byType.get(undefined))
    return found === undefined || found.size === 0 ? undefined : { routes: found, params }
  }
}

function newNode(): Node {
  return { children: new Map(), routes: [], byType: new Map() }
}

/** Groups the routes of a node, and of all nodes below it, by type and method. */
function sortRoutes({ children, routes, byType }: Node): void {
  for (const type of [undefined, ...routes.flatMap(({ types = [] }) => types)]) {
    const offered = routes.filter(({ types }) => types === undefined || (type !== undefined && types.includes(type)))
    byType.set(type, new Map(offered.map((route) => [route.method, route])))
  }
  for (const child of children.values()) sortRoutes(child)
}

function nodeFor(root: Node, segments: readonly string[]): Node {
  return segments.reduce((node, segment) => {
    const child = node.children.get(segment) ?? newNode()
    node.children.set(segment, child)
    return child
  }, root)
}

function step(node: Node, segment: string, params: Map<string, string>): Node | undefined {
  const literal = segment.startsWith(':') ? undefined : node.children.get(segment)
  if (literal !== undefined) return literal
  for (const [variable, accepts] of VARIABLES) {
    const child = node.children.get(variable)
    if (child === undefined || !accepts(segment)) continue
    params.set(variable.slice(1), segment)
    return child
  }
  return undefined
}

/** Returns the route for a method; HEAD uses that of GET. */
export function routeFor({ routes }: Match, method: string): Route | undefined {
  const asked = method === 'HEAD' ? 'GET' : METHODS.find((known) => known === method)
  const route = asked === undefined ? undefined : routes.get(asked)
  return method === 'HEAD' && route?.withoutHead === true ? undefined : route
}

/** Methods in the order of `Allow`. */
export const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Returns the value of `Allow`. */
export function allowOf({ routes }: Match): string {
  const get = routes.get('GET')
  const offered: string[] = METHODS.filter((method) => routes.has(method))
  if (get !== undefined && get.withoutHead !== true) offered.splice(1, 0, 'HEAD')
  return offered.join(', ')
}

const FHIR_SEGMENTS = FHIR_PATH.split('/').slice(1)

/** True for the FHIR base and paths below it. */
export function isBelowFhir({ mount }: Pick<Service, 'mount'>, { segments }: Target): boolean {
  const depth = mount.length
  return mount.every((segment, at) => segments[at] === segment) && FHIR_SEGMENTS.every((segment, at) => segments[depth + at] === segment)
}

/** The error for a path without routes. It names the unknown type or operation, or says where the FHIR base is. */
export function nothingAt(service: Service, target: Target): OperationError {
  const base = [...service.mount, ...FHIR_SEGMENTS]
  const problem = isBelowFhir(service, target)
    ? missing(service, target.segments.slice(base.length))
    : `There is nothing at this path: FHIR is below '/${base.join('/')}'.`
  return new OperationError('not-found', problem)
}

function missing(service: Service, segments: readonly string[]): string {
  const [type = '', ...rest] = segments
  const last = rest.at(-1) ?? type
  if (segments.includes('')) return 'There is nothing at this path: it has an empty part (//).'
  if (service.ctx.storage.history === undefined && segments.includes('_history'))
    return "There is nothing at this path: this server keeps no earlier versions ('_history')."
  if (!type.startsWith('$') && !isResourceType(type)) {
    return hinted(`There is no resource type ${quoted(type)}.`, didYouMean(nearest(type, resourceTypes())))
  }
  const [id = '$'] = rest
  if (!/^[$_]/.test(id) && !isResourceId(id)) return `${quoted(id)} is not an id: 1 to 64 letters, digits, hyphens and dots are allowed.`
  if (last.startsWith('$')) return missingOperation(service, last)
  return isCompartmentPath(segments) ? noCompartment(type) : 'There is nothing at this path.'
}

function missingOperation({ operations, bots }: Service, last: string): string {
  const elsewhere = operations.find(({ name }) => name === last)
  if (elsewhere !== undefined) return `There is no operation ${quoted(last)} at this path, but at ${quoted(pathOf(elsewhere))}.`
  if (last === '$execute') {
    return `There is no operation '$execute' at this path${bots === undefined ? ': this server runs no bots' : ", but at 'Bot/[id]/$execute'"}.`
  }
  if (NOT_OFFERED.has(last)) return `There is no operation ${quoted(last)} at this path: it is not offered by this server.`
  const names = operations.map(({ name }) => name)
  return hinted(`There is no operation ${quoted(last)} at this path.`, didYouMean(nearest(last, names)))
}

/** Operations of R4, well-known guides and other servers, which are not offered here but are not misspelt either. */
const NOT_OFFERED: ReadonlySet<string> = new Set(
  `add apply care-gaps cda conforms convert current-canonical diff docref document everything expand-profile expunge export extract find find-matches get-ws-binding-token
  graph graphql implements import lastn match meta meta-add meta-delete populate populatehtml populatelink preferred-id process-message purge questionnaire reindex remove
  stats status subset summary transform versions`
    .split(/\s+/)
    .map((name) => `$${name}`),
)

/** True for paths such as `Location/x/Observation`, which look like a search of a compartment. */
function isCompartmentPath([, , member = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && isResourceType(member)
}

function noCompartment(type: string): string {
  return `There is nothing at this path: ${type} has no compartment, as ${COMPARTMENT_TYPES.join(', ')} have.`
}

/** Path of an operation below the FHIR base. */
function pathOf({ name, types, levels }: Operation): string {
  const type = types === 'any' ? '[type]' : (types[0] ?? '[type]')
  if (levels.includes('type')) return `${type}/${name}`
  return levels.includes('system') ? name : `${type}/[id]/${name}`
}

function hinted(text: string, hint: string | undefined): string {
  return hint === undefined ? text : `${text} ${hint}`
}
