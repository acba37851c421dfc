import type { Route } from '../exchange.js'
import { FHIR_PATH } from '../service.js'

/** A path of the document, with the routes of its methods. */
export interface PathPlace {
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
export function pathPlaces(routes: readonly Route[]): readonly PathPlace[] {
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
export function operationNames(): (place: PathPlace, route: Route) => string {
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
