import { hierarchyOf, includedResources, searchTypesOf, type Include, type ParsedSeveral, type SearchPair } from 'fhir-ops/internal/search'
import type { SearchOptions } from 'fhir-ops/search'
import { createPace, pacedResource } from 'fhir-ops/internal/context'
import { allMatches, type IndexEntry, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import { OperationError } from 'fhir-ops/errors'
import { authorize } from '../../auth/caller.js'
import { parseForm } from '../../http/target.js'
import type { Exchange } from '../../exchange.js'
import { FHIR_PATH, type Service } from '../../service.js'
import { prefersHandling } from '../preference.js'
import { isReached, isShown } from '../reach.js'

/** Matches of a page without `_count`. */
export const DEFAULT_PAGE = 100

/** Most matches of a page. */
export const MAX_PAGE = 1_000

const MAX_INCLUDED = 5_000

/** Parameters of the protocol, which select nothing. */
export const PROTOCOL: ReadonlySet<string> = new Set(['_format', '_pretty'])

/** @throws {OperationError} `forbidden` unless the caller may search every type that the search looks at. */
export function authorizeSearch({ caller }: Pick<Exchange, 'caller'>, { queries, includes = [] }: ParsedSeveral): void {
  const referring = includes.filter(({ direction }) => direction === 'revinclude').map(({ source }) => source)
  for (const type of [...queries.flatMap((query) => [...searchTypesOf(query)]), ...referring]) authorize(caller, { action: 'search', type })
}

/**
 * The parameters that are looked at: all, unless the caller wants those that are not known to be ignored. The link `self` says
 * which they were (R4 search 3.1.1.1.2).
 */
export function takenPairs({ request }: Exchange, pairs: readonly SearchPair[], isKnown: (name: string) => boolean): readonly SearchPair[] {
  return prefersHandling(request, 'lenient') ? pairs.filter(([name]) => isKnown(name)) : pairs
}

/** The parameters of URL and form, without those of the protocol. */
export function searchPairs({ target, body }: Exchange, { limits }: Service): readonly SearchPair[] {
  const form = body === undefined ? [] : parseForm(body.text, limits)
  return [...target.query, ...form].filter(([name]) => !PROTOCOL.has(name))
}

/** The number of matches. Where a rule of the host may hide some, each is looked at. */
export async function countOf({ ctx, caller }: Exchange, query: SearchQuery): Promise<number> {
  if (!caller.hides && query.type !== 'Binary') return ctx.storage.count(query)
  const pace = createPace(ctx)
  let shown = 0
  for await (const match of allMatches(ctx.storage, { ...query, limit: MAX_PAGE })) {
    pace.check()
    await pace.step()
    if (await isShown({ ctx, caller }, match)) shown += 1
  }
  return shown
}

/** Characters of a resource. */
export function textLength({ text }: Pick<StoredResource, 'text'>): number {
  return text.length
}

interface Including {
  readonly items: readonly StoredResource[]
  readonly includes: readonly Include[] | undefined
}

/** What the caller may not read is left out, as if it did not exist. */
export function includedIn(
  { indexer }: Service,
  { ctx, caller }: Exchange,
  { items, includes = [] }: Including,
): Promise<readonly StoredResource[]> {
  const shows = async (found: StoredResource): Promise<boolean> =>
    caller.decide('read', found.type, found.id) === 'allow' && (await isReached({ ctx, caller }, found))
  const maxBytes = items.reduce((left, item) => left - textLength(item), ctx.limits.maxAnswerBytes)
  const pace = createPace(ctx)
  const entriesOf = async (found: StoredResource): Promise<readonly IndexEntry[]> => {
    const resource = await pacedResource(found, ctx.scheduler)
    return indexer.work === undefined ? indexer(resource) : pace.run(indexer.work(resource))
  }
  const scope = { storage: ctx.storage, entriesOf, shows, limit: MAX_INCLUDED, maxBytes, check: () => pace.check() }
  return includedResources(scope, items, includes)
}

/** How searches of a caller are read. @throws {OperationError} `search-unsupported` on a server without search. */
export function searchOptions({ baseUrl }: Service, { ctx, caller }: Pick<Exchange, 'ctx' | 'caller'>): SearchOptions {
  if (ctx.search === undefined) throw new OperationError('search-unsupported', 'This server has no search.')
  return {
    base: `${baseUrl}${FHIR_PATH}`,
    ...ctx.search,
    hierarchyOf: async (question) => {
      authorize(caller, { action: 'search', type: question.type })
      return hierarchyOf(ctx.storage, question)
    },
  }
}
