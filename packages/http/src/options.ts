import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { AMOUNT, FLAG, FUNCTION, needed, TEXT, type MemberKind } from 'fhir-ops/internal/input'
import { LRUCache } from 'lru-cache'
import type { Answer } from './answer.js'

/** How to reach an upstream FHIR server. */
export interface HttpStorageOptions {
  /** Base of the FHIR server, for example `https://fhir.example.org/fhir/R4`. No other address is ever connected to. */
  readonly baseUrl: string
  /** Bearer token for the upstream, or a function that returns the current one before each call, within `timeoutMs`. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /**
   * Returns the bearer token of the caller whose request is being served, before each call. The token is sent to the upstream; if there is none, the call
   * has no credentials. For upstreams that trust the same issuer. If several requests are served at the same time, the host must know the current one,
   * for example through `AsyncLocalStorage`. Default: the caller's token is not sent. Not together with `token`.
   */
  readonly callerToken?: (() => string | undefined) | undefined
  /**
   * Returns the signal that is aborted when the caller whose request is being served has gone: reads and searches for that caller then end with `aborted`;
   * writes continue. Delegated operations use the signal of their context. Default: calls run to their end.
   */
  readonly callerSignal?: (() => AbortSignal | undefined) | undefined
  /** Fetch function. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Maximum time for a call with all its attempts, in milliseconds. Default 4,500. */
  readonly timeoutMs?: number
  /** Maximum bytes of one answer. Default 32 MiB. */
  readonly maxAnswerBytes?: number
  /** Maximum pages of one search. Default 1,000. */
  readonly maxPages?: number
  /**
   * Maximum bytes of cached answers with an ETag. Before an answer is reused, the upstream is always asked whether it is still valid (`If-None-Match`),
   * whatever its caching headers say. Default 0: no cache.
   */
  readonly keptBytes?: number
  /**
   * True if the upstream stores old versions and returns them (FHIR's `vread` and `history`); otherwise, `Storage.history` is omitted.
   * Default false.
   */
  readonly history?: boolean
  /** Sends the entries of one write as a FHIR transaction, so that `atomic` holds; the upstream must support transactions. Default false. */
  readonly transactions?: boolean
  /** Secret that signs cursors; instances with common callers need the same secret. Default: random, for this storage only. */
  readonly cursorSecret?: string
}

/** The validated options, with their defaults. */
export interface HttpSettings {
  readonly base: URL
  readonly token: () => Promise<string | undefined>
  /** Signal of the caller whose request is being served. */
  readonly signal: () => AbortSignal | undefined
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  readonly maxPages: number
  readonly cursorSecret: string
  readonly kept: KeptAnswers
  /** True if tokens are those of callers, whom the upstream may refuse. */
  readonly forwardsToken: boolean
  readonly transactions: boolean
}

const TOKEN: MemberKind = { words: 'a text, or a function that returns one', is: (value) => TEXT.is(value) || FUNCTION.is(value) }

/** Expected types of the options. */
export const HTTP_OPTIONS: { readonly [K in keyof HttpStorageOptions]-?: MemberKind } = {
  baseUrl: needed(TEXT),
  token: TOKEN,
  callerToken: FUNCTION,
  callerSignal: FUNCTION,
  fetch: FUNCTION,
  timeoutMs: AMOUNT,
  maxAnswerBytes: AMOUNT,
  maxPages: AMOUNT,
  keptBytes: AMOUNT,
  history: FLAG,
  transactions: FLAG,
  cursorSecret: TEXT,
}

/** @throws {TypeError} if `baseUrl` is not an http or https address, or has credentials, a query or a fragment; if both kinds of token are given. */
export function settingsOf(options: HttpStorageOptions): HttpSettings {
  return {
    base: baseOf(options.baseUrl),
    token: tokenOf(options),
    signal: options.callerSignal ?? (() => undefined),
    forwardsToken: options.callerToken !== undefined,
    kept: keptAnswers(options.keptBytes ?? 0),
    transactions: options.transactions ?? false,
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: options.timeoutMs ?? 4_500,
    maxAnswerBytes: options.maxAnswerBytes ?? 32 * 1024 * 1024,
    maxPages: options.maxPages ?? 1_000,
    cursorSecret: options.cursorSecret ?? crypto.randomUUID(),
  }
}

function tokenOf({ token, callerToken }: HttpStorageOptions): HttpSettings['token'] {
  if (callerToken === undefined) return async () => (typeof token === 'function' ? token() : token)
  if (token !== undefined) throw new TypeError('Either token or callerToken can be given, not both.')
  return async () => callerToken()
}

/** True if a link is below the base: the same origin, and a path under the base's path. */
export function isBelow(base: URL, link: URL): boolean {
  const path = base.pathname.replace(/\/$/, '')
  return (
    link.origin === base.origin &&
    (link.pathname === path || link.pathname.startsWith(`${path}/`)) &&
    link.username === '' &&
    link.password === ''
  )
}

function baseOf(baseUrl: string): URL {
  const base = URL.parse(baseUrl)
  if (base === null || !['http:', 'https:'].includes(base.protocol)) throw new TypeError('baseUrl must be an http or https address.')
  if (base.username !== '' || base.password !== '' || base.search !== '' || base.hash !== '') {
    throw new TypeError('baseUrl must have no credentials, query or fragment.')
  }
  return base
}

/** Cached answers with an ETag, by address and by the token used; before reuse, the upstream is asked whether they are still valid. */
interface KeptAnswers {
  get(url: string, token: string | undefined): KeptAnswer | undefined
  /** Stores the answer if it has an ETag; discards the least recently used ones. */
  set(url: string, token: string | undefined, answer: Answer): void
}

/** An answer with its ETag. */
interface KeptAnswer {
  readonly etag: string
  readonly answer: Answer
}

/** UTF-16 code units are two bytes. */
const BYTES_PER_CHARACTER = 2

/** @param maxBytes 0 disables the cache. */
function keptAnswers(maxBytes: number): KeptAnswers {
  if (maxBytes === 0) return { get: () => undefined, set: () => {} }
  const kept = new LRUCache<string, KeptAnswer>({ maxSize: maxBytes, sizeCalculation: sizeOf })
  return {
    get: (url, token) => kept.get(keyOf(url, token)),
    set(url, token, answer) {
      const etag = answer.headers.get('etag')
      if (answer.status === 200 && etag !== null) kept.set(keyOf(url, token), { etag, answer })
    },
  }
}

/** Hashes the key, so that no token and no long address is stored. */
function keyOf(url: string, token: string | undefined): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify([url, token]))))
}

function sizeOf({ answer }: KeptAnswer): number {
  return answer.text.length * BYTES_PER_CHARACTER + 1_000
}
