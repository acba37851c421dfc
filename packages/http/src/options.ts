import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { AMOUNT, FLAG, FUNCTION, needed, TEXT, type MemberKind } from 'fhir-ops/internal/input'
import { LRUCache } from 'lru-cache'
import type { Answer } from './answer.js'

/** How an upstream FHIR server is reached. */
export interface HttpStorageOptions {
  /** Base of the FHIR server, for example `https://fhir.example.org/fhir/R4`. Nothing else is ever connected to. */
  readonly baseUrl: string
  /** Bearer token for the upstream, or what gives the current one before each call. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /**
   * Gives the bearer token of the caller whose request is being served, before each call: the upstream is asked with it, and without
   * credentials where there is none; for upstreams that trust the same issuer. Where requests are served at the same time, the host knows
   * whose it is, for example by an `AsyncLocalStorage`. Default: the caller's token goes nowhere. Not together with `token`.
   */
  readonly callerToken?: (() => string | undefined) | undefined
  /**
   * Gives the signal that is aborted when the caller whose request is being served has gone: reads and searches for that caller end then, with `aborted`;
   * writes go on. Operations that are delegated have that of their context. Default: calls end by themselves.
   */
  readonly callerSignal?: (() => AbortSignal | undefined) | undefined
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Time for a call with all its tries, in milliseconds. Default 4,500. */
  readonly timeoutMs?: number
  /** Most bytes of one answer. Default 32 MiB. */
  readonly maxAnswerBytes?: number
  /** Most pages of one search. Default 1,000. */
  readonly maxPages?: number
  /**
   * Most bytes of answers with an ETag that are kept, to ask the upstream next time whether they still hold (`If-None-Match`), whatever
   * it says of caching: nothing is answered from them unasked. Default 0: none.
   */
  readonly keptBytes?: number
  /**
   * Whether the upstream keeps old versions and gives them (`vread` and `history` of FHIR); `Storage.history` is left out otherwise.
   * Default false.
   */
  readonly history?: boolean
  /** Sends the entries of one write as a FHIR transaction, so that `atomic` is kept; the upstream must know transactions. Default false. */
  readonly transactions?: boolean
  /** Secret that cursors are signed with; instances that share callers need the same. Default: random, for this storage only. */
  readonly cursorSecret?: string
}

/** The options with their defaults, checked. */
export interface HttpSettings {
  readonly base: URL
  readonly token: () => Promise<string | undefined>
  /** Of the caller whose request is being served. */
  readonly signal: () => AbortSignal | undefined
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  readonly maxPages: number
  readonly cursorSecret: string
  readonly kept: KeptAnswers
  /** Whether tokens are those of callers, whom the upstream may refuse. */
  readonly forwardsToken: boolean
  readonly transactions: boolean
}

const TOKEN: MemberKind = { words: 'a text, or a function that returns one', is: (value) => TEXT.is(value) || FUNCTION.is(value) }

/** What the options must be. */
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

/** @throws {TypeError} when `baseUrl` is not an http or https address, or has credentials, a query or a fragment; for both kinds of token. */
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

/** Whether a link of the upstream stays below its base: the same origin, and a path under the base's. */
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

/** Answers that have an ETag, kept to ask the upstream whether they still hold; by address and by the token that got them. */
interface KeptAnswers {
  get(url: string, token: string | undefined): KeptAnswer | undefined
  /** Keeps the answer if it has an ETag; what was unused for longest goes. */
  set(url: string, token: string | undefined, answer: Answer): void
}

/** An answer with its ETag. */
export interface KeptAnswer {
  readonly etag: string
  readonly answer: Answer
}

/** UTF-16 code units are two bytes. */
const BYTES_PER_CHARACTER = 2

/** @param maxBytes 0 keeps nothing. */
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

/** No token is kept, and no long address. */
function keyOf(url: string, token: string | undefined): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify([url, token]))))
}

function sizeOf({ answer }: KeptAnswer): number {
  return answer.text.length * BYTES_PER_CHARACTER + 1_000
}
