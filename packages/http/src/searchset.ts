import { isObject, stringAt } from 'fhir-ops/json'
import type { StoredResource } from 'fhir-ops/storage'
import type { Answer } from './answer.js'
import { memberText, readBundlePage, type ExpectedPage } from './bundle-page.js'
import { unavailable } from './failure.js'
import type { UpstreamPage } from './linked-page.js'
import { resourceFrom } from './stored-from.js'

/** A page of a search, read and checked. */
export interface Searchset extends UpstreamPage<StoredResource> {
  readonly total?: number
}

/** What an answer must fit to be believed. */
export interface ExpectedSearchset extends Omit<ExpectedPage, 'kind'> {
  readonly type: string
}

/**
 * Reads a page of a search. The matches come from the text of the bundle, so that numbers keep their digits; included resources and
 * outcomes are passed over.
 *
 * @throws {OperationError} as `readBundlePage`; `storage-unavailable` when it holds another type, or a resource twice.
 */
export function readSearchset(answer: Answer, { type, ...expected }: ExpectedSearchset): Searchset {
  const { bundle, entries, next } = readBundlePage(answer, { ...expected, kind: 'searchset' })
  const total = bundle['total']
  const items = entries.filter(isMatch).map((entry) => resourceFrom(memberText(entry, 'resource') ?? 'null', { type }))
  if (new Set(items.map(({ id }) => id)).size < items.length) throw unavailable('sent a resource twice')
  return {
    items,
    ...(typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 && { total }),
    ...(next !== undefined && { next }),
  }
}

function isMatch(entry: string): boolean {
  const search: unknown = JSON.parse(memberText(entry, 'search') ?? '{}')
  return isObject(search) && (stringAt(search, 'mode') ?? 'match') === 'match'
}
