import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/json'
import { jsonItems, jsonMembers, type StoredResource } from 'fhir-ops/storage'
import { jsonOf, type Answer } from './answer.js'
import { unavailable } from './failure.js'
import { isBelow } from './options.js'
import { resourceFrom } from './stored-from.js'
import type { Pair } from './upstream.js'

/** A page of a search, read and checked. */
export interface Searchset {
  readonly items: readonly StoredResource[]
  readonly total?: number
  readonly next?: URL
}

/** What an answer must fit to be believed. */
export interface Expected {
  readonly base: URL
  readonly type: string
  /** What was asked for; absent for a page that a link led to. */
  readonly pairs?: readonly Pair[]
}

/**
 * Reads a page of a search.
 *
 * @throws {OperationError} `storage-unavailable` when it is none, when its self link shows that a parameter was dropped, when it holds
 *   another type, or when its next link leads elsewhere.
 */
export function readSearchset(answer: Answer, expected: Expected): Searchset {
  const bundle = jsonOf(answer)
  if (answer.status !== 200) throw unavailable('refused a search')
  if (stringAt(bundle, 'resourceType') !== 'Bundle' || stringAt(bundle, 'type') !== 'searchset') throw unavailable('sent no searchset')
  if (expected.pairs !== undefined) checkSelf(linkOf(bundle, 'self'), expected.pairs)
  const total = bundle['total']
  const next = nextOf(bundle, expected)
  return {
    items: itemsOf(answer.text, expected.type),
    ...(typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 && { total }),
    ...(next !== undefined && { next }),
  }
}

/** Protocol parameters, which a server may leave out of its self link. */
const UNCHECKED: ReadonlySet<string> = new Set(['_count', '_format', '_summary'])

/** The self link tells which parameters the upstream understood (R4 3.1.1.1). */
function checkSelf(self: string | undefined, pairs: readonly Pair[]): void {
  const link = URL.parse(self ?? '', 'http://relative.invalid/')
  if (self === undefined || link === null) throw unavailable('does not tell what it searched for')
  const understood = [...link.searchParams.keys()]
  for (const [name] of pairs) {
    if (UNCHECKED.has(name)) continue
    const at = understood.indexOf(name)
    if (at < 0) throw unavailable('passed over a search parameter')
    understood.splice(at, 1)
  }
}

function nextOf(bundle: JsonObject, { base }: Expected): URL | undefined {
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

/** The matches, from the text of the bundle, so that numbers keep their digits. Included resources and outcomes are passed over. */
function itemsOf(text: string, type: string): readonly StoredResource[] {
  const entries = jsonItems(memberOf(text, 'entry') ?? '[]')
  return entries.filter(isMatch).map((entry) => resourceFrom(memberOf(entry, 'resource') ?? 'null', { type }))
}

function isMatch(entry: string): boolean {
  const search: unknown = JSON.parse(memberOf(entry, 'search') ?? '{}')
  return isObject(search) && (stringAt(search, 'mode') ?? 'match') === 'match'
}

function memberOf(text: string, name: string): string | undefined {
  return jsonMembers(text).find((member) => member.name === name)?.value
}
