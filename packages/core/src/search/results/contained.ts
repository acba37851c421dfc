import { OperationError } from '../../errors/index.js'
import { jsonItems, jsonMembers, isObject, stringAt, type JsonObject } from '../../json/index.js'
import { finished } from '../../work/index.js'
import {
  CONTAINED_PARAM,
  containedType,
  containerOfPlace,
  isContainedType,
  type Condition,
  type SearchPage,
  type SearchQuery,
  type Storage,
  type StoredResource,
} from '../../storage/index.js'
import { anyOf } from '../filter/conditions.js'
import type { ContainedSearch } from '../parse-search.js'

/**
 * Creates the queries, one per type, that answer a search with `_contained`; `severalPage` reads their pages. If containers are returned, each is
 * returned once, however many matches it contains.
 *
 * @param containers Types of containers to search, if containers are returned.
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

/** Compares ids of contained resources within their containers, because their ids in storage are different. */
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

/**
 * Wraps a storage so that searches return contained resources with their content: with their own type, without version, under their id in storage.
 *
 * @param maxBytes Maximum number of characters of all resources contained in the containers of a page; `too-costly` beyond. Default: no limit.
 */
export function showingContained(storage: Pick<Storage, 'read' | 'search'>, maxBytes: number = Infinity): Pick<Storage, 'search'> {
  return {
    async search(query): Promise<SearchPage> {
      const page = await storage.search(query)
      if (!isContainedType(query.type)) return page
      const texts = await containedTexts(storage, page.items, maxBytes)
      return { ...page, items: page.items.flatMap((item) => shownAs(item, texts.get(`${item.type} ${item.id}`))) }
    },
  }
}

/** Reads the texts of contained resources for a page, by type and id in storage. Each container is read once, however many matches it contains. */
async function containedTexts(
  storage: Pick<Storage, 'read'>,
  matches: readonly StoredResource[],
  maxBytes: number,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  let bytes = 0
  for (const address of new Set(matches.map(({ id }) => id.split('#', 1)[0] ?? ''))) {
    const container = containerOfPlace(`${address}#`)
    const stored = container && (await storage.read(container.type, container.id))
    for (const text of textsWithin(stored?.text ?? '{}')) {
      const name = storedName(address, JSON.parse(text))
      if (!texts.has(name)) texts.set(name, text)
      bytes += text.length
      if (bytes > maxBytes)
        throw new OperationError('too-costly', 'What is contained is longer than an answer may be; ask for less with _count.')
    }
  }
  return texts
}

/** Returns type and id of a contained resource in storage. */
function storedName(address: string, contained: unknown): string {
  const own = isObject(contained) ? contained : {}
  return `${containedType(stringAt(own, 'resourceType') ?? '')} ${address}#${stringAt(own, 'id') ?? ''}`
}

/** Returns nothing if the container has changed meanwhile and no longer contains the resource. */
function shownAs({ id, versionId, lastUpdated }: StoredResource, text: string | undefined): readonly StoredResource[] {
  if (text === undefined) return []
  const resource: JsonObject = JSON.parse(text)
  return [{ type: stringAt(resource, 'resourceType') ?? '', id, versionId, lastUpdated, text, resource }]
}

/** Returns the texts of contained resources. */
function textsWithin(container: string): readonly string[] {
  const contained = finished(jsonMembers(container)).find(({ name }) => name === 'contained')
  return finished(jsonItems(contained?.value ?? '[]'))
}
