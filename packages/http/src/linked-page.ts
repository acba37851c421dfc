import { readCursor, writeCursor, type PagedQuery } from './cursor.js'
import { unavailable } from './failure.js'
import type { HttpSettings } from './options.js'

/** A page of the upstream. */
export interface UpstreamPage<T> {
  readonly items: readonly T[]
  readonly next?: URL
}

/** How pages are got. */
export interface Pages<T> {
  readonly first: () => Promise<UpstreamPage<T>>
  readonly at: (link: URL) => Promise<UpstreamPage<T>>
}

const BEGINNING = { pages: 0, from: '' }

/** The page that a query asks for. The position of its cursor is how many pages came before, and the upstream's link to this one. */
export async function linkedPage<T>(
  { cursorSecret, maxPages }: HttpSettings,
  query: PagedQuery,
  { first, at }: Pages<T>,
): Promise<{ readonly items: readonly T[]; readonly next?: string }> {
  const { limit, after } = query
  const position = after === undefined ? BEGINNING : readCursor(after, query, cursorSecret)
  const { items, next } = after === undefined ? await first() : await at(new URL(position.from))
  if (limit !== undefined && items.length > limit) throw unavailable('sent a longer page than it was asked for')
  if (next === undefined) return { items }
  if (next.href === position.from) throw unavailable('links from a page of results to itself')
  const pages = position.pages + 1
  if (pages >= maxPages) throw unavailable('has too many pages of results')
  return { items, next: writeCursor({ pages, from: next.href }, query, cursorSecret) }
}
