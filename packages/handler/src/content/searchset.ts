import { jsonMembers, type StoredResource } from 'fhir-ops/storage'

/** One page of results. */
export interface Searchset {
  readonly items: readonly StoredResource[]
  /** Resources beside the matches. */
  readonly included?: readonly StoredResource[] | undefined
  /** Number of all matches; absent when it was not asked for or must not be told. */
  readonly total?: number | undefined
  /** Elements of the matches to keep; all when absent. */
  readonly elements?: readonly string[] | undefined
  /** Cursor of the next page. */
  readonly next?: string | undefined
}

/** The search that a page belongs to, as it was sent. */
export interface SearchLinks {
  readonly type: string
  readonly pairs: readonly (readonly [string, string])[]
  /** Address that links are made from, without a slash at the end. */
  readonly base: string
}

/** Writes a page as a Bundle. Resources go in as the text that they are stored as, so that numbers keep their digits. */
export function searchsetText(page: Searchset, links: SearchLinks): string {
  const total = page.total === undefined ? '' : `,"total":${page.total}`
  const matches = page.items.map((item) => entryText(item, textOf(item, page.elements), { base: links.base, mode: 'match' }))
  const included = (page.included ?? []).map((item) => entryText(item, item.text, { base: links.base, mode: 'include' }))
  const entries = [...matches, ...included]
  const list = entries.length === 0 ? '' : `,"entry":[${entries.join(',')}]`
  return `{"resourceType":"Bundle","type":"searchset"${total},"link":${JSON.stringify(linksOf(page, links))}${list}}`
}

function linksOf({ next }: Searchset, { type, pairs, base }: SearchLinks): readonly object[] {
  const linkTo = (relation: string, query: SearchLinks['pairs']): object => {
    const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString()
    return { relation, url: `${base}/${type}${text === '' ? '' : `?${text}`}` }
  }
  const withoutCursor = pairs.filter(([name]) => name !== '_cursor')
  return [linkTo('self', pairs), ...(next === undefined ? [] : [linkTo('next', [...withoutCursor, ['_cursor', next]])])]
}

interface EntryOptions {
  readonly base: string
  readonly mode: 'match' | 'include'
}

function entryText({ type, id }: StoredResource, text: string, { base, mode }: EntryOptions): string {
  return `{"fullUrl":${JSON.stringify(`${base}/${type}/${id}`)},"resource":${text},"search":{"mode":"${mode}"}}`
}

function textOf({ text }: StoredResource, elements: readonly string[] | undefined): string {
  return elements === undefined ? text : subsetText(text, elements)
}

const ALWAYS_KEPT: ReadonlySet<string> = new Set(['resourceType', 'id'])
const SUBSETTED = '{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"SUBSETTED"}'

/** The resource with these elements only, tagged as incomplete (R4 search 3.1.1.5.9). */
function subsetText(text: string, elements: readonly string[]): string {
  const kept = jsonMembers(text).flatMap(({ name, value }) => {
    if (name === 'meta') return [`"meta":${taggedMeta(value)}`]
    const element = name.startsWith('_') ? name.slice(1) : name
    return ALWAYS_KEPT.has(name) || elements.includes(element) ? [`${JSON.stringify(name)}:${value}`] : []
  })
  return `{${kept.join(',')}}`
}

function taggedMeta(meta: string): string {
  const members = jsonMembers(meta)
  const tags = members.find(({ name }) => name === 'tag')?.value.slice(1, -1) ?? ''
  const others = members.filter(({ name }) => name !== 'tag').map(({ name, value }) => `${JSON.stringify(name)}:${value},`)
  return `{${others.join('')}"tag":[${tags === '' ? '' : `${tags},`}${SUBSETTED}]}`
}
