import { cached, type CacheKind } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { TypeDefinition } from 'fhir-ops/internal/fhirpath'
import {
  jsonMembers,
  objectAt,
  objectsAt,
  selectMembers,
  stringAt,
  type JsonObject,
  type MemberChoice,
  type MemberChooser,
} from 'fhir-ops/internal/json'
import { parseSearch, type ParsedSearch, type SearchOptions } from 'fhir-ops/search'
import type { Work } from 'fhir-ops/internal/work'
import type { Exchange } from '../../exchange.js'
import type { Target } from '../../http/target.js'

/** Returns part of a resource's text, tagged as incomplete. */
export type Subset = (text: string) => Work<string>

const ALWAYS_KEPT: ReadonlySet<string> = new Set(['resourceType', 'id'])
const SUBSETTED = '{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"SUBSETTED"}'

/** The resource reduced to these top-level members and tagged as incomplete (R4 search 3.1.1.5.9). @param keeps Called with the name without `_`. */
function topLevelSubset(keeps: (name: string) => boolean): Subset {
  return taggedSubset((name) => (keeps(withoutUnderscore(name)) ? 'kept' : 'omitted'))
}

/**
 * The resource reduced to the elements at these paths (`Patient.contact.name`, `Observation.value`) and tagged as incomplete. Backbone elements of the
 * resource are reduced too; values of data types are kept in full.
 */
export function pathSubset(model: TypeModel, type: string, paths: ReadonlySet<string>): Subset {
  const chooserOf = (part: TypeDefinition): MemberChooser => {
    const choices = new Map<object, MemberChoice>()
    return (name) => {
      const slot = part.members.get(withoutUnderscore(name))
      if (slot === undefined || !paths.has(`${part.name}.${slot.name}`)) return 'omitted'
      const inner = slot.type.startsWith(`${type}.`) ? model.type(slot.type) : undefined
      if (inner === undefined) return 'kept'
      const known = choices.get(slot) ?? { reduced: chooserOf(inner) }
      choices.set(slot, known)
      return known
    }
  }
  const root = model.type(type)
  return taggedSubset(root === undefined ? () => 'omitted' : chooserOf(root))
}

function taggedSubset(choose: MemberChooser): Subset {
  const tagged = { replaced: taggedMeta }
  return function* (text) {
    let hasMeta = false
    const part = yield* selectMembers(text, (name) => {
      if (name === 'meta') hasMeta = true
      if (name === 'meta') return tagged
      return ALWAYS_KEPT.has(name) ? 'kept' : choose(name)
    })
    return hasMeta ? part : `${part.slice(0, -1)},"meta":{"tag":[${SUBSETTED}]}}`
  }
}

function withoutUnderscore(name: string): string {
  return name.startsWith('_') ? name.slice(1) : name
}

function* taggedMeta(meta: string): Work<string> {
  const members = yield* jsonMembers(meta)
  const tags = members.find(({ name }) => name === 'tag')?.value.slice(1, -1) ?? ''
  const others = members.filter(({ name }) => name !== 'tag').map(({ name, value }) => `${JSON.stringify(name)}:${value},`)
  return `{${others.join('')}"tag":[${tags === '' ? '' : `${tags},`}${SUBSETTED}]}`
}

interface Wanted {
  readonly type: string
  readonly parsed: Pick<ParsedSearch, 'elements' | 'summary'>
}

/**
 * Returns the subset that `_elements` or `_summary` requests; `undefined` for the full resource. `true` keeps elements that the type's definition marks
 * as summary, `text` the narrative and mandatory elements, `data` everything except the narrative.
 *
 * @throws {OperationError} `search-unsupported` for a summary of a type whose definition is not available.
 * @see https://hl7.org/fhir/R4/search.html#summary
 */
export async function subsetFor({ ctx }: Exchange, { parameters }: SearchOptions, { type, parsed }: Wanted): Promise<Subset | undefined> {
  const { elements, summary } = parsed
  const members = parameters.model.type(type)?.members
  if (elements !== undefined)
    return topLevelSubset((name) => elements.includes(name) || elements.includes(members?.get(name)?.name ?? name))
  if (summary === undefined) return undefined
  if (summary === 'data') return topLevelSubset((name) => name !== 'text')
  const definition = await ctx.content.resolve('StructureDefinition', `http://hl7.org/fhir/StructureDefinition/${type}`)
  if (definition === undefined) throw new OperationError('search-unsupported', `_summary needs a StructureDefinition of ${type}.`)
  const { marked, mandatory } = cached(ctx.cache, MARKED_PATHS, definition)
  if (summary === 'true') return pathSubset(parameters.model, type, marked)
  return topLevelSubset((name) => name === 'text' || mandatory.has(`${type}.${members?.get(name)?.name}`))
}

/** Parameters that R4 defines for every interaction (http.html 3.1.0.1.6): they select the part of a resource to answer with. */
export const SHAPING: ReadonlySet<string> = new Set(['_elements', '_summary'])

/**
 * Returns the subset that `_summary` or `_elements` of a URL requests of a single resource; `undefined` for the full resource.
 *
 * @throws {OperationError} `search-invalid` for a wrong value, and for a count; as `subsetFor`.
 */
export async function subsetAsAsked(
  exchange: Exchange,
  { type, query }: { readonly type: string; readonly query: Target['query'] },
): Promise<Subset | undefined> {
  const asked = query.filter(([name]) => SHAPING.has(name))
  if (asked.length === 0) return undefined
  const { search } = exchange.ctx
  if (search === undefined) throw new OperationError('search-unsupported', 'This server returns whole resources only.')
  const parsed = await parseSearch(type, asked, search)
  if (parsed.countOnly) throw new OperationError('search-invalid', 'A single resource is not counted.', { expression: ['_summary'] })
  return subsetFor(exchange, search, { type, parsed })
}

interface WantedOfSeveral {
  /** Types of the resources; they may be repeated. */
  readonly types: Iterable<string>
  readonly parsed: Wanted['parsed']
}

/** As `subsetFor`, for resources of several types; each definition is looked up once. */
export async function subsetsFor(
  exchange: Exchange,
  options: SearchOptions,
  { types, parsed }: WantedOfSeveral,
): Promise<(type: string) => Subset | undefined> {
  const subsets = new Map<string, Subset | undefined>()
  for (const type of new Set(types)) subsets.set(type, await subsetFor(exchange, options, { type, parsed }))
  return (type) => subsets.get(type)
}

/** Paths of elements, without `[x]`. */
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
