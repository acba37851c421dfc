import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { OperationError } from 'fhir-ops/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { jsonItems, jsonMembers, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { HistoryQuery, SearchQuery } from 'fhir-ops/storage'
import { jsonOf, unavailable, type Answer } from './answer.js'
import { isBelow, type HttpSettings } from './options.js'
import type { Pair } from './upstream.js'

/** A page of a searchset or history, with verified links. */
interface BundlePage {
  readonly bundle: JsonObject
  /** The text of each entry, in which numbers keep their digits. */
  readonly entries: readonly string[]
  readonly next?: URL
}

/** What an answer must match to be accepted. */
export interface ExpectedPage {
  readonly base: URL
  readonly kind: 'searchset' | 'history'
  /** Parameters of the request; absent for a page reached through a link. */
  readonly pairs?: readonly Pair[]
}

/**
 * Reads a page.
 *
 * @throws {OperationError} `storage-unavailable` if the answer is not such a page, if its self link shows that a parameter was ignored, or if its next
 *   link leads outside the base.
 */
export async function readBundlePage(answer: Answer, { base, kind, pairs }: ExpectedPage, pace: Pace): Promise<BundlePage> {
  const bundle = await jsonOf(answer, pace)
  if (answer.status !== 200) throw unavailable(`refused a ${kind}`)
  if (stringAt(bundle, 'resourceType') !== 'Bundle' || stringAt(bundle, 'type') !== kind) throw unavailable(`sent no ${kind}`)
  if (pairs !== undefined) checkSelf(linkOf(bundle, 'self'), pairs)
  if (!Array.isArray(bundle['entry'] ?? [])) throw unavailable('sent entries that are not an array')
  const next = nextOf(bundle, base)
  const entries = await pace.run(jsonItems((await memberText(answer.text, 'entry', pace)) ?? '[]'))
  return { bundle, entries, ...(next !== undefined && { next }) }
}

/** Returns the text of a member of a JSON object. */
export async function memberText(text: string, name: string, pace: Pace): Promise<string | undefined> {
  return (await pace.run(jsonMembers(text))).find((member) => member.name === name)?.value
}

/** Protocol parameters, which a server may omit from its self link. */
const UNCHECKED: ReadonlySet<string> = new Set(['_count', '_format', '_summary'])

/** Checks the self link, which lists the parameters that the upstream understood (R4 search 3.1.1.6). */
function checkSelf(self: string | undefined, pairs: readonly Pair[]): void {
  const asked = pairs.filter(([name]) => !UNCHECKED.has(name))
  const link = URL.parse(self ?? '', 'http://relative.invalid/')
  if (self === undefined || link === null) throw unavailable('does not say what it searched for')
  const understood = [...link.searchParams.keys()]
  for (const [name] of asked) {
    const at = understood.indexOf(name)
    if (at < 0) throw unavailable('ignored a search parameter')
    understood.splice(at, 1)
  }
}

function nextOf(bundle: JsonObject, base: URL): URL | undefined {
  const next = linkOf(bundle, 'next')
  if (next === undefined) return undefined
  const url = URL.parse(next, `${base.href.replace(/\/$/, '')}/`)
  if (url === null || !isBelow(base, url)) throw unavailable('links to another address')
  return url
}

function linkOf(bundle: JsonObject, relation: string): string | undefined {
  return stringAt(
    objectsAt(bundle, 'link').find((link) => stringAt(link, 'relation') === relation),
    'url',
  )
}

/** A page of the upstream. */
export interface UpstreamPage<T> {
  readonly items: readonly T[]
  readonly next?: URL
}

/** How to fetch pages. */
export interface Pages<T> {
  readonly first: () => Promise<UpstreamPage<T>>
  readonly at: (link: URL) => Promise<UpstreamPage<T>>
}

const BEGINNING = { pages: 0, from: '' }

/** Fetches the page of a query. The position in its cursor is the number of earlier pages, and the upstream's link to this page. */
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

/** The position at which a search or history continues. */
interface SearchPosition {
  /** Number of earlier pages. */
  readonly pages: number
  /** The upstream's link to the page, or the id after which the page begins. */
  readonly from: string
}

/** A query with pages. */
type PagedQuery = SearchQuery | HistoryQuery

/** Writes a cursor. Callers send cursors back and must not be able to forge links, so cursors are signed, and valid for one query only. */
export function writeCursor({ pages, from }: SearchPosition, query: PagedQuery, secret: string): string {
  const content = base64urlOf(utf8ToBytes(JSON.stringify([pages, from])))
  return `${content}.${base64urlOf(signature(content, query, secret))}`
}

/** @throws {OperationError} `search-invalid` if the cursor was not written for this query. */
export function readCursor(cursor: string, query: PagedQuery, secret: string): SearchPosition {
  const [content = '', signed = ''] = cursor.split('.')
  if (!isSame(bytesOf(signed), signature(content, query, secret))) throw invalid()
  const parts: unknown = JSON.parse(new TextDecoder().decode(bytesOf(content)))
  const [pages, from]: readonly unknown[] = Array.isArray(parts) ? parts : []
  if (typeof pages !== 'number' || typeof from !== 'string') throw invalid()
  return { pages, from }
}

/** Compares in constant time. */
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

/** Returns `undefined` for text that is not base64url. */
function bytesOf(base64url: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Returns the members in a fixed order, whatever their original order. */
function membersOf(query: object): readonly unknown[] {
  return Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function invalid(): OperationError {
  return new OperationError('search-invalid', 'The cursor is not valid.', { expression: ['_cursor'] })
}
