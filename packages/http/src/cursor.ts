import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
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
  const content = base64urlOf(utf8ToBytes(JSON.stringify([pages, from])))
  return `${content}.${base64urlOf(signature(content, query, secret))}`
}

/** @throws {OperationError} `search-invalid` when the cursor was not written for this query. */
export function readCursor(cursor: string, query: PagedQuery, secret: string): SearchPosition {
  const [content = '', signed = ''] = cursor.split('.')
  if (!isSame(bytesOf(signed), signature(content, query, secret))) throw invalid()
  const parts: unknown = JSON.parse(new TextDecoder().decode(bytesOf(content)))
  const [pages, from]: readonly unknown[] = Array.isArray(parts) ? parts : []
  if (typeof pages !== 'number' || typeof from !== 'string') throw invalid()
  return { pages, from }
}

/** In a time that does not depend on where they differ. */
function isSame(given: Uint8Array | undefined, expected: Uint8Array): boolean {
  if (given?.length !== expected.length) return false
  return expected.reduce((difference, byte, at) => difference | (byte ^ (given[at] ?? 0)), 0) === 0
}

function signature(content: string, { limit: _ofThePage, after: _before, ...query }: PagedQuery, secret: string): Uint8Array {
  return hmac(sha256, utf8ToBytes(secret), utf8ToBytes(JSON.stringify([content, membersOf(query)])))
}

function base64urlOf(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** `undefined` for what is not base64url. */
function bytesOf(base64url: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** In one order, whatever order they were given in. */
function membersOf(query: object): readonly unknown[] {
  return Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function invalid(): OperationError {
  return new OperationError('search-invalid', 'The cursor is not valid.')
}
