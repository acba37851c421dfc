import { Client } from 'fhir-kit-client'
import { isBelow, type HttpSettings } from './options.js'
import type { Answer } from './answer.js'
import { exchange } from './exchange.js'
import { unavailable } from './failure.js'

/** A decoded search parameter. */
export type Pair = readonly [name: string, value: string]

/** Version that must be current: `null` when there must be none. */
export type Precondition = string | null | undefined

/** The interactions with the upstream. Types and ids must have been checked. */
export interface Upstream {
  read(type: string, id: string): Promise<Answer>
  search(type: string, pairs: readonly Pair[]): Promise<Answer>
  version(type: string, id: string, version: string): Promise<Answer>
  /** @param address Below the base, with `_history`. */
  history(address: string, pairs: readonly Pair[]): Promise<Answer>
  /** Follows a link of a search or history, to a page of `limit` entries where the link has a number of entries. */
  page(url: URL, limit?: number): Promise<Answer>
  update(address: string, text: string, ifVersion: Precondition): Promise<Answer>
  remove(address: string, ifVersion: Precondition): Promise<Answer>
  /** @param text Of the Bundle. */
  transaction(text: string): Promise<Answer>
  operation(call: OperationCall): Promise<Answer>
}

/** A call of an operation. */
export interface OperationCall {
  /** Below the base, with the dollar sign. */
  readonly address: string
  readonly pairs: readonly Pair[]
  /** Of the Parameters of a POST; a GET when absent. */
  readonly text?: string | undefined
  readonly acceptLanguage?: string | undefined
}

const FHIR_BODY = { 'content-type': 'application/fhir+json' }
/** The answer is to have what was stored, with its time to the millisecond. */
const TRANSACTION = { ...FHIR_BODY, prefer: 'handling=strict, return=representation' }
const ACCEPT = { accept: 'application/fhir+json', prefer: 'handling=strict' }

/**
 * The upstream through `fhir-kit-client`, which knows the interactions and their addresses. What carries its requests is replaced: its
 * own follows redirections and links to anywhere, and has no bound in time or size.
 */
export function createUpstream(settings: HttpSettings): Upstream {
  const client = new Client({ baseUrl: settings.base.href })
  const answers = new WeakMap<object, Answer>()
  const { httpClient } = client
  httpClient.request = async (...[method, path, options = {}, body]) => {
    const url = new URL(httpClient.expandUrl(path))
    if (!isBelow(settings.base, url)) throw unavailable('links to another address')
    const text = typeof body === 'string' ? body : undefined
    const headers = { ...ACCEPT, ...options.headers }
    const answer = await exchange(settings, { method, url: url.href, headers, ...(text !== undefined && { body: text }) })
    const resource = { resourceType: '' }
    answers.set(resource, answer)
    return resource
  }
  const answerTo = async (asked: Promise<object>): Promise<Answer> => {
    const answer = answers.get(await asked)
    if (answer === undefined) throw unavailable('gave no answer')
    return answer
  }
  return {
    read: async (resourceType, id) => answerTo(client.read({ resourceType, id })),
    search: async (resourceType, pairs) => answerTo(client.search({ resourceType, searchParams: searchParams(pairs) })),
    version: async (resourceType, id, version) => answerTo(client.vread({ resourceType, id, version })),
    history: async (address, pairs) => answerTo(client.request(addressWith(address, pairs))),
    page: async (url, limit) => answerTo(client.request(sized(url, limit).href)),
    update: async (address, text, ifVersion) =>
      answerTo(client.request(address, { method: 'PUT', body: text, options: { headers: { ...FHIR_BODY, ...conditionOf(ifVersion) } } })),
    transaction: async (text) => answerTo(client.request('', { method: 'POST', body: text, options: { headers: TRANSACTION } })),
    operation: async (call) => answerTo(client.request(...operationRequest(call))),
    remove: async (address, ifVersion) =>
      answerTo(client.request(address, { method: 'DELETE', options: { headers: conditionOf(ifVersion) } })),
  }
}

function operationRequest({ address, pairs, text, acceptLanguage }: OperationCall): Parameters<Client['request']> {
  const path = addressWith(address, pairs)
  const headers = { ...(acceptLanguage !== undefined && { 'accept-language': acceptLanguage }) }
  return text === undefined
    ? [path, { options: { headers } }]
    : [path, { method: 'POST', body: text, options: { headers: { ...headers, ...FHIR_BODY } } }]
}

function sized(url: URL, limit: number | undefined): URL {
  const count = url.searchParams.get('_count')
  if (limit === undefined || count === null || count === String(limit)) return url
  const link = new URL(url)
  link.searchParams.set('_count', String(limit))
  return link
}

function addressWith(address: string, pairs: readonly Pair[]): string {
  const query = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString()
  return query === '' ? address : `${address}?${query}`
}

function searchParams(pairs: readonly Pair[]): Record<string, string[]> {
  const params = new Map<string, string[]>()
  for (const [name, value] of pairs) params.set(name, [...(params.get(name) ?? []), value])
  return Object.fromEntries(params)
}

function conditionOf(ifVersion: Precondition): Record<string, string> {
  if (ifVersion === undefined) return {}
  return ifVersion === null ? { 'if-none-match': '*' } : { 'if-match': `W/"${ifVersion}"` }
}
