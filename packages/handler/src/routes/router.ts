import { isResourceId, isResourceType } from 'fhir-ops/storage'
import type { Match, Method, Route } from '../exchange.js'

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
