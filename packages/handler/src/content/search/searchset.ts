import type { OperationContext } from 'fhir-ops/context'
import { containerOfPlace } from 'fhir-ops/internal/storage'
import type { StoredResource } from 'fhir-ops/storage'
import { fhirText, type Answer } from '../../http/answer.js'
import { pageText } from '../bundle-text.js'
import type { Subset } from './subset.js'

/** One page of results. */
export interface Searchset {
  readonly items: readonly StoredResource[]
  /** Resources beside the matches. */
  readonly included?: readonly StoredResource[] | undefined
  /** Number of all matches; absent when it was not asked for or must not be known. */
  readonly total?: number | undefined
  /** What is given of each match of a type; all of it when absent. */
  readonly subset?: ((type: string) => Subset | undefined) | undefined
  /** An OperationOutcome about the search itself. */
  readonly hint?: object
  /** Cursor of the next page. */
  readonly next?: string | undefined
}

/** The search that a page belongs to, as it was sent. */
export interface SearchLinks {
  /** Below `base`: `Patient`, `Patient/1/Observation`; empty for the base itself. */
  readonly path: string
  readonly pairs: readonly (readonly [string, string])[]
  /** Address that links are made from, without a slash at the end. */
  readonly base: string
}

/** Writes a page as a Bundle. @throws {OperationError} as `pageText`. */
export async function searchsetAnswer(ctx: OperationContext, page: Searchset, links: SearchLinks): Promise<Answer> {
  const head = { type: 'searchset', total: page.total, link: linksOf(page, links) } as const
  return fhirText(200, await pageText(ctx, head, entriesOf(page, links.base)))
}

function* entriesOf({ items, included = [], subset, hint }: Searchset, base: string): Iterable<string> {
  for (const item of items) yield entryText(item, subset?.(item.type)?.(item.text) ?? item.text, { base, mode: 'match' })
  for (const item of included) yield entryText(item, item.text, { base, mode: 'include' })
  if (hint !== undefined) yield `{"resource":${JSON.stringify(hint)},"search":{"mode":"outcome"}}`
}

/** The links of a page to itself and to the next one. */
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

function entryText({ type, id }: StoredResource, text: string, { base, mode }: EntryOptions): string {
  const address = containerOfPlace(id) === undefined ? `${type}/${id}` : id
  return `{"fullUrl":${JSON.stringify(`${base}/${address}`)},"resource":${text},"search":{"mode":"${mode}"}}`
}
