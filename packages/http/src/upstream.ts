import { Client } from 'fhir-kit-client'
import { OperationError } from 'fhir-ops/errors'
import { aborted, callerRefused, readText, timedOut, unavailable, type Answer } from './answer.js'
import { isBelow, type HttpSettings } from './options.js'

/** A decoded search parameter. */
export type Pair = readonly [name: string, value: string]

/** Version that must be current; `null` if the resource must not exist. */
type Precondition = string | null | undefined

/** Interactions with the upstream. Types and ids must have been checked. */
export interface Upstream {
  read(type: string, id: string): Promise<Answer>
  search(type: string, pairs: readonly Pair[]): Promise<Answer>
  version(type: string, id: string, version: string): Promise<Answer>
  /** @param address Address below the base, including `_history`. */
  history(address: string, pairs: readonly Pair[]): Promise<Answer>
  /** Follows a link of a search or history. If the link has a page size, it is replaced by `limit`. */
  page(url: URL, limit?: number): Promise<Answer>
  update(address: string, text: string, ifVersion: Precondition): Promise<Answer>
  remove(address: string, ifVersion: Precondition): Promise<Answer>
  /** @param text Text of the Bundle. */
  transaction(text: string): Promise<Answer>
  operation(call: OperationCall): Promise<Answer>
}

/** A call of an operation. */
export interface OperationCall {
  /** Address below the base, with the dollar sign. */
  readonly address: string
  readonly pairs: readonly Pair[]
  /** Text of the Parameters of a POST; if absent, the call is a GET. */
  readonly text?: string | undefined
  readonly acceptLanguage?: string | undefined
}

const FHIR_BODY = { 'content-type': 'application/fhir+json' }
/** Asks for the stored resources in the answer, because they have the time to the millisecond. */
const TRANSACTION = { ...FHIR_BODY, prefer: 'handling=strict, return=representation' }
const ACCEPT = { accept: 'application/fhir+json', prefer: 'handling=strict' }

/**
 * Creates the upstream with `fhir-kit-client`, which knows the interactions and their addresses. Its transport is replaced, because the
 * original follows redirects and links to any host and has no limit on time or size.
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

/** A request to the upstream. */
export interface Ask {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const MAX_TRIES = 3
const FIRST_PAUSE_MS = 100
const MAX_RETRY_AFTER_SECONDS = 120

/**
 * Sends a request and reads the answer. If the upstream asks to repeat a GET later, it is repeated at most twice, within the time limit; other
 * methods are never repeated, because their effect is unknown.
 *
 * @throws {OperationError} `storage-timeout`; `storage-unavailable` for a failing connection, a redirect, a server error, an answer that is too
 *   large, or if the credentials of this service are refused; `forbidden` if those of the caller are; `aborted` when the caller has gone.
 */
async function exchange(settings: HttpSettings, ask: Ask): Promise<Answer> {
  const { kept } = settings
  const token = await tokenInTime(settings)
  const known = ask.method === 'GET' ? kept.get(ask.url, token) : undefined
  const headers = {
    ...ask.headers,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(known !== undefined && { 'if-none-match': known.etag }),
  }
  const answer = await patiently(settings, { ...ask, headers })
  if (answer.status === 304 && known !== undefined) return known.answer
  if (ask.method === 'GET') kept.set(ask.url, token, answer)
  return checked(answer, settings)
}

/** Returns the token of the host. @throws {OperationError} `storage-timeout`, `storage-unavailable`, and errors of this class that the host throws. */
async function tokenInTime({ token, timeoutMs }: HttpSettings): Promise<string | undefined> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(timedOut('The token for the upstream FHIR server was not given in time.')), timeoutMs)
  try {
    return await Promise.race([token(), late.promise])
  } catch (cause) {
    if (cause instanceof OperationError) throw cause
    throw new OperationError('storage-unavailable', 'The token for the upstream FHIR server could not be had.', { cause })
  } finally {
    clearTimeout(timer)
  }
}

async function patiently(settings: HttpSettings, ask: Ask): Promise<Answer> {
  const deadline = performance.now() + settings.timeoutMs
  for (let tries = 1; ; tries++) {
    const answer = await once(settings, ask, deadline - performance.now())
    if (!isBusy(answer)) return answer
    const pause = pauseBefore(tries, answer)
    const isLast = ask.method !== 'GET' || tries === MAX_TRIES || performance.now() + pause >= deadline
    if (isLast) throw unavailable('is too busy', retryAfterSeconds(answer))
    await sleep(pause, settings.signal())
  }
}

