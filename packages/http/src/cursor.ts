import { createHmac, timingSafeEqual } from 'node:crypto'
import { OperationError } from 'fhir-ops/errors'
import type { HistoryQuery, SearchQuery } from 'fhir-ops/storage'

/** Where a search or history goes on. */
export interface SearchPosition {
  /** How many pages came before. */
  readonly pages: number
  /** The upstream's link to the page, or the id after which it begins. */
  readonly from: string
}

/** What is gone through, page by page. */
export type PagedQuery = SearchQuery | HistoryQuery

/** Cursors come back from callers, who must not be able to make up links: they are signed, and for one query only. */
export function writeCursor({ pages, from }: SearchPosition, query: PagedQuery, secret: string): string {
  const content = Buffer.from(JSON.stringify([pages, from])).toString('base64url')
  return `${content}.${signature(content, query, secret).toString('base64url')}`
}

/** @throws {OperationError} `search-invalid` when the cursor was not written for this query. */
export function readCursor(cursor: string, query: PagedQuery, secret: string): SearchPosition {
  const [content = '', signed = ''] = cursor.split('.')
  const expected = signature(content, query, secret)
  const given = Buffer.from(signed, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalid()
  const parts: unknown = JSON.parse(Buffer.from(content, 'base64url').toString())
  const [pages, from]: readonly unknown[] = Array.isArray(parts) ? parts : []
  if (typeof pages !== 'number' || typeof from !== 'string') throw invalid()
  return { pages, from }
}

function signature(content: string, { limit: _ofThePage, after: _before, ...query }: PagedQuery, secret: string): Buffer {
  return createHmac('sha256', secret)
    .update(JSON.stringify([content, membersOf(query)]))
    .digest()
}

/** In one order, whatever order they were given in. */
function membersOf(query: object): readonly unknown[] {
  return Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function invalid(): OperationError {
  return new OperationError('search-invalid', 'The cursor is not valid.')
}
