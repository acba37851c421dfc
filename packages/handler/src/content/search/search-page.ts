import { includedResources, type Include } from 'fhir-ops/internal/search'
import { createPace, pacedResource } from 'fhir-ops/internal/context'
import { allMatches, type IndexEntry, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import type { Exchange } from '../../exchange.js'
import type { Service } from '../../service.js'
import { isReached, isShown } from '../reach.js'

/** Matches of a page without `_count`. */
const DEFAULT_PAGE = 100

/** Most matches of a page. */
const MAX_PAGE = 1_000

const MAX_INCLUDED = 5_000

/** Matches of a page. @param asked `_count`. */
export function pageLimit(asked: number | undefined): number {
  return Math.min(asked ?? DEFAULT_PAGE, MAX_PAGE)
}

/** Characters of a resource. */
export function textLength({ text }: Pick<StoredResource, 'text'>): number {
  return text.length
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

interface Including {
  readonly items: readonly StoredResource[]
  readonly includes: readonly Include[] | undefined
}

/** What comes beside the matches of a page. What the caller may not read is left out, as if it did not exist. */
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
  const scope = { storage: ctx.storage, entriesOf, shows, limit: MAX_INCLUDED, maxBytes, step: () => pace.step() }
  return includedResources(scope, items, includes)
}
