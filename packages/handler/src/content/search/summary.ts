import { cached, type CacheKind } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/json'
import type { ParsedSearch, SearchOptions } from 'fhir-ops/search'
import type { Exchange } from '../../exchange.js'
import { pathSubset, topLevelSubset, type Subset } from './subset.js'

interface Wanted {
  readonly type: string
  readonly parsed: Pick<ParsedSearch, 'elements' | 'summary'>
}

/**
 * What `_elements` or `_summary` leaves of a resource; `undefined` when all of it. `true` keeps what the type's definition marks as summary,
 * `text` the narrative and the mandatory elements, `data` all but the narrative.
 *
 * @throws {OperationError} `search-unsupported` for a summary of a type whose definition is not to be had.
 * @see https://hl7.org/fhir/R4/search.html#summary
 */
export async function subsetFor({ ctx }: Exchange, { parameters }: SearchOptions, { type, parsed }: Wanted): Promise<Subset | undefined> {
  const { elements, summary } = parsed
  if (elements !== undefined) return topLevelSubset((name) => elements.includes(name))
  if (summary === undefined) return undefined
  if (summary === 'data') return topLevelSubset((name) => name !== 'text')
  const definition = await ctx.content.resolve('StructureDefinition', `http://hl7.org/fhir/StructureDefinition/${type}`)
  if (definition === undefined) throw new OperationError('search-unsupported', `There is no definition of ${type} that tells its summary.`)
  const { marked, mandatory } = cached(ctx.cache, MARKED_PATHS, definition)
  if (summary === 'true') return pathSubset(parameters.model, type, marked)
  return topLevelSubset((name) => name === 'text' || mandatory.has(`${type}.${parameters.model.type(type)?.members.get(name)?.name}`))
}

/** Paths of elements without `[x]`. */
interface MarkedPaths {
  readonly marked: ReadonlySet<string>
  readonly mandatory: ReadonlySet<string>
}

const MARKED_PATHS: CacheKind<MarkedPaths> = {
  name: 'marked-paths',
  is: (value): value is MarkedPaths => 'marked' in value && 'mandatory' in value,
  bytes: ({ marked, mandatory }) => (marked.size + mandatory.size) * 100,
  make: ({ resource }) => {
    const elements = objectsAt(objectAt(resource, 'snapshot'), 'element')
    const pathsOf = (holds: (element: JsonObject) => boolean): ReadonlySet<string> =>
      new Set(elements.filter(holds).map((element) => (stringAt(element, 'path') ?? '').replace('[x]', '')))
    return { marked: pathsOf((element) => element['isSummary'] === true), mandatory: pathsOf((element) => element['min'] !== 0) }
  },
}