/** Waits. @throws {OperationError} `aborted` as soon as the caller has gone. */
async function sleep(ms: number, caller: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const gone = (): void => resolve()
  caller?.addEventListener('abort', gone)
  await promise
  caller?.removeEventListener('abort', gone)
  clearTimeout(timer)
  if (hasGone(caller)) throw aborted()
}

function hasGone(caller: AbortSignal | undefined): boolean {
  return caller?.aborted === true
}

async function once({ fetch, maxAnswerBytes, signal }: HttpSettings, ask: Ask, timeoutMs: number): Promise<Answer> {
  const caller = signal()
  if (hasGone(caller)) throw aborted()
  const stop = new AbortController()
  const gone = (): void => stop.abort()
  caller?.addEventListener('abort', gone)
  const timer = setTimeout(() => stop.abort(), Math.max(0, timeoutMs))
  try {
    const response = await fetch(ask.url, {
      method: ask.method,
      headers: ask.headers,
      ...(ask.body !== undefined && { body: ask.body }),
      redirect: 'manual',
      signal: stop.signal,
    })
    return { status: response.status, headers: response.headers, text: await readText(response, maxAnswerBytes) }
  } catch (error) {
    if (error instanceof OperationError) throw error
    if (hasGone(caller)) throw aborted()
    throw stop.signal.aborted ? timedOut() : unavailable(lossOf(error, ask))
  } finally {
    clearTimeout(timer)
    caller?.removeEventListener('abort', gone)
    // Closes the connection of an answer that was not read in full.
    stop.abort()
  }
}

/** Codes that `fetch` of Node gives as the cause when a connection ends that was open. */
const HUNG_UP: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** With the code of a connection that was open, but nothing has been sent. */
const WITHIN_HANDSHAKE = 'before secure TLS connection was established'

function lossOf(error: unknown, { method }: Ask): string {
  const cause = error instanceof Error ? error.cause : undefined
  const isLost = cause instanceof Error && 'code' in cause && HUNG_UP.has(String(cause.code)) && !cause.message.includes(WITHIN_HANDSHAKE)
  if (!isLost) return 'cannot be reached'
  return method === 'GET'
    ? 'hung up before its answer was complete'
    : 'hung up before its answer was complete, and may have carried out the request'
}

function isBusy({ status }: Answer): boolean {
  return status === 429 || status === 503
}

function checked(answer: Answer, { forwardsToken }: HttpSettings): Answer {
  const { status } = answer
  if (status === 401 || status === 403) throw forwardsToken ? callerRefused() : unavailable('refuses the credentials of this service')
  if (status >= 500) throw unavailable('failed')
  if (status < 200 || (status >= 300 && status < 400)) throw unavailable('sent a redirect')
  return answer
}

/** Milliseconds until the next attempt: as requested by the upstream, else doubled each time, with some randomness so that clients do not synchronize. */
function pauseBefore(tries: number, answer: Answer): number {
  const asked = retryAfterSeconds(answer)
  if (asked !== undefined) return asked * 1_000
  return FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random())
}

/** Reads `Retry-After`, as seconds or as an HTTP date, at most two minutes. The pattern excludes other texts that `Date.parse` may accept. */
function retryAfterSeconds({ headers }: Answer): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? ''
  if (!/^(?:\d{1,9}|[A-Z][a-z]{2,8}, .{1,30}GMT)$/.test(value)) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1_000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS)
}

/** A circuit breaker: stops calls to a failing upstream, and lets one through now and then to see whether it has recovered. */
interface Breaker {
  /** @throws {OperationError} `storage-unavailable` immediately, without a connection, while calls are stopped. */
  run<T>(call: () => Promise<T>): Promise<T>
}

const FAILURES_TO_OPEN = 5
const PROBE_EVERY_MS = 2_000

/** @param now Milliseconds of a monotonic clock. */
export function createBreaker(now: () => number): Breaker {
  let failures = 0
  let nextProbe = 0
  return {
    async run(call) {
      if (failures >= FAILURES_TO_OPEN) {
        if (now() < nextProbe) throw unavailable('is not reachable', PROBE_EVERY_MS / 1_000)
        nextProbe = now() + PROBE_EVERY_MS
      }
      try {
        const result = await call()
        failures = 0
        return result
      } catch (error) {
        // A caller who has gone says nothing about the upstream.
        if (error instanceof OperationError && error.code === 'aborted') throw error
        // A refusal is an answer too, so the upstream works.
        failures = isFailure(error) ? failures + 1 : 0
        nextProbe = now() + PROBE_EVERY_MS
        throw error
      }
    },
  }
}

function isFailure(error: unknown): boolean {
  return !(error instanceof OperationError) || error.code.startsWith('storage-')
}
