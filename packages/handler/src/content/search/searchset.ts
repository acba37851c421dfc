import type { OperationContext } from 'fhir-ops/context'
import { createPace, pacedResource, type Pace } from 'fhir-ops/internal/context'
import { includedResources, type Include } from 'fhir-ops/internal/search'
import { containerOfPlace, indexing } from 'fhir-ops/internal/storage'
import { allMatches, type IndexEntry, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import type { Exchange } from '../../exchange.js'
import type { Answer } from '../../http/answer.js'
import type { Service } from '../../service.js'
import { pageAnswer, type EntryParts } from '../bundle-text.js'
import { isReached, isShown } from '../reach.js'
import type { Subset } from './subset.js'

/** A page of results. */
export interface Searchset {
  readonly items: readonly StoredResource[]
  /** Resources besides the matches. */
  readonly included?: readonly StoredResource[] | undefined
  /** Total number of matches; absent if it was not requested or must not be revealed. */
  readonly total?: number | undefined
  /** Returns the subset of a match by its type; absent if matches are complete. */
  readonly subset?: ((type: string) => Subset | undefined) | undefined
  /** An OperationOutcome about the search itself. */
  readonly hint?: object
  /** Cursor of the next page. */
  readonly next?: string | undefined
}

/** The search that a page belongs to, as the caller sent it. */
export interface SearchLinks {
  /** Path below `base`: `Patient`, `Patient/1/Observation`; empty for the base itself. */
  readonly path: string
  readonly pairs: readonly (readonly [string, string])[]
  /** Base address of links, without a trailing slash. */
  readonly base: string
}

/** Writes a page as a Bundle. @throws {OperationError} as `pageAnswer`. */
export async function searchsetAnswer(ctx: OperationContext, page: Searchset, links: SearchLinks): Promise<Answer> {
  const head = { type: 'searchset', total: page.total, link: linksOf(page, links) } as const
  return pageAnswer(ctx, head, entriesOf(page, await textsOf(ctx, page), links.base))
}

/** Returns the text of each match, or its subset. */
async function textsOf(ctx: OperationContext, { items, subset }: Searchset): Promise<readonly string[]> {
  const pace = createPace(ctx)
  const texts: string[] = []
  for (const { type, text } of items) {
    const part = subset?.(type)
    if (part !== undefined) await pace.step()
    texts.push(part === undefined ? text : await pace.run(part(text)))
  }
  return texts
}

function* entriesOf({ items, included = [], hint }: Searchset, texts: readonly string[], base: string): Iterable<EntryParts> {
  for (const [place, item] of items.entries()) yield entryParts(item, texts[place] ?? item.text, { base, mode: 'match' })
  for (const item of included) yield entryParts(item, item.text, { base, mode: 'include' })
  if (hint !== undefined) yield [`{"resource":${JSON.stringify(hint)},"search":{"mode":"outcome"}}`]
}

/** Returns the links of a page to itself and to the next page. */
export function linksOf({ next }: Pick<Searchset, 'next'>, { path, pairs, base }: SearchLinks): readonly object[] {
  const linkTo = (relation: string, query: SearchLinks['pairs']): object => {
    const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString()
    return { relation, url: `${base}${path === '' ? '' : `/${path}`}${text === '' ? '' : `?${text}`}` }
  }
  const withoutCursor = pairs.filter(([name]) => name !== '_cursor')
  return [linkTo('self', pairs), ...(next === undefined ? [] : [linkTo('next', [...withoutCursor, ['_cursor', next]])])]
}

interface EntryOptions {
  readonly base: string
  readonly mode: 'match' | 'include'
}

function entryParts({ type, id }: StoredResource, text: string, { base, mode }: EntryOptions): EntryParts {
  const address = containerOfPlace(id) === undefined ? `${type}/${id}` : id
  return [`{"fullUrl":${JSON.stringify(`${base}/${address}`)},"resource":`, text, `,"search":{"mode":"${mode}"}}`]
}

/** Matches per page without `_count`. */
const DEFAULT_PAGE = 100

/** Maximum matches per page. */
const MAX_PAGE = 1_000

const MAX_INCLUDED = 5_000

/** Number of matches per page. @param asked `_count`. */
export function pageLimit(asked: number | undefined): number {
  return Math.min(asked ?? DEFAULT_PAGE, MAX_PAGE)
}

/** Length of a resource in characters. */
export function textLength({ text }: Pick<StoredResource, 'text'>): number {
  return text.length
}

/** Counts the matches. If a rule of the host may hide some, each is checked. */
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

/** Returns the resources included with the matches of a page. Those that the caller may not read are omitted, as if they did not exist. */
export function includedIn(
  service: Service,
  { ctx, caller }: Exchange,
  { items, includes = [] }: Including,
): Promise<readonly StoredResource[]> {
  const shows = async (found: StoredResource): Promise<boolean> =>
    caller.decide('read', found.type, found.id) === 'allow' && (await isReached({ ctx, caller }, found))
  const maxBytes = items.reduce((left, item) => left - textLength(item), ctx.limits.maxAnswerBytes)
  const pace = createPace(ctx)
  const entriesOf = pacedEntries(service, { ctx }, pace)
  const scope = { storage: ctx.storage, entriesOf, shows, limit: MAX_INCLUDED, maxBytes, step: () => pace.step() }
  return includedResources(scope, items, includes)
}

/** Returns what creates the index entries of a resource, with gaps for other work: parsing and indexing a long one takes long. */
export function pacedEntries(
  { indexer }: Pick<Service, 'indexer'>,
  { ctx }: Pick<Exchange, 'ctx'>,
  pace: Pace,
): (found: StoredResource) => Promise<readonly IndexEntry[]> {
  return async (found) => {
    const resource = await pacedResource(found, ctx.scheduler)
    return pace.run(indexing(indexer, resource))
  }
}
