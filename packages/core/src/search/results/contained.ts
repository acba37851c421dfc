import { isObject, stringAt, type JsonObject } from '../../json/index.js'
import {
  CONTAINED_PARAM,
  containedType,
  containerOfPlace,
  isContainedType,
  jsonItems,
  jsonMembers,
  type Condition,
  type SearchPage,
  type SearchQuery,
  type Storage,
  type StoredResource,
} from '../../storage/index.js'
import { anyOf } from '../filter/conditions.js'
import type { ContainedSearch } from '../parsed-search.js'

/**
 * The queries, each of a type of its own, that answer a search with `_contained`: `severalPage` gives their pages. Where containers are given, each comes
 * once, however many matches are in it.
 *
 * @param containers Types that are looked into, where containers are given.
 * @see https://hl7.org/fhir/R4/search.html#contained
 */
export function containedQueries(
  { parameters: _ofWhatStandsAlone, after: _ofAll, ...query }: SearchQuery,
  { among, shown }: ContainedSearch,
  containers: readonly string[],
): readonly SearchQuery[] {
  const within = { type: containedType(query.type), where: byOwnIds(query.where) }
  if (shown === 'contained') return [...(among === 'both' ? [query] : []), { ...query, ...within }]
  const holding: Condition = { kind: 'refersTo', param: CONTAINED_PARAM, query: within }
  return containers.map((type) => ({
    ...query,
    type,
    where: among === 'both' && type === query.type ? anyOf([query.where, holding]) : holding,
  }))
}

/** What is contained has the id that its container gives it, and another in storage. */
function byOwnIds(where: Condition): Condition {
  switch (where.kind) {
    case 'and':
    case 'or':
      return { kind: where.kind, conditions: where.conditions.map(byOwnIds) }
    case 'not':
      return { kind: 'not', condition: byOwnIds(where.condition) }
    case 'id':
      return { kind: 'entry', param: '_id', all: [{ field: 'value', op: 'in', operands: where.ids }] }
    default:
      return where
  }
}

/** The storage with contained resources as they stand in their containers: of their own types, without version, under the id that storage has for them. */
export function showingContained(storage: Pick<Storage, 'read' | 'search'>): Pick<Storage, 'search'> {
  return {
    async search(query): Promise<SearchPage> {
      const page = await storage.search(query)
      if (!isContainedType(query.type)) return page
      const shown = await Promise.all(page.items.map(async (item) => contentOf(storage, item)))
      return { ...page, items: shown.filter((item) => item !== undefined) }
    },
  }
}

/** `undefined` when its container was changed meanwhile, and has it no more. */
async function contentOf(storage: Pick<Storage, 'read'>, place: StoredResource): Promise<StoredResource | undefined> {
  const container = containerOfPlace(place.id)
  const stored = container && (await storage.read(container.type, container.id))
  const text = textsWithin(stored?.text ?? '{}').find((one) => isAt(place, JSON.parse(one)))
  if (text === undefined) return undefined
  const resource: JsonObject = JSON.parse(text)
  const { id, versionId, lastUpdated } = place
  return { type: stringAt(resource, 'resourceType') ?? '', id, versionId, lastUpdated, text, resource }
}

/** The texts of contained resources. */
function textsWithin(container: string): readonly string[] {
  const contained = jsonMembers(container).find(({ name }) => name === 'contained')
  return jsonItems(contained?.value ?? '[]')
}

function isAt({ type, id }: StoredResource, resource: unknown): boolean {
  const own = isObject(resource) ? resource : {}
  return containedType(stringAt(own, 'resourceType') ?? '') === type && id.endsWith(`#${stringAt(own, 'id')}`)
}
