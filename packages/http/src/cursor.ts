import { createHmac, timingSafeEqual } from 'node:crypto'
import { OperationError } from 'fhir-ops/errors'
import type { SearchQuery } from 'fhir-ops/storage'

/** Where a search goes on. */
export interface SearchPosition {
  /** How many pages came before. */
  readonly pages: number
  /** The upstream's link to the page, or the id after which it begins. */
  readonly from: string
}

/** Cursors come back from callers, who must not be able to make up links: they are signed, and for one query only. */
export function writeCursor({ pages, from }: SearchPosition, query: SearchQuery, secret: string): string {
  const content = Buffer.from(JSON.stringify([pages, from])).toString('base64url')
  return `${content}.${signature(content, query, secret).toString('base64url')}`
}

/** @throws {OperationError} `search-invalid` when the cursor was not written for this query. */
export function readCursor(cursor: string, query: SearchQuery, secret: string): SearchPosition {
  const [content = '', signed = ''] = cursor.split('.')
  const expected = signature(content, query, secret)
  const given = Buffer.from(signed, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalid()
  const parts: unknown = JSON.parse(Buffer.from(content, 'base64url').toString())
  const [pages, from]: readonly unknown[] = Array.isArray(parts) ? parts : []
  if (typeof pages !== 'number' || typeof from !== 'string') throw invalid()
  return { pages, from }
}

function signature(content: string, { type, where, sort, parameters }: SearchQuery, secret: string): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify([content, type, where, sort, parameters])).digest()
}

function invalid(): OperationError {
  return new OperationError('search-invalid', 'The cursor of the search is not valid.')
}
